import ReactorBytes
import ReactorThreads

/// The part of a journal's state that belongs to the owner's thread: where the journal ends, what
/// it has not reported yet, and whether it still accepts batches.
///
/// *Invariants*: a full journal waits for no turn; without a failure, the end only moves forward.
/// *Owner*: the thread that created the journal.
final class JournalOwnerState {
    var onAppended: ((UInt64) -> Void)?
    var onFailed: ((JournalFailure) -> Void)?
    var onAlarm: ((JournalAlarm) -> Void)?
    // Private: an access from another file would be checked for exclusivity at run time, each turn.
    private var isFull = false
    private var isBroken = false
    private var waitingTurn: UInt64?
    private var end: JournalPosition

    /// Continues after `end`.
    init(after end: JournalPosition) { self.end = end }

    /// Whether batches are dropped: until the owner resumes, or permanently.
    var isFailed: Bool { isFull || isBroken }
    /// The turn of the last batch on the journal's thread; nil if it has reported all of them.
    var pendingTurn: UInt64? { waitingTurn }
    /// The position after the last accepted batch; its chain and time are those of an earlier row.
    var last: JournalPosition { end }

    /// Advances the end by a batch. *Traps*: if the batch does not follow.
    func accept(_ batch: Batch) {
        precondition(
            batch.epoch != end.epoch || batch.after == end.sequence,
            "batch of turn \(batch.turn) starts after \(batch.after), expected \(end.sequence)")
        precondition(
            batch.sequence >= batch.after,
            "batch of turn \(batch.turn) ends at \(batch.sequence), before \(batch.after)")
        end.number += 1
        end.epoch = batch.epoch
        end.sequence = batch.sequence
        invariants()
    }

    /// Advances the end by rows that were numbered elsewhere. *Traps*: if they do not follow.
    func accept(_ rows: [JournalRow]) {
        for row in rows {
            precondition(
                row.number == end.number + 1,
                "row \(row.number) is stored after row \(end.number)")
            end = row.position
        }
        invariants()
    }

    /// Records that a turn's batch was passed to the journal's thread.
    func wait(for turn: UInt64) {
        waitingTurn = turn
        invariants()
    }

    /// Reports that everything up to a turn is stored.
    func report(_ turn: UInt64) {
        if waitingTurn == turn { waitingTurn = nil }
        invariants()
        onAppended?(turn)
    }

    /// Records and reports a failure of a commit; the journal continues at `kept`.
    func fail(_ failure: JournalFailure, keeping kept: JournalPosition) {
        end = kept
        waitingTurn = nil
        switch failure {
        case .full: isFull = true
        case .broken: isBroken = true
        }
        invariants()
        onFailed?(failure)
    }

    /// Records and reports a failure of the disk outside a commit.
    func fail(_ error: JournalError) {
        isBroken = true
        invariants()
        onFailed?(.broken(turn: 0, message: "\(error)"))
    }

    /// Accepts batches again after a full disk; returns false if the disk was not full.
    func resume() -> Bool {
        guard isFull else { return false }
        isFull = false
        return true
    }

    private func invariants() {
        assert(!isFull || waitingTurn == nil, "a full journal waits for turn \(waitingTurn ?? 0)")
    }
}

/// Delivers reports from a journal's threads to its owner's thread.
struct JournalNotifier: Sendable {
    let owner: Confined<JournalOwnerState>
    let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void

    func appended(_ turn: UInt64) {
        deliver { [owner] in owner.open().report(turn) }
    }

    /// Reports a failure; `kept` is the position at which the journal continues.
    func failed(_ failure: JournalFailure, kept: JournalPosition) {
        deliver { [owner] in owner.open().fail(failure, keeping: kept) }
    }

    /// Reports that the disk failed outside a commit.
    func broke(_ error: JournalError) {
        deliver { [owner] in owner.open().fail(error) }
    }

    /// Reports an obstacle.
    func alarm(_ alarm: JournalAlarm) {
        deliver { [owner] in owner.open().onAlarm?(alarm) }
    }
}
