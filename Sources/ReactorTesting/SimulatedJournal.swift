import ReactorBytes
import ReactorCore
public import ReactorServer

/// A journal and its snapshots, in memory, which loses at a crash what a disk would lose.
///
/// Rows that were committed survive, whether that was reported or not; of those behind them a
/// prefix may. A snapshot counts once every row is committed that was handed over before its end;
/// one that is under way at a crash never was.
///
/// *Place*: in a ``SimulatedWorld`` that keeps history. *Owner*: that world.
public final class SimulatedJournal {
    /// A turn's batch, as it rests.
    public struct Row: Sendable {
        /// Counts rows from 1 on, without gaps.
        public let number: UInt64
        /// What it holds.
        public var row: HistoryRow
    }

    /// A snapshot that may be used.
    struct Snapshot {
        /// The row that it is of.
        var number: UInt64
        /// The last row that had been handed over at its end.
        var lastNumber: UInt64
        var parts: [[UInt8]]
    }

    /// A snapshot that is being gathered.
    private struct Run {
        var snapshot: ServerSnapshot
        var made: Snapshot
    }

    /// In how many of a hundred turns a snapshot is begun.
    public var snapshotPercent = 10
    /// In how many of a hundred turns one that was begun is gathered on.
    public var gatherPercent = 60
    /// Nodes, or sessions, that are gathered at once, at most.
    public var gatherCountMax = 5
    /// How many of a hundred snapshots have the rows behind the older one trimmed.
    public var trimPercent = 50
    /// How many of a hundred starts take the older snapshot, if there is one.
    public var olderPercent = 25

    /// Rows that were not trimmed, in ascending order.
    public private(set) var rows: [Row] = []
    /// The row that was handed over last; 0 before the first.
    public private(set) var lastNumber: UInt64 = 0
    /// The row that was committed last.
    public private(set) var committedNumber: UInt64 = 0
    /// How many snapshots were finished.
    public private(set) var snapshotCount = 0
    /// How many snapshots ended with a crash, or a full disk.
    public private(set) var brokenSnapshotCount = 0
    /// The usable ones, the newest last.
    var snapshots: [Snapshot] = []
    /// The history that goes on.
    private(set) var epoch: UInt64
    /// Sequence as of the last row.
    private(set) var sequence: UInt64 = 0
    /// Sequence as of the last row that was trimmed.
    private var trimmedSequence: UInt64 = 0
    private var run: Run?
    private var answered = 0
    private var random: SeededRandom
    let saboteur: HistorySaboteur?

    /// Makes an empty journal of a history that begins with `epoch`.
    public init(seed: UInt64, epoch: UInt64, fault: PlantedFault? = nil) {
        random = SeededRandom(seed: seed ^ 0x6a6f_7572_6e61_6c)
        self.epoch = epoch
        saboteur = fault.map { HistorySaboteur($0) }
    }

    /// Takes a batch, and says which row it will be.
    func hand(_ batch: Batch) -> UInt64 {
        lastNumber += 1
        var row = HistoryRow(
            epoch: batch.epoch, after: batch.after, sequence: batch.sequence,
            deltas: batch.deltaBytes, facts: batch.facts)
        saboteur?.tamper(with: &row)
        rows.append(Row(number: lastNumber, row: row))
        sequence = batch.sequence
        return lastNumber
    }

    /// Holds the rows up to `number` from here on, whatever happens.
    func commit(_ number: UInt64) {
        committedNumber = max(committedNumber, number)
        finishSnapshot()
    }
}

// MARK: - The past
extension SimulatedJournal {
    /// How often somebody missed more than memory holds, and was answered.
    public var answerCount: Int { answered }

    /// The changes that a client missed of a node; nil where the rows are not all there any more.
    func missed(_ question: HistoryQuestion) -> [UInt8]? {
        let asked = rows.map(\.row).filter {
            $0.epoch == question.epoch && $0.sequence > question.after
                && $0.after < question.upTo
        }
        guard let first = asked.first, first.after <= question.after,
            asked.last?.sequence ?? 0 >= question.upTo
        else { return nil }
        var frames: [UInt8] = []
        for row in asked {
            guard question.take(row.deltas, into: &frames) else { return nil }
        }
        answered += 1
        return frames
    }
}

