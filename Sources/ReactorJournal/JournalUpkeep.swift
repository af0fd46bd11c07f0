import GRDB
import ReactorThreads

/// Checkpoints and trims on a thread and a connection of their own, so that commits go on.
///
/// *Owner*: the upkeep's thread, but for what is said otherwise.
final class JournalUpkeep: Sendable {
    /// What the upkeep's thread is asked for.
    enum Order: Sendable {
        case checkpoint
        case trim(JournalTrimOrder)
        case stop
    }

    /// Orders, in order; any thread posts.
    let mailbox: Mailbox<Order>
    /// Whoever writes is inside; any thread.
    let gate = JournalGate()
    /// What may be written while rows are being trimmed; any thread.
    let pace: TrimPace
    /// Raised when the journal is being closed, so that nothing long is begun; any thread.
    let isStopping = Flag()
    /// Raised by the committer when the file says that nobody writes any more.
    let isClosedCleanly = Flag()
    private let bell = Bell()
    private let directory: DataDirectory
    private let database: JournalDatabase
    private let tuning: JournalTuning
    private let voice: JournalVoice
    private let uncheckpointed = Guarded(0)
    private let shrinker: JournalShrinker

    init(
        _ directory: DataDirectory, durability: JournalDurability, tuning: JournalTuning,
        voice: JournalVoice
    ) throws(JournalError) {
        self.directory = directory
        self.tuning = tuning
        self.voice = voice
        pace = TrimPace(byteCountMax: tuning.trimAheadByteCount)
        mailbox = Mailbox { [bell] in bell.ring() }
        // because it waits for another process inside the gate, it does not wait
        database = try JournalFile.writer(
            in: directory, durability: durability, busyMilliseconds: 0)
        shrinker = JournalShrinker(
            database: database, directory: directory, gate: gate, tuning: tuning)
        try database.run("opening") { $0.setLogStays(true) }
    }

    /// Counts the bytes that a commit is about to write; whether a checkpoint is due behind it.
    /// *Owner*: whoever commits.
    func isDue(behind byteCount: Int) -> Bool {
        // because the least that a commit writes is a page and its header
        let written = max(byteCount, tuning.pageByteCount) + 24
        return uncheckpointed.withLock { count in
            count += written
            guard count >= tuning.checkpointByteCount else { return false }
            count = 0
            return true
        }
    }

    /// Has rows trimmed; from here on the writer may write no more than the pace allows.
    /// *Owner*: any thread.
    func trim(_ order: JournalTrimOrder) {
        pace.begin()
        mailbox.post(.trim(order))
    }

    private struct State {
        let trimmer: JournalTrimmer
        /// From which length of the log on it is to begin anew.
        var restartByteCount: Int
        var isFull = false
        var isRead = false
        var isRunning = true
        /// Whether a checkpoint is asked for.
        var isDue = false
        /// Whether the file may hold more empty pages than it keeps.
        var mayShrink = false
        /// Whether the file is being made shorter.
        var isShrinking = false
        /// How far rows are to be trimmed.
        var goal: TrimGoal?
    }

    /// Trims that are asked for, as one.
    private struct TrimGoal {
        var number: UInt64
        var retention: JournalRetention
        var orders: [JournalTrimOrder]
    }

    /// Runs until it is told to stop.
    func run() {
        var state = State(
            trimmer: JournalTrimmer(
                database: database, directory: directory, gate: gate, tuning: tuning),
            restartByteCount: tuning.restartByteCount)
        while state.isRunning {
            if state.goal == nil, !state.mayShrink { bell.wait() }
            takeOrders(&state)
            guard state.isRunning else { break }
            if let goal = state.goal {
                state.goal = nil
                trim(goal, &state)
                state.isDue = true
            } else if state.mayShrink {
                shrink(&state)
            }
            if state.isDue { checkpoint(&state) }
        }
        // A trim that was asked for in time removes a few rows.
        if let goal = state.goal { trim(goal, &state) }
        close()
    }

    private func takeOrders(_ state: inout State) {
        for order in mailbox.drain() {
            switch order {
            case .checkpoint: state.isDue = true
            case .trim(let order): take(order, &state)
            case .stop: state.isRunning = false
            }
        }
    }

    /// Removes the snapshots that are not needed any more, and takes note of how far rows may go.
    private func take(_ order: JournalTrimOrder, _ state: inout State) {
        let number: UInt64
        do throws(JournalError) {
            switch order.bound {
            case .row(let row): number = row
            case .snapshots(let count):
                defer { voice.deliver { order.onRemoved.take()?() } }
                number = try SnapshotShelf(directory).removeOlder(keeping: count) ?? 0
            }
        } catch {
            if error.isOfDisk { directory.health.report(error) }
            return end(
                TrimGoal(number: 0, retention: order.retention, orders: [order]), .failure(error))
        }
        var goal = state.goal ?? TrimGoal(number: 0, retention: order.retention, orders: [])
        goal.number = max(goal.number, number)
        goal.retention = order.retention
        goal.orders.append(order)
        state.goal = goal
    }

