import ReactorJournal
import ReactorLoop
import ReactorServer

/// One snapshot on its way from a running server to a file.
///
/// *Owner*: the loop's thread.
final class SnapshotRun {
    private let snapshot: ServerSnapshot
    private let writer: SnapshotWriter
    /// The turn whose batch must have been appended before the file may be used.
    private var lastTurn: UInt64?
    private var isFinished = false

    // because what waits is kept as it was, beside what it became
    /// Most parts that wait for the snapshot's thread.
    private static let waitingPartsMax = 8

    init(
        of snapshot: ServerSnapshot, number: UInt64, in directory: DataDirectory,
        on loop: LoopHandle,
        onFinished: @escaping (Result<SnapshotHeader, JournalError>) -> Void
    ) throws(JournalError) {
        self.snapshot = snapshot
        do throws(JournalError) {
            writer = try SnapshotWriter(
                directory, of: number, sequence: snapshot.sequence,
                deliver: { job in _ = loop.post(job) },
                onFinished: onFinished)
        } catch {
            snapshot.cancel()
            throw error
        }
    }

    /// Whether there is more to gather.
    var isGathering: Bool { !snapshot.isComplete }

    /// Gathers a bit more; the journal holds `appendedTurn`.
    func advance(appendedTurn: UInt64) {
        guard !snapshot.isComplete, writer.waitingPartCount < Self.waitingPartsMax else { return }
        for part in snapshot.gather() { writer.append(part) }
        guard snapshot.isComplete else { return }
        lastTurn = snapshot.lastTurn
        noteAppended(appendedTurn)
    }

    /// Takes note that the journal holds everything up to a turn.
    func noteAppended(_ turn: UInt64) {
        guard let lastTurn, turn >= lastTurn, !isFinished else { return }
        isFinished = true
        writer.finish()
    }

    /// Ends it before it is there.
    func cancel() {
        snapshot.cancel()
        writer.cancel()
    }
}
