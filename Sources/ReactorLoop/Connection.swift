import CLibUV
import Glibc

/// A connected Unix stream socket on a loop.
///
/// *Place*: lends what it reads as a span and takes slices to write; knows no frames.
///
/// It opens paused: set the callbacks, then ``resumeReading()``. After ``close()``, an error, or
/// the loop's end, ``onClosed`` fires once and nothing else does. All callbacks are released then,
/// so that they may hold whoever holds the connection.
///
/// *Owner*: the loop's thread.
@safe
public final class Connection: LoopResource {
    /// Bytes read from one connection in one turn, by default.
    public static let readBudgetDefault = 262_144

    /// Receives what was read; the span is valid during the call only. Without it, bytes are
    /// dropped.
    public var onBytes: ((Span<UInt8>) -> Void)?
    /// Tells that the peer will send nothing more. What is written still reaches it, if it has only
    /// shut its writing side down; if its socket is gone, the connection closes right after this
    /// call. Without this callback the connection finishes writing and closes.
    public var onEnd: (() -> Void)?
    /// Tells that everything that had to wait is written.
    public var onWritten: (() -> Void)?
    /// Tells, as the last callback, that it is closed, and which error closed it, if one did.
    public var onClosed: ((LoopError?) -> Void)?

    /// Who is at the other end.
    public let peer: PeerCredentials
    /// Bytes read from it in one turn at most; the rest waits for the next, so that one busy peer
    /// does not delay the others. At least 1.
    public var readBudget = readBudgetDefault
    /// Whether it takes what the peer sends.
    public private(set) var isReading = false
    /// Whether the peer has said that it will send nothing more.
    public private(set) var isEnded = false

    var outbox = Outbox()
    // because at most one request is under way: its memory is made once, at the first need
    private(set) lazy var writeRequest: UnsafeMutablePointer<uv_write_t> = {
        hasWriteRequest = true
        return .allocate(capacity: 1)
    }()
    private var hasWriteRequest = false
    private var bytesThisTurn = 0
    private var turnOfBytes: UInt64 = 0
    private var failure: LoopError?

    /// Takes over the connected socket `descriptor`, and closes it also where this throws.
    ///
    /// *C*: `uv_pipe_init` without ipc, so that passed descriptors are dropped; `uv_pipe_open`.
    public init(on loop: EventLoop, adopting descriptor: Int32) throws(LoopError) {
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

    deinit {
        if hasWriteRequest { unsafe writeRequest.deallocate() }
    }

    /// Connects to who listens at `address`.
    ///
    /// A Unix socket connects or is refused at once. *Throws*: with `EAGAIN` when the listener's
    /// backlog is full: try again later.
    public static func connect(
        to address: UnixAddress, on loop: EventLoop
    ) throws(LoopError) -> Connection {
        try loop.checkIsOpen(for: address.path)
        return try Connection(on: loop, adopting: UnixSocket.connect(to: address))
    }

    /// Connects to the daemon at `address`, if `trust` takes the listener for one.
    ///
    /// *Throws*: also ``LoopError/untrustedSocket(path:_:)``; nothing was sent then.
    public static func connect(
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

    /// Whether the peer's socket is gone, and not only shut down for writing; call it once
    /// ``isEnded``, to tell the two ends apart.
    ///
    /// *C*: `poll`, which says `POLLHUP` of a Unix stream socket that neither side can write to any
    /// more; after the peer's `shutdown(SHUT_WR)` alone it does not.
    public var isHungUp: Bool {
        guard !isClosed else { return true }
        var entry = pollfd()
        unsafe uv_fileno(handle, &entry.fd)
        return unsafe poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
    }

    /// Takes what the peer sends from now on. *C*: `uv_read_start`.
    public func resumeReading() {
        guard !isReading, !isEnded, !isClosed else { return }
        let code = unsafe uv_read_start(
            stream,
            { handle, _, buffer in
                guard let buffer = unsafe buffer else { return }
                unsafe buffer.pointee = unsafe Connection.of(handle)?.room() ?? uv_buf_t()
            },
            { stream, count, _ in
                guard let stream = unsafe stream else { return }
                let handle = unsafe UnsafeMutableRawPointer(stream)
                    .assumingMemoryBound(to: uv_handle_t.self)
                unsafe Connection.of(handle)?.didRead(count)
            })
        guard code == 0 else {
            return fail("uv_read_start", code)
        }
        isReading = true
    }

    /// Leaves what the peer sends in the kernel, which slows the peer down. *C*: `uv_read_stop`.
    ///
    /// While it is paused, the peer's end is noticed only by writing: pause for as long as
    /// something waits to be written, or briefly.
    public func pauseReading() {
        guard isReading else { return }
        isReading = false
        unsafe uv_read_stop(stream)
    }

    /// Closes because of `call`'s refusal.
    func fail(_ call: String, _ code: Int32) {
        guard !isClosed else { return }
        failure = .call(CallFailure(call: call, code: code, subject: "connection"))
        close()
    }

    override func willClose() {
        isReading = false
        if loop.expected === self { loop.expected = nil }
    }

    override func didClose() {
        outbox = Outbox()
        let onClosed = onClosed
        onBytes = nil
        onEnd = nil
        onWritten = nil
        self.onClosed = nil
        onClosed?(failure)
    }

    /// Where the next read may put its bytes: nowhere, when this turn's budget is spent.
    private func room() -> uv_buf_t {
        if turnOfBytes != loop.turnCount {
            turnOfBytes = loop.turnCount
            bytesThisTurn = 0
        }
        let byteCount = min(EventLoop.readBytesMax, readBudget - bytesThisTurn)
        guard byteCount > 0 else { return unsafe uv_buf_t() }
        return unsafe uv_buf_init(loop.readBuffer, UInt32(byteCount))
    }

    func didRead(_ count: Int) {
        if count > 0 {
            loop.noteTraffic()
            bytesThisTurn += count
            guard let onBytes else { return }
            unsafe loop.readBuffer.withMemoryRebound(to: UInt8.self, capacity: count) { start in
                unsafe onBytes(UnsafeBufferPointer(start: start, count: count).span)
            }
        } else if count == Int(UV_EOF.rawValue) {
            loop.noteTraffic()
            isReading = false
            isEnded = true
            if let onEnd { onEnd() } else { finish() }
            // because nothing that is written reaches a peer whose socket is gone
            if isHungUp { close() }
        } else if count < 0, count != Int(UV_ENOBUFS.rawValue) {
            // because ENOBUFS is our own word for a spent budget: the bytes stay for the next turn
            loop.noteTraffic()
            fail("read", Int32(count))
        }
    }

    /// The connection whose handle this is.
    static func of(_ handle: UnsafeMutablePointer<uv_handle_t>?) -> Connection? {
        guard let data = unsafe handle?.pointee.data else { return nil }
        return unsafe Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
    }
}