    private func close() {
        guard directory.health.isGood else { return database.abandon() }
        // because a log that is missing says that it was lost, unless the file says that it may
        if isClosedCleanly.isUp {
            try? database.run("closing") { $0.setLogStays(false) }
        }
        try? database.close()
    }

    private func checkpoint(_ state: inout State) {
        state.isDue = false
        do throws(JournalError) {
            try tuning.faults.checkpoint?()
            try directory.health.check()
            // because SQLite before 3.51.3 may lose commits where one begins the log anew while a
            // checkpoint starts; and none does before what is in the log now is in the file
            let extent = try gate.upkeep { () throws(JournalError) in
                try database.run("checkpointing") { $0.logExtent }
            }
            if let extent, extent.frameCount == extent.checkpointedFrameCount { return }
            // because this one waits for nobody, and nobody waits for it
            let log = try database.checkpoint(.passive)
            state.isFull = false
            let byteCount = log.frameCount * (tuning.pageByteCount + 24)
            guard byteCount >= state.restartByteCount else { return }
            try restart(byteCount, &state)
        } catch {
            fail(error, &state)
        }
    }

    private func restart(_ byteCount: Int, _ state: inout State) throws(JournalError) {
        do throws(JournalError) {
            try gate.upkeep { () throws(JournalError) in
                try directory.health.check()
                try database.commit("checkpointing", pageCount: 16) { db in
                    let meta = MetaTable(db, in: database.file)
                    try meta.setFloorToEnd(of: try meta.instance())
                }
                try database.checkpoint(.restart)
            }
            state.restartByteCount = tuning.restartByteCount
            state.isRead = false
        } catch {
            guard error.isLocked else { throw error }
            // because who reads now is likely to read on, and each try holds up a commit
            state.restartByteCount = byteCount + tuning.restartByteCount / 2
            if !state.isRead { voice.alarm(.logIsRead(byteCount: byteCount)) }
            state.isRead = true
        }
    }

    // because what was not moved is still in the log, and moved at the next one; only a disk that
    // failed is not to be relied on
    private func fail(_ error: JournalError, _ state: inout State) {
        if error.isFull {
            if !state.isFull { voice.alarm(.checkpointFull(message: "\(error)")) }
            state.isFull = true
        } else if error.isOfDisk || error.isDamage {
            directory.health.report(error)
        }
    }

    private func trim(_ goal: TrimGoal, _ state: inout State) {
        var count = 0
        let trimmer = state.trimmer
        let result = Result { () throws(JournalError) in
            try trimmer.trim(behind: goal.number, keeping: goal.retention) {
                tuning.faults.trim?()
                count += 1
                // Another snapshot may be there by now: the oldest goes at once.
                takeOrders(&state)
                // because what is deleted is written to the log as well
                if count % tuning.trimsPerCheckpoint == 0 || state.isDue { checkpoint(&state) }
                return !isStopping.isUp
            }
        }
        if case .failure(let error) = result, error.isOfDisk { directory.health.report(error) }
        if case .success(let trim) = result, trim.rowCount > 0 { state.mayShrink = true }
        end(goal, result)
    }

    private func end(_ goal: TrimGoal, _ result: Result<JournalTrim, JournalError>) {
        for (index, order) in goal.orders.enumerated() {
            pace.end()
            // The rows were removed once, whoever asked for it.
            let result =
                index == 0 ? result : result.map { JournalTrim(rowCount: 0, anchor: $0.anchor) }
            voice.deliver { order.onTrimmed.take()?(result) }
        }
    }

    // A file that stays as long as it is loses nothing, so what is in the way is not reported.
    private func shrink(_ state: inout State) {
        do throws(JournalError) {
            if !state.isShrinking { state.isShrinking = try shrinker.isDue() }
            let goesOn = state.isShrinking && !isStopping.isUp
            state.mayShrink = goesOn ? try shrinker.step() : false
            state.isDue = state.isDue || goesOn
        } catch {
            state.mayShrink = false
            if error.isOfDisk || error.isDamage { directory.health.report(error) }
        }
        if !state.mayShrink { state.isShrinking = false }
    }
}

/// A trim that is asked for.
struct JournalTrimOrder: Sendable {
    let bound: JournalBound
    let retention: JournalRetention
    /// Called on the owner's thread once the snapshots that are not kept are gone.
    let onRemoved: Parcel<() -> Void>
    /// Called on the owner's thread once the rows are gone.
    let onTrimmed: Parcel<(Result<JournalTrim, JournalError>) -> Void>

    init(
        _ bound: JournalBound, _ retention: JournalRetention,
        onRemoved: @escaping () -> Void = {},
        onTrimmed: @escaping (Result<JournalTrim, JournalError>) -> Void
    ) {
        self.bound = bound
        self.retention = retention
        self.onRemoved = Parcel(onRemoved)
        self.onTrimmed = Parcel(onTrimmed)
    }
}

/// Up to where a journal may be trimmed.
enum JournalBound: Sendable {
    /// Up to a row that a snapshot stands for.
    case row(UInt64)
    /// As far as so many snapshots, the newest, allow; others are removed.
    case snapshots(Int)
}

extension JournalError {
    /// Whether what was read is not what was written.
    var isDamage: Bool {
        guard case .damage = self else { return false }
        return true
    }
}
