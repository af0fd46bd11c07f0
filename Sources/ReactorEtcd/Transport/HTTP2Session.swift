#if Cluster
    import CNGHTTP2

    /// The client's side of an HTTP/2 connection, without I/O.
    ///
    ///     let stream = try session.open(fields, body: bytes, isComplete: true)
    ///     socket.write(try session.takeOutput())
    ///     for event in try session.receive(bytes) { ... }
    ///
    /// *Place*: under ``GRPCSession``. The owner passes received bytes in, and writes the output after
    /// each other call. *Owner*: one thread.
    ///
    /// *Throws*: after an ``HTTP2Fault``, the connection is of no use.
    ///
    /// *C*: `nghttp2_session`; see RFC 9113.
    @safe
    final class HTTP2Session {
        /// Bytes of one stream that the peer may send before they are received. It bounds how long
        /// the answer of a call waits behind those of a watch.
        static let streamWindow: Int32 = 1 << 20
        /// The same of all streams together.
        static let connectionWindow: Int32 = 4 << 20

        private let session: OpaquePointer
        /// What remains to be sent on each open stream.
        private var bodies: [Int32: HTTP2Body] = [:]
        /// What the bytes of the current call of ``receive(_:)`` contained.
        private var events: [HTTP2Event] = []

        /// Begins a connection: the output has the preface and the settings.
        init() throws(HTTP2Fault) {
            var callbacks: OpaquePointer?
            try Self.check(unsafe nghttp2_session_callbacks_new(&callbacks))
            defer { unsafe nghttp2_session_callbacks_del(callbacks) }
            unsafe Self.register(callbacks)
            var session: OpaquePointer?
            try Self.check(unsafe nghttp2_session_client_new(&session, callbacks, nil))
            guard let session = unsafe session else {
                throw HTTP2Fault(reason: "nghttp2 made no session")
            }
            unsafe self.session = unsafe session
            unsafe nghttp2_session_set_user_data(
                session, Unmanaged.passUnretained(self).toOpaque())
            let settings = [
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
                    value: UInt32(Self.streamWindow)),
            ]
            try Self.check(
                unsafe nghttp2_submit_settings(
                    session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count))
            try Self.check(
                unsafe nghttp2_session_set_local_window_size(
                    session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindow))
        }

        deinit { unsafe nghttp2_session_del(session) }

        /// Whether streams can be opened: not after the peer's GOAWAY, nor after the last of 2^30
        /// numbers.
        var canOpen: Bool { unsafe nghttp2_session_check_request_allowed(session) != 0 }

        /// Opens a stream with a request, and returns its number. Unless the request `isComplete`,
        /// the stream stays open for more.
        func open(
            _ fields: [(name: String, value: String)], body: [UInt8], isComplete: Bool
        ) throws(HTTP2Fault) -> Int32 {
            var provider = unsafe nghttp2_data_provider()
            unsafe provider.read_callback = { _, stream, buffer, count, flags, _, data in
                guard let buffer = unsafe buffer, let flags = unsafe flags else { return 0 }
                let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count)
                return unsafe HTTP2Session.of(data).write(stream, to: room, &flags.pointee)
            }
            let stream = unsafe Self.withFields(fields) { fields in
                unsafe nghttp2_submit_request(
                    session, nil, fields.baseAddress, fields.count, &provider, nil)
            }
            try Self.check(stream)
            bodies[stream] = HTTP2Body(bytes: body[...], isComplete: isComplete)
            return stream
        }

        /// Ends a stream before its answer.
        func cancel(_ stream: Int32) throws(HTTP2Fault) {
            bodies[stream] = nil
            try Self.check(
                unsafe nghttp2_submit_rst_stream(
                    session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream,
                    NGHTTP2_CANCEL.rawValue))
        }

        /// Takes received bytes, and returns what they contain, in order.
        func receive(_ bytes: Span<UInt8>) throws(HTTP2Fault) -> [HTTP2Event] {
            let taken = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count)
            }
            defer { events = [] }
            try Self.check(Int32(clamping: taken))
            return events
        }

        /// The bytes to send now.
        func takeOutput() throws(HTTP2Fault) -> [UInt8] {
            var output: [UInt8] = []
            while true {
                var bytes: UnsafePointer<UInt8>?
                let count = unsafe nghttp2_session_mem_send(session, &bytes)
                try Self.check(Int32(clamping: count))
                guard count > 0 else { break }
                unsafe output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            }
            // After an error of the peer's, nghttp2 sends a GOAWAY, and wants nothing more.
            let isOpen = unsafe nghttp2_session_want_read(session) != 0 || !output.isEmpty
            guard isOpen else { throw HTTP2Fault(reason: "the HTTP/2 connection has ended") }
            return output
        }

        /// Copies the next bytes of a request. Returns their number, or that none are ready.
        private func write(
            _ stream: Int32, to room: UnsafeMutableRawBufferPointer, _ flags: inout UInt32
        ) -> Int {
            guard var body = bodies[stream] else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            let part = body.bytes.prefix(room.count)
            unsafe room.copyBytes(from: part)
            body.bytes = body.bytes.dropFirst(part.count)
            bodies[stream] = body
            guard body.bytes.isEmpty else { return part.count }
            if body.isComplete {
                flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
            } else if part.isEmpty {
                return Int(NGHTTP2_ERR_DEFERRED.rawValue)
            }
            return part.count
        }

        private static func register(_ callbacks: OpaquePointer?) {
            unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
                _, frame, name, nameCount, value, valueCount, _, data in
                guard let stream = unsafe frame?.pointee.hd.stream_id else { return 0 }
                unsafe HTTP2Session.of(data).events.append(
                    .field(
                        stream, name: HTTP2Session.text(name, nameCount),
                        value: HTTP2Session.text(value, valueCount)))
                return 0
            }
            unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
                _, _, stream, bytes, count, data in
                let bytes = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
                unsafe HTTP2Session.of(data).events.append(.data(stream, bytes))
                return 0
            }
            unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
                _, stream, code, data in
                let session = unsafe HTTP2Session.of(data)
                session.bodies[stream] = nil
                session.events.append(.closed(stream, code: code))
                return 0
            }
        }

        /// Calls `body` with header fields for nghttp2, which copies them.
        private static func withFields<Result>(
            _ fields: [(name: String, value: String)],
            _ body: (UnsafeMutableBufferPointer<nghttp2_nv>) -> Result
        ) -> Result {
            var bytes: [UInt8] = []
            for field in fields { bytes += Array(field.name.utf8) + Array(field.value.utf8) }
            return unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                var next = bytes.baseAddress
                func take(_ count: Int) -> UnsafeMutablePointer<UInt8>? {
                    defer { unsafe next = unsafe next?.advanced(by: count) }
                    return unsafe next
                }
                var list = unsafe fields.map { field in
                    let (name, value) = (field.name.utf8.count, field.value.utf8.count)
                    return unsafe nghttp2_nv(
                        name: take(name), value: take(value), namelen: name, valuelen: value,
                        flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
                }
                return unsafe list.withUnsafeMutableBufferPointer { unsafe body($0) }
            }
        }

        private static func text(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> String {
            unsafe String(
                decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }

        /// The session that nghttp2 calls back, which outlives the call.
        private static func of(_ data: UnsafeMutableRawPointer?) -> HTTP2Session {
            guard let data = unsafe data else { preconditionFailure("a callback without session") }
            return unsafe Unmanaged<HTTP2Session>.fromOpaque(data).takeUnretainedValue()
        }

        private static func check(_ code: Int32) throws(HTTP2Fault) {
            guard code < 0 else { return }
            let reason = unsafe nghttp2_strerror(code).map { unsafe String(cString: $0) }
            throw HTTP2Fault(reason: reason ?? "nghttp2: error \(code)")
        }
    }

    /// What received bytes contained.
    enum HTTP2Event: Equatable {
        /// A header field, or a trailer field.
        case field(Int32, name: String, value: String)
        /// Bytes of an answer.
        case data(Int32, [UInt8])
        /// The stream has ended; the code is 0 after a complete answer (RFC 9113, section 7).
        case closed(Int32, code: UInt32)
    }

    /// The reason why a connection cannot go on.
    struct HTTP2Fault: Error, Equatable {
        let reason: String
    }

    /// The part of a request that is not sent yet.
    private struct HTTP2Body {
        var bytes: ArraySlice<UInt8>
        let isComplete: Bool
    }
#endif
