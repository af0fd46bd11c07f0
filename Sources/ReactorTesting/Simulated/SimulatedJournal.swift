package import ReactorBytes
import ReactorCore
import ReactorServer

/// A journal with snapshots in memory, whose crashes lose data as a disk would.
///
/// Committed rows survive a crash, whether their commit was reported or not; of the later rows a
/// random prefix survives. A snapshot is usable once all rows appended before its end are
/// committed. An unfinished snapshot is lost in a crash.
///
/// *Place*: in a ``SimulatedWorld`` with a history. *Owner*: that world.
package final class SimulatedJournal {
    /// A snapshot in progress.
    private struct Run {
        var snapshot: ServerSnapshot
        var made: SimulatedSnapshot
    }

    /// How often snapshots are taken, used and followed by a trim.
    private let habits: SimulatedHabits
    /// False once the world cannot continue, so that no more snapshots are taken.
    private var takesSnapshots = true

    /// The rows that are not trimmed, in ascending order.
    package private(set) var rows: [SimulatedRow] = []
    /// The number of the last appended row; 0 before the first.
    package private(set) var lastNumber: UInt64 = 0
    /// The number of the last committed row.
    package private(set) var committedNumber: UInt64 = 0
    /// Number of finished snapshots.
    package private(set) var snapshotCount = 0
    /// Number of snapshots that ended in a crash or on a full disk.
    package private(set) var brokenSnapshotCount = 0
    /// The usable snapshots, the newest last.
    private var snapshots: [SimulatedSnapshot] = []
    /// The current epoch.
    private(set) var epoch: UInt64
    /// The sequence of the last row.
    private(set) var sequence: UInt64 = 0
    /// The sequence of the last trimmed row.
    private var trimmedSequence: UInt64 = 0
    private var run: Run?
    private var answered = 0
    private var random: SeededRandom
    /// The planted faults; nil for a faultless journal.
    let faults: (any SimulatedHistoryFaults)?

    /// Creates an empty journal for a history that begins with `epoch`.
    package init(
        seed: UInt64, epoch: UInt64, habits: SimulatedHabits = SimulatedHabits(),
        faults: (any SimulatedHistoryFaults)? = nil
    ) {
        random = SeededRandom(seed: seed ^ 0x6a6f_7572_6e61_6c)
        self.epoch = epoch
        self.habits = habits
        self.faults = faults
    }

    /// Appends a batch and returns its row number.
    func hand(_ batch: Batch) -> UInt64 {
        lastNumber += 1
        var stored = batch
        faults?.tamper(with: &stored)
        rows.append(SimulatedRow(number: lastNumber, batch: stored))
        sequence = batch.sequence
        return lastNumber
    }

    /// Makes the rows up to `number` durable.
    func commit(_ number: UInt64) {
        committedNumber = max(committedNumber, number)
        finishSnapshot()
    }
}

// MARK: - Queries
extension SimulatedJournal {
    /// Number of queries for missed updates that the journal has answered.
    package var answerCount: Int { answered }

    /// Returns the deltas of a node that a client missed; nil if some of the rows are gone.
    func missed(_ question: HistoryQuestion) -> [UInt8]? {
        let asked = rows.map(\.batch).filter {
            $0.epoch == question.epoch && $0.sequence > question.after
                && $0.after < question.upTo
        }
        guard let first = asked.first, first.after <= question.after,
            asked.last?.sequence ?? 0 >= question.upTo
        else { return nil }
        var frames: [UInt8] = []
        for row in asked {
            guard question.collect(from: row.deltaBytes, into: &frames) else { return nil }
        }
        answered += 1
        return frames
    }
}

// MARK: - Snapshots
extension SimulatedJournal {
    /// Begins or advances a snapshot; called after each turn.
    func lookAfterTurn(of server: Server) {
        if let snapshot = run?.snapshot {
            guard !snapshot.isComplete, random.chance(habits.gatherPercent) else { return }
            let parts = snapshot.gather(Int.random(in: 1...habits.gatherCountMax, using: &random))
            for part in parts.map({ $0() }) {
                run?.made.parts.append(faults?.tampered(part) ?? part)
            }
            guard snapshot.isComplete else { return }
            run?.made.lastNumber = lastNumber
            finishSnapshot()
        } else if server.mode != .full, random.chance(takesSnapshots ? habits.snapshotPercent : 0) {
            server.wantSnapshot()
        }
    }