// MARK: - Snapshots
extension SimulatedJournal {
    /// Begins a snapshot, or goes on with one; after a turn.
    func lookAfterTurn(of server: Server) {
        if let snapshot = run?.snapshot {
            guard !snapshot.isComplete, random.chance(gatherPercent) else { return }
            let parts = snapshot.gather(Int.random(in: 1...gatherCountMax, using: &random))
            for part in parts.map({ $0() }) {
                run?.made.parts.append(saboteur?.tampered(part) ?? part)
            }
            guard snapshot.isComplete else { return }
            run?.made.lastNumber = lastNumber
            finishSnapshot()
        } else if !server.isReadOnly, random.chance(snapshotPercent) {
            server.wantSnapshot()
        }
    }

    /// A snapshot has begun, of the row that was handed over last.
    func begin(_ snapshot: ServerSnapshot) {
        run = Run(
            snapshot: snapshot,
            made: Snapshot(
                number: saboteur?.snapshotNumber(lastNumber) ?? lastNumber, lastNumber: 0,
                parts: []))
    }

    private func finishSnapshot() {
        guard let run, run.snapshot.isComplete else { return }
        let isEarly = saboteur?.fault == .earlySnapshots
        guard isEarly || run.made.lastNumber <= committedNumber else { return }
        self.run = nil
        snapshotCount += 1
        snapshots.append(run.made)
        if snapshots.count > 2 { snapshots.removeFirst() }
        guard snapshots.count == 2, random.chance(trimPercent) else { return }
        let kept = saboteur?.fault == .trimmedTooFar ? snapshots[1].number : snapshots[0].number
        trimmedSequence = rows.last { $0.number <= kept }?.row.sequence ?? trimmedSequence
        rows.removeAll { $0.number <= kept }
    }
}

// MARK: - Crashes
extension SimulatedJournal {
    /// Loses what was not committed, but for a prefix of it; with `isPowerCut`, of a journal that
    /// does not wait for the disk, also rows that were reported. Says whether it lost any of those.
    func crash(isPowerCut: Bool) -> Bool {
        if run != nil { brokenSnapshotCount += 1 }
        run = nil
        let held = committedNumber
        var surest = held
        if isPowerCut || saboteur?.fault == .lostAcknowledged {
            surest = min(held, snapshots.last?.lastNumber ?? 0)
        }
        let survivor = UInt64.random(in: surest...max(surest, lastNumber), using: &random)
        cut(to: survivor, torn: saboteur?.torn(rows, behind: survivor))
        return survivor < held && isPowerCut
    }

    /// Refuses what it was handed and does not hold, because the disk is full.
    func refuse() {
        if run != nil { brokenSnapshotCount += 1 }
        run?.snapshot.cancel()
        run = nil
        cut(to: committedNumber, torn: nil)
    }

    private func cut(to number: UInt64, torn: [Row]?) {
        rows = torn ?? rows.filter { $0.number <= number }
        lastNumber = torn?.last?.number ?? number
        committedNumber = lastNumber
        sequence = rows.last?.row.sequence ?? trimmedSequence
    }

    /// Takes no snapshots any more: nothing can go on from here.
    func end() { snapshotPercent = 0 }

    /// Begins another history where the one at hand lost its end.
    func begin(_ epoch: UInt64) { self.epoch = epoch }

    /// Puts `recovery` to where the journal ends.
    func recover(_ recovery: Recovery) throws(RecoveryError) {
        var snapshot = snapshots.last
        if snapshots.count > 1, random.chance(olderPercent) { snapshot = snapshots.first }
        let parts = saboteur?.chosenParts(of: snapshot, among: snapshots) ?? snapshot?.parts ?? []
        for part in parts { try recovery.restore(part) }
        let number = snapshot?.number ?? 0
        var replayed = rows.filter { $0.number > number }
        saboteur?.tamper(with: &replayed, among: rows)
        for row in replayed { try recovery.replay(row.row) }
    }
}

extension Batch {
    /// Its delta frames. *Cost*: copies them.
    public var deltaBytes: [UInt8] { Array(deltas.storage[deltas.range]) }
}
