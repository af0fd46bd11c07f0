import ReactorBytes
import ReactorLoop

/// A connection between two daemons of a cluster, which carries messages.
///
///     let connection = try PeerConnection(to: path, on: loop)
///     connection.onMessage = { message in take(message) }
///     connection.onEnd = { reason in retry(after: reason) }
///     connection.begin()
///
/// *Place*: between a socket and a ``LeaderLink`` or the ``FollowerLinks``. *Owner*: the loop's
/// thread. No callback is called from inside a call of the owner, and none after ``close()``.
final class PeerConnection {
    /// Maximum bytes that wait for the other daemon to read them. Above it, the connection ends:
    /// the other daemon is stuck, and asks again on another connection.
    static let waitingBytesMax = PeerMessage.messageBytesMax + (16 << 20)

    /// Called with each whole message, in order.
    var onMessage: ((PeerMessage) -> Void)?
    /// Called when the kernel has taken all sent bytes that waited.
    var onWritten: (() -> Void)? {
        get { socket.onWritten }
        set { socket.onWritten = newValue }
    }
    /// Number of bytes that were sent and wait for the other daemon to read them.
    var waitingByteCount: Int { socket.pendingByteCount }
    /// Called once with the reason when the connection has ended by itself. The last callback.
    var onEnd: ((String) -> Void)?
    /// When the last bytes arrived, or the connection was made.
    private(set) var heardAt: UInt64

    private let socket: Connection
    private var input = PeerInput()
    /// The first reason to end the connection.
    private var fault: String?
    private var isClosed = false

    /// Takes over a connected socket; ``begin()`` starts reading.
    init(_ socket: Connection) {
        self.socket = socket
        heardAt = socket.loop.now
        socket.onBytes = { [weak self] bytes in self?.receive(bytes) }
        socket.onClosed = { [weak self] error in
            self?.conclude("\(error.map { "\($0)" } ?? "the other daemon closed the connection")")
        }
    }

    /// Connects to the Unix socket at `path`.
    ///
    /// *Throws*: if no program accepts there.
    convenience init(to path: String, on loop: EventLoop) throws(LoopError) {
        self.init(try Connection.connect(to: UnixAddress(path), on: loop))
    }

    deinit { close() }

    /// Starts reading; the callbacks are set before.
    func begin() { socket.resumeReading() }

    /// Sends a message. A message that is too long, or one too many for a daemon that does not
    /// read, ends the connection soon.
    func send(_ message: PeerMessage) {
        guard !isClosed, fault == nil else { return }
        let frame = message.frame
        let byteCount = frame.count - PeerMessage.lengthByteCount
        guard byteCount <= PeerMessage.messageBytesMax else {
            return abandon(PeerFault.tooLong(byteCount: byteCount).description)
        }
        socket.write(ByteSlices(ByteSlice(frame)))
        let waiting = socket.pendingByteCount
        if waiting > Self.waitingBytesMax {
            abandon("\(waiting) waiting bytes exceed waitingBytesMax \(Self.waitingBytesMax)")
        }
    }

    /// Sends a last message, and closes the connection as soon as the kernel has its bytes.
    func finish(with message: PeerMessage) {
        send(message)
        release()
        socket.finish()
    }

    /// Closes the connection; no callback follows.
    func close() {
        guard !isClosed else { return }
        release()
        socket.close()
    }

    /// Ends the connection soon, for a fault of the other daemon.
    func abandon(_ reason: String) {
        fault = fault ?? reason
        socket.close()
    }

    private func receive(_ bytes: Span<UInt8>) {
        guard fault == nil else { return }
        heardAt = socket.loop.now
        input.append(bytes)
        do throws(PeerFault) {
            // The owner may close the connection while it handles a message.
            while !isClosed, fault == nil, let message = try input.next() { onMessage?(message) }
        } catch {
            abandon(error.description)
        }
    }

    private func conclude(_ reason: String) {
        guard !isClosed else { return }
        let onEnd = onEnd
        release()
        onEnd?(fault ?? reason)
    }

    private func release() {
        isClosed = true
        onMessage = nil
        onEnd = nil
        socket.onClosed = nil
        socket.onBytes = nil
        socket.onWritten = nil
    }
}
