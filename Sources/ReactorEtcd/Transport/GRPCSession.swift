#if Cluster
    /// The client's side of a gRPC connection, without I/O: calls out, messages and results in.
    ///
    /// *Place*: between an ``EtcdConnection`` and ``HTTP2Session``. *Owner*: one thread.
    ///
    /// *Shape*: each message is a byte that says whether it is compressed (always 0 here), its
    /// length in 4 big-endian bytes, and the message. The result follows as trailer fields. See the
    /// document "gRPC over HTTP2" of gRPC.
    struct GRPCSession {
        private let http: HTTP2Session
        /// Maximum bytes of one message of an answer.
        private let answerBytesMax: Int
        private var calls: [Int32: GRPCCall] = [:]

        /// Begins a connection. An answer with a message above `answerBytesMax` fails.
        init(answerBytesMax: Int) throws(HTTP2Fault) {
            http = try HTTP2Session()
            self.answerBytesMax = answerBytesMax
        }

        /// Whether calls can be made.
        var canCall: Bool { http.canOpen }

        /// Calls a method with its first message, and returns the number of the call. Unless
        /// `isOnly`, the server waits for further messages until ``cancel(_:)``.
        mutating func call(
            _ path: String, _ message: [UInt8], isOnly: Bool
        ) throws(HTTP2Fault) -> Int32 {
            let count = UInt32(message.count)
            let prefix = [0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
            let call = try http.open(
                [(":path", path)] + Self.fields, body: prefix + message, isComplete: isOnly)
            calls[call] = GRPCCall()
            return call
        }

        /// Ends a call, of which nothing more is reported.
        mutating func cancel(_ call: Int32) throws(HTTP2Fault) {
            guard calls.removeValue(forKey: call) != nil else { return }
            try http.cancel(call)
        }

        /// Takes received bytes, and returns the messages and results in them, in order.
        mutating func receive(_ bytes: Span<UInt8>) throws(HTTP2Fault) -> [GRPCEvent] {
            var events: [GRPCEvent] = []
            for event in try http.receive(bytes) {
                switch event {
                case .field(let call, let name, let value): calls[call]?.take(name, value)
                case .data(let call, let bytes):
                    calls[call]?.append(bytes)
                    do throws(GRPCStatus) {
                        while let message = try calls[call]?.takeMessage(upTo: answerBytesMax) {
                            events.append(.message(call, message))
                        }
                    } catch {
                        try cancel(call)
                        events.append(.ended(call, error))
                    }
                case .closed(let call, let code):
                    guard let ended = calls.removeValue(forKey: call) else { continue }
                    events.append(.ended(call, ended.status(afterClose: code)))
                }
            }
            return events
        }

        /// The bytes to send now.
        func takeOutput() throws(HTTP2Fault) -> [UInt8] { try http.takeOutput() }

        /// The name of the host is part of each request, and a socket's path cannot be one.
        private static let fields = [
            (name: ":method", value: "POST"), (":scheme", "http"), (":authority", "localhost"),
            ("content-type", "application/grpc"), ("te", "trailers"),
        ]
    }

    /// What a server has answered.
    enum GRPCEvent: Equatable {
        case message(Int32, [UInt8])
        /// The last event of a call.
        case ended(Int32, GRPCStatus)
    }

    /// The result of a call.
    struct GRPCStatus: Error, Equatable {
        let code: GRPCCode
        let text: String
    }

    /// The codes of results, as gRPC names and numbers them. `unimplemented` is the server's answer to a
    /// method that it does not know.
    enum GRPCCode: UInt32 {
        case ok = 0
        case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists
        case permissionDenied, resourceExhausted, failedPrecondition, aborted, outOfRange
        case unimplemented, internalError, unavailable, dataLoss, unauthenticated
    }

    /// A call whose answer arrives.
    private struct GRPCCall {
        private var httpStatus = ""
        private var code: String?
        private var text = ""
        /// The bytes of a message that is not complete.
        private var input: [UInt8] = []

        /// Takes a header or trailer field.
        mutating func take(_ name: String, _ value: String) {
            switch name {
            case ":status": httpStatus = value
            case "grpc-status": code = value
            case "grpc-message": text = Self.decoded(value)
            default: break
            }
        }

        mutating func append(_ bytes: [UInt8]) { input += bytes }

        /// Takes the next complete message; nil if there is none.
        ///
        /// *Throws*: if it is compressed or too long.
        mutating func takeMessage(upTo byteCountMax: Int) throws(GRPCStatus) -> [UInt8]? {
            guard input.count >= Self.prefixBytes else { return nil }
            guard input[0] == 0 else {
                throw GRPCStatus(code: .internalError, text: "the answer is compressed")
            }
            let count = input[1..<Self.prefixBytes].reduce(0) { $0 << 8 | Int($1) }
            guard count <= byteCountMax else {
                throw GRPCStatus(
                    code: .resourceExhausted,
                    text: "the answer has \(count) bytes, and at most \(byteCountMax) are read")
            }
            guard input.count >= Self.prefixBytes + count else { return nil }
            defer { input.removeFirst(Self.prefixBytes + count) }
            return Array(input[Self.prefixBytes..<Self.prefixBytes + count])
        }

        /// The result, after the stream has ended with an HTTP/2 error code.
        func status(afterClose error: UInt32) -> GRPCStatus {
            if let code {
                let known = UInt32(code).flatMap(GRPCCode.init(rawValue:))
                return GRPCStatus(
                    code: known ?? .unknown, text: known == nil ? "code \(code): \(text)" : text)
            }
            let reason =
                error == 0 && httpStatus != "200"
                ? "HTTP status \(httpStatus)" : "the stream ended with HTTP/2 error \(error)"
            return GRPCStatus(code: .unavailable, text: reason)
        }

        /// The bytes before each message.
        private static let prefixBytes = 5

        /// Decodes `%` with two hexadecimal digits, as the text of a result has it.
        private static func decoded(_ text: String) -> String {
            var rest = Array(text.utf8)[...]
            var bytes: [UInt8] = []
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), let code = UInt8(digits, radix: 16) {
                    bytes.append(code)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
