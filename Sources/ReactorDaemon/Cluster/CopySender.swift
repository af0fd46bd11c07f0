import ReactorJournal
import ReactorLoop
import ReactorThreads

/// Sends a copy of the history to another daemon of the cluster, one at a time.
///
///     sender.send(over: connection)
///
/// *Place*: beside the links of a node. A thread makes the copy and reads its files; the loop's thread
/// sends each part once the connection has the last one. *Owner*: the loop's thread.
final class CopySender {
    private let directory: DataDirectory
    private let loop: LoopHandle
    private var current: Transfer?
    /// The connection of the current transfer.
    private var connection: PeerConnection?
    /// When the last part was passed to the connection.
    private var passedAt = ContinuousClock.now

    /// How long a receiver may take for a part; then its copy is given up.
    private static let stallMax = Duration.seconds(60)
    /// Maximum bytes of a part.
    static let partBytesMax = 1 << 20

    /// What the thread and the loop share.
    private final class Transfer: Sendable {
        /// Rung when the connection has a part, and when it has ended.
        let isTaken = Bell()
        /// Raised when the connection has ended.
        let isEnded = Flag()
    }

    /// Sends the history in `directory`.
    init(of directory: DataDirectory, on loop: LoopHandle) {
        self.directory = directory
        self.loop = loop
    }

    /// Sends a copy over a connection, and closes it. Refuses that while another copy is sent.
    func send(over connection: PeerConnection) {
        guard current == nil else {
            return connection.finish(with: .refused("a copy is sent to another node: try again"))
        }
        let transfer = Transfer()
        (current, self.connection) = (transfer, connection)
        connection.onMessage = { [weak self] _ in self?.abandon(connection) }
        connection.onEnd = { [weak self] _ in self?.abandon(connection) }
        connection.onWritten = { transfer.isTaken.ring() }
        let (directory, loop) = (directory, loop)
        let target = Confined((sender: self, connection: connection)) { loop.isOnLoop }
        let post = { @Sendable (message: PeerMessage, isLast: Bool) in
            _ = loop.post {
                let (sender, connection) = target.open()
                sender.pass(message, isLast: isLast, of: transfer, over: connection)
            }
        }
        let work = { @Sendable in
            do throws(JournalError) {
                let end = try Self.copy(directory, transfer) { post($0, false) }
                post(.copied(row: end), true)
            } catch {
                post(.refused("\(error)"), true)
            }
        }
        if (try? WorkThread(name: "copy", takesSignals: false, isInBackground: true, work)) == nil {
            pass(
                .refused("no thread can be started"), isLast: true, of: transfer, over: connection)
        }
    }

    /// Sends a sign of life to the daemon that waits for a copy.
    func beat() {
        guard let connection else { return }
        // A receiver that has stopped would keep others from a copy.
        if connection.waitingByteCount > 0, ContinuousClock.now - passedAt > Self.stallMax {
            return abandon(connection)
        }
        connection.send(.beat)
    }

    /// Whether a copy is being sent, or what it left is being removed.
    var isBusy: Bool { current != nil }

    /// Ends the transfer: the daemon ends.
    func close() {
        connection = nil
        current?.isEnded.raise()
        current?.isTaken.ring()
    }

    private func pass(
        _ message: PeerMessage, isLast: Bool, of transfer: Transfer, over connection: PeerConnection
    ) {
        guard current === transfer else { return }
        if isLast { (current, self.connection) = (nil, nil) }
        guard !transfer.isEnded.isUp else { return }
        guard !isLast else { return connection.finish(with: message) }
        passedAt = ContinuousClock.now
        connection.send(message)
        if connection.waitingByteCount == 0 { transfer.isTaken.ring() }
    }

    private func abandon(_ connection: PeerConnection) {
        connection.close()
        close()
    }

    /// Makes a copy, and passes its files in parts. Returns the row with which it ends.
    private static func copy(
        _ directory: DataDirectory, _ transfer: Transfer, _ pass: (PeerMessage) -> Void
    ) throws(JournalError) -> UInt64 {
        let copy = try HistoryCopy(of: directory) { transfer.isEnded.isUp }
        defer { try? copy.remove() }
        // The bell rings once for the end, so that nothing waits after it.
        for file in copy.files where !transfer.isEnded.isUp {
            pass(.file(name: file.name, byteCount: UInt64(file.byteCount)))
            transfer.isTaken.wait()
            var offset = 0
            while offset < file.byteCount, !transfer.isEnded.isUp {
                let bytes = try copy.read(file.name, at: offset, count: partBytesMax)
                guard !bytes.isEmpty else { break }
                offset += bytes.count
                pass(.part(bytes))
                transfer.isTaken.wait()
            }
        }
        return copy.end.number
    }
}
