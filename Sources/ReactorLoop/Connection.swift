import CLibUV
import Glibc
import ReactorBytes

/// A connected Unix stream socket on a loop.
///
/// *Place*: lends received bytes as a span and takes slices to write; knows no frames.
///
/// It opens paused: set the callbacks, then call ``resumeReading()``. After ``close()``, an error,
/// or the loop's end, ``onClosed`` is called once, as the last callback. Then all callbacks are
/// released, so that they may capture the holder of the connection.
///
/// *Owner*: the loop's thread.
@safe
package final class Connection: LoopResource {
    /// Default of ``readBudget``, in bytes.
    package static let readBudgetDefault = 262_144

    /// Receives the bytes read; the span is valid during the call only. Without it, bytes are
    /// dropped.
    package var onBytes: ((Span<UInt8>) -> Void)? {
        get { receive }
        set { receive = newValue }
    }
    /// Called when the peer will send nothing more. If the peer has only shut down its writing
    /// side, later writes still reach it; if its socket is gone, the connection closes right after
    /// this call. Without this callback the connection finishes writing and closes.
    package var onEnd: (() -> Void)?
    /// Called when all bytes that had to wait are written.
    package var onWritten: (() -> Void)?
    /// Called when the connection is closed, with the error that closed it, if there is one. Always
    /// the last callback.
    package var onClosed: ((LoopError?) -> Void)?

    /// The process at the other end.
    package let peer: PeerCredentials
    /// Maximum bytes read from the peer in one turn, at least 1; the rest waits for the next turn,
    /// so that a busy peer does not delay the others.
    package var readBudget: Int {
        get { budget }
        set { budget = newValue }
    }
    /// Whether the connection reads from the peer.
    package var isReading: Bool { reading }
    /// Whether the peer has ended its writing side.
    package private(set) var isEnded = false

    // Each read and write accesses these. They are private, so that no exclusivity check is needed
    // at run time.
    private var receive: ((Span<UInt8>) -> Void)?
    private var budget = readBudgetDefault
    private var reading = false
    // No function that changes the outbox calls back, so accesses to it cannot overlap.
    private let outboxCell = Cell(Outbox())
    var outbox: Outbox {
        @inline(__always) _read { yield outboxCell.value }
        @inline(__always) _modify { yield &outboxCell.value }
    }
    // At most one request runs at a time, so its memory is allocated once, on demand.
    private(set) lazy var writeRequest: UnsafeMutablePointer<uv_write_t> = {
        hasWriteRequest = true
        return .allocate(capacity: 1)
    }()
    private var hasWriteRequest = false
    private var bytesThisTurn = 0
    private var turnOfBytes: UInt64 = 0
    private var failure: LoopError?

    /// Takes over the connected socket `descriptor`; closes it also if this throws.
    ///
    /// *C*: `uv_pipe_init` without ipc, which drops passed descriptors; `uv_pipe_open`.
    package init(on loop: EventLoop, adopting descriptor: Int32) throws(LoopError) {
        do throws(LoopError) {
            try loop.checkIsOpen(for: "connection")
            peer = try PeerCredentials(of: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        unsafe super.init(on: loop, as: uv_pipe_t.self)
        let pipe = unsafe memory.assumingMemoryBound(to: uv_pipe_t.self)
        unsafe uv_pipe_init(loop.raw, pipe, 0)
        adopt()
        let code = unsafe uv_pipe_open(pipe, descriptor)
        guard code == 0 else {
            Glibc.close(descriptor)
            close()
            throw .call(CallFailure(call: "uv_pipe_open", code: code, subject: "connection"))
        }
    }

    /// The peer's supplementary groups at its connect; none once the connection is closed.
    package var peerGroups: [UInt32] {
        guard !isClosed else { return [] }
        var descriptor: uv_os_fd_t = -1
        unsafe uv_fileno(handle, &descriptor)
        return (try? PeerCredentials.groups(of: descriptor)) ?? []
    }

    /// The socket, for a process that takes it over; nil once the connection is closed.
    package var descriptor: Int32? {
        guard !isClosed else { return nil }
        var descriptor: uv_os_fd_t = -1
        unsafe uv_fileno(handle, &descriptor)
        return descriptor
    }

    deinit {
        if hasWriteRequest { unsafe writeRequest.deallocate() }
    }

    /// Connects to the listener at `address`.
    ///
    /// A Unix socket connects or is refused at once. *Throws*: with `EAGAIN` if the listener's
    /// backlog is full; try again later.
    package static func connect(
        to address: UnixAddress, on loop: EventLoop
    ) throws(LoopError) -> Connection {
        try loop.checkIsOpen(for: address.path)
        return try Connection(on: loop, adopting: UnixSocket.connect(to: address))
    }

    /// Connects to the daemon at `address`, if `trust` accepts its user.
    ///
    /// *Throws*: also ``LoopError/untrustedSocket(path:_:)``; nothing has been sent then.
    package static func connect(
        to address: UnixAddress, on loop: EventLoop, trusting trust: SocketTrust
    ) throws(LoopError) -> Connection {
        let connection = try connect(to: address, on: loop)
        do throws(LoopError) {
            try trust.check(connection.peer, at: address)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe memory.assumingMemoryBound(to: uv_stream_t.self)
    }

    /// Whether the peer's socket is gone, and not only shut down for writing. Call it once
    /// ``isEnded`` is true, to distinguish the two.
    ///
    /// *C*: `poll`, which reports `POLLHUP` for a Unix stream socket that is shut down in both
    /// directions, but not after the peer's `shutdown(SHUT_WR)` alone.
    package var isHungUp: Bool {
        guard !isClosed else { return true }
        var entry = pollfd()
        unsafe uv_fileno(handle, &entry.fd)
        return unsafe poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
    }

    /// Reads available bytes without a poll before. Returns false if there are none. An end or an
    /// error is left to the loop.
    ///
    /// *C*: `recv` with `MSG_DONTWAIT`.
    func readNow() -> Bool {
        guard isReading, !isClosed else { return false }
        var descriptor: uv_os_fd_t = -1
        unsafe uv_fileno(handle, &descriptor)
        let byteCount = unsafe recv(
            descriptor, loop.readBuffer, EventLoop.readBytesMax, Int32(MSG_DONTWAIT))
        guard byteCount > 0 else { return false }
        loop.beginPass()
        didRead(byteCount)
        return true
    }

    /// Starts reading. *C*: `uv_read_start`.
    package func resumeReading() {
        guard !reading, !isEnded, !isClosed else { return }
        let code = unsafe uv_read_start(
            stream,
            { handle, _, buffer in
                guard let buffer = unsafe buffer else { return }
                let room = unsafe Connection.with(handle) { unsafe $0.room() }
                unsafe buffer.pointee = unsafe room ?? uv_buf_t()
            },
            { stream, count, _ in
                guard let stream = unsafe stream else { return }
                let handle = unsafe UnsafeMutableRawPointer(stream)
                    .assumingMemoryBound(to: uv_handle_t.self)
                unsafe Connection.with(handle) { $0.didRead(count) }
            })
        guard code == 0 else {
            return fail("uv_read_start", code)
        }
        reading = true
    }

    /// Stops reading: bytes stay in the kernel, which slows the peer down. *C*: `uv_read_stop`.
    ///
    /// While it is paused, only a write detects the peer's end: pause while bytes wait to be
    /// written, or briefly.
    package func pauseReading() {
        guard reading else { return }
        reading = false
        unsafe uv_read_stop(stream)
    }

    /// Closes the connection with the error of a failed `call`.
    func fail(_ call: String, _ code: Int32) {
        guard !isClosed else { return }
        note(call, code)
        close()
    }

    /// Ends writing after the error of a failed `call`, and closes the connection once the peer's
    /// last bytes are read: these may say why the peer closed.
    func breakOff(_ call: String, _ code: Int32) {
        // Without a hang-up, the end of the peer's bytes may never come.
        guard reading, !isClosed, isHungUp else { return fail(call, code) }
        note(call, code)
        outbox.discard()
    }

    // The first error is the cause of later ones.
    private func note(_ call: String, _ code: Int32) {
        guard failure == nil else { return }
        failure = .call(CallFailure(call: call, code: code, subject: "connection"))
    }

    override func willClose() {
        reading = false
        loop.expectNoInput(from: self)
    }

    override func didClose() {
        outbox = Outbox()
        let onClosed = onClosed
        receive = nil
        onEnd = nil
        onWritten = nil
        self.onClosed = nil
        onClosed?(failure)
    }

    /// The buffer for the next read; empty when the turn's budget is spent.
    private func room() -> uv_buf_t {
        if turnOfBytes != loop.turns {
            turnOfBytes = loop.turns
            bytesThisTurn = 0
        }
        let byteCount = min(EventLoop.readBytesMax, budget - bytesThisTurn)
        guard byteCount > 0 else { return unsafe uv_buf_t() }
        return unsafe uv_buf_init(loop.readBuffer, UInt32(byteCount))
    }

    func didRead(_ count: Int) {
        if count > 0 {
            loop.noteTraffic()
            bytesThisTurn += count
            guard let receive else { return }
            unsafe loop.readBuffer.withMemoryRebound(to: UInt8.self, capacity: count) { start in
                unsafe receive(UnsafeBufferPointer(start: start, count: count).span)
            }
        } else if count == Int(UV_EOF.rawValue) {
            loop.noteTraffic()
            reading = false
            isEnded = true
            if let onEnd { onEnd() } else { finish() }
            // A peer whose socket is gone receives nothing that is written.
            if isHungUp { close() }
        } else if count < 0, count != Int(UV_ENOBUFS.rawValue) {
            // libuv reports ENOBUFS for the empty buffer of a spent budget. That is no error: the
            // bytes stay for the next turn.
            loop.noteTraffic()
            fail("read", Int32(count))
        }
    }

    /// Calls `body` with the connection of a handle.
    ///
    /// The loop retains a connection until libuv's close callback, which libuv never runs inside
    /// another callback. So it lives longer than the call, and is not retained again.
    @discardableResult
    static func with<Result>(
        _ handle: UnsafeMutablePointer<uv_handle_t>?, _ body: (Connection) -> Result
    ) -> Result? {
        guard let data = unsafe handle?.pointee.data else { return nil }
        return unsafe Unmanaged<Connection>.fromOpaque(data)._withUnsafeGuaranteedRef { body($0) }
    }
}
