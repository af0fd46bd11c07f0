import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads

/// Moves one snapshot from a running server to a file, a part per turn.
///
/// *Owner*: the loop's thread.
final class SnapshotRun {
    private let snapshot: ServerSnapshot
    private let writer: SnapshotWriter
    /// The turn whose batch the journal must hold before the file may be used.
    private var lastTurn: UInt64?
    private var isFinished = false

    /// Maximum number of parts that wait for the writer's thread. A waiting part keeps the old
    /// state alive beside the new one.
    private static let waitingPartsMax = 8

    init(
        of snapshot: ServerSnapshot, number: UInt64, in directory: DataDirectory,
        on loop: LoopHandle,
        onFinished: @escaping (Result<SnapshotHeader, JournalError>) -> Void
    ) throws(JournalError) {
        self.snapshot = snapshot
        snapshot.onEncoded = { [stateSizes] in stateSizes.add($1, at: $0) }
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

    /// Whether it writes this snapshot.
    func isOf(_ snapshot: ServerSnapshot) -> Bool { self.snapshot === snapshot }

    /// Whether parts remain to be collected.
    var isGathering: Bool { !snapshot.isComplete }

    /// The sizes of the states, complete once the file is.
    let stateSizes = StateSizes()

    /// Collects further parts. `appendedTurn` is the last turn that the journal holds.
    func advance(appendedTurn: UInt64) {
        guard !snapshot.isComplete, writer.waitingPartCount < Self.waitingPartsMax else { return }
        for part in snapshot.gather() { writer.append(part) }
        guard snapshot.isComplete else { return }
        lastTurn = snapshot.lastTurn
        appended(appendedTurn)
    }

    /// Called when the journal has appended everything up to a turn; finishes the file once it
    /// may be used.
    func appended(_ turn: UInt64) {
        guard let lastTurn, turn >= lastTurn, !isFinished else { return }
        isFinished = true
        writer.finish()
    }

    /// Discards the snapshot before it is complete.
    func cancel() {
        snapshot.cancel()
        writer.cancel()
    }
}

extension ServerSnapshot {
    /// Writes a snapshot as of a row and waits until it is durable. Blocks the calling thread.
    func write(of row: UInt64, in directory: DataDirectory) throws(JournalError) {
        let result = Guarded<Result<SnapshotHeader, JournalError>?>(nil)
        let writer = try SnapshotWriter(
            directory, of: row, sequence: sequence, deliver: { job in job() },
            onFinished: { found in result.withLock { $0 = found } })
        while !isComplete { for part in gather() { writer.append(part) } }
        writer.finish()
        writer.join()
        if case .failure(let error)? = result.withLock({ $0 }) { throw error }
    }
}

extension SnapshotWriter {
    /// Passes the next part of a server's snapshot.
    fileprivate func append(_ part: ServerSnapshot.Part) {
        append { parts in part.lend(to: parts.add, orInPieces: parts.add) }
    }
}