    /// Begins a snapshot of the last appended row.
    func begin(_ snapshot: ServerSnapshot) {
        run = Run(
            snapshot: snapshot,
            made: SimulatedSnapshot(
                number: faults?.snapshotNumber(lastNumber) ?? lastNumber, lastNumber: 0,
                parts: []))
    }

    private func finishSnapshot() {
        guard let run, run.snapshot.isComplete else { return }
        let isEarly = faults?.usesSnapshotsEarly ?? false
        guard isEarly || run.made.lastNumber <= committedNumber else { return }
        self.run = nil
        snapshotCount += 1
        snapshots.append(run.made)
        if snapshots.count > 2 { snapshots.removeFirst() }
        guard snapshots.count == 2, random.chance(habits.trimPercent) else { return }
        let kept = snapshots[faults?.trimsTooFar ?? false ? 1 : 0].number
        trimmedSequence = rows.last { $0.number <= kept }?.batch.sequence ?? trimmedSequence
        rows.removeAll { $0.number <= kept }
    }
}

// MARK: - Crashes
extension SimulatedJournal {
    /// Simulates a crash: keeps the committed rows and a random prefix of the others. With
    /// `isPowerCut`, as in a journal that does not wait for the disk, rows whose commit was
    /// reported may be lost as well. Returns whether a power cut lost committed rows.
    func crash(isPowerCut: Bool) -> Bool {
        if run != nil { brokenSnapshotCount += 1 }
        run = nil
        let held = committedNumber
        var surest = held
        if isPowerCut || faults?.losesReported ?? false {
            surest = min(held, snapshots.last?.lastNumber ?? 0)
        }
        let survivor = UInt64.random(in: surest...max(surest, lastNumber), using: &random)
        cut(to: survivor, torn: faults?.torn(rows, behind: survivor))
        return survivor < held && isPowerCut
    }

    /// Drops the rows that are not committed, because the disk is full.
    func refuse() {
        if run != nil { brokenSnapshotCount += 1 }
        run?.snapshot.cancel()
        run = nil
        cut(to: committedNumber, torn: nil)
    }

    private func cut(to number: UInt64, torn: [SimulatedRow]?) {
        rows = torn ?? rows.filter { $0.number <= number }
        lastNumber = torn?.last?.number ?? number
        committedNumber = lastNumber
        sequence = rows.last?.batch.sequence ?? trimmedSequence
    }

    /// Erases everything; a history of the epoch `epoch` begins.
    func erase(before epoch: UInt64) {
        run = nil
        snapshots = []
        trimmedSequence = 0
        cut(to: 0, torn: [])
        lastNumber = 0
        committedNumber = 0
        self.epoch = epoch
    }

    /// Stops taking snapshots, since the world cannot continue.
    func end() { takesSnapshots = false }

    /// Begins a new epoch after the journal has lost its end.
    func begin(_ epoch: UInt64) { self.epoch = epoch }

    /// Restores `recovery` to the end of the journal.
    func recover(_ recovery: Recovery) throws(RecoveryError) {
        var snapshot = snapshots.last
        if snapshots.count > 1, random.chance(habits.olderPercent) { snapshot = snapshots.first }
        let parts = faults?.chosenParts(of: snapshot, among: snapshots) ?? snapshot?.parts ?? []
        for part in parts { try recovery.restore(part) }
        let number = snapshot?.number ?? 0
        var replayed = rows.filter { $0.number > number }
        faults?.tamper(with: &replayed, among: rows)
        for row in replayed { try recovery.replay(row.batch) }
    }
}

extension Batch {
    /// The batch's delta frames. *Cost*: copies them.
    package var deltaBytes: [UInt8] { Array(deltas.storage[deltas.range]) }

    /// The batch with other bytes: what a faulty journal makes of it.
    package func replacing(deltas: [UInt8]? = nil, facts: [UInt8]? = nil) -> Batch {
        Batch(
            turn: turn, epoch: epoch, after: after, sequence: sequence,
            deltas: deltas.map { ByteSlice($0) } ?? self.deltas, facts: facts ?? self.facts,
            isDurable: isDurable)
    }
}
