import ReactorThreads

/// Checkpoints and trims on its own thread and connection, so that commits continue.
///
/// *Owner*: the upkeep's thread, unless stated otherwise.
final class JournalUpkeep: Sendable {
    /// A request to the upkeep's thread.
    enum Order: Sendable {
        case checkpoint
        case trim(JournalTrimOrder)
        case stop
    }

    /// Requests in their order; any thread posts.
    let mailbox: Mailbox<Order>
    /// Held by the thread that writes; any thread.
    let gate = JournalGate()
    /// Held by the upkeep's thread while it works, so that another thread can keep it from working.
    let work = Lock()
    /// Limits the bytes written during a trim; any thread.
    let pace: TrimPace
    /// Raised when the journal is closing, so that no long work begins; any thread.
    let isStopping = Flag()
    /// Raised by the committer once the file is marked as closed.
    let isClosedCleanly = Flag()
    /// Whether trims return nearly all empty pages to the file system; any thread.
    let isSpaceScarce = Guarded(false)
    private let bell = Bell()
    private let directory: DataDirectory
    private let database: JournalDatabase
    private let tuning: JournalTuning
    private let notifier: JournalNotifier
    private let uncheckpointed = Guarded(0)
    private let shrinker: JournalShrinker
    // A transaction inside the gate that waited for the disk would delay each commit as long as
    // another commit does.
    /// Whether the log is made durable before each transaction of upkeep, outside the gate. So at
    /// most one transaction in the log, behind durable commits, is not durable: a check of the log
    /// relies on that, see ``WriteAheadLog``.
    private let synchronizesLog: Bool

    init(
        _ directory: DataDirectory, durability: JournalDurability, tuning: JournalTuning,
        notifier: JournalNotifier
    ) throws(JournalError) {
        self.directory = directory
        self.tuning = tuning
        self.notifier = notifier
        pace = TrimPace(byteCountMax: tuning.trimAheadByteCount)
        mailbox = Mailbox { [bell] in bell.ring() }
        // It waits for other connections inside the gate, so SQLite itself must not wait for them.
        // And it does not wait for the disk there: see `synchronizesLog`.
        database = try JournalFile.writer(
            in: directory, durability: .relaxed, busyMilliseconds: 0)
        synchronizesLog = durability == .strict
        shrinker = JournalShrinker(
            database: database, directory: directory, gate: gate, tuning: tuning,
            synchronizesLog: synchronizesLog)
        try database.run("opening") { $0.setLogStays(true) }
    }

    /// Counts the bytes that a commit is about to write; returns whether a checkpoint is due after
    /// it. *Owner*: the thread that commits.
    func isDue(behind byteCount: Int) -> Bool {
        // A commit writes at least one page and its header.
        let written = max(byteCount, tuning.pageByteCount) + 24
        return uncheckpointed.withLock { count in
            count += written
            guard count >= tuning.checkpointByteCount else { return false }
            count = 0
            return true
        }
    }

    /// Requests a trim. From now on the writer is limited by ``pace``. *Owner*: any thread.
    func trim(_ order: JournalTrimOrder) {
        pace.begin()
        mailbox.post(.trim(order))
    }

    private struct State {
        let trimmer: JournalTrimmer
        /// Length of the log from which it is restarted.
        var restartByteCount: Int
        var isFull = false
        var isRead = false
        var isRunning = true
        /// Whether a checkpoint was requested.
        var isDue = false
        /// Whether the file may have more empty pages than it should keep.
        var mayShrink = false
        /// Whether empty pages are being removed.
        var isShrinking = false
        /// The pending trim.
        var goal: TrimGoal?
    }

    /// All pending trim requests, combined.
    private struct TrimGoal {
        var number: UInt64
        var retention: JournalRetention
        var orders: [JournalTrimOrder]
    }

    /// Runs until the stop request.
    func run() {
        var state = State(
            trimmer: JournalTrimmer(
                database: database, directory: directory, gate: gate, tuning: tuning,
                synchronizesLog: synchronizesLog),
            restartByteCount: tuning.restartByteCount)
        while state.isRunning {
            if state.goal == nil, !state.mayShrink { bell.wait() }
            work.withLock { advance(&state) }
        }
        // A trim requested before the stop still removes a few rows.
        if let goal = state.goal { trim(goal, &state) }
        close()
    }

    private func advance(_ state: inout State) {
        takeOrders(&state)
        guard state.isRunning else { return }
        if let goal = state.goal {
            state.goal = nil
            trim(goal, &state)
            state.isDue = true
        } else if state.mayShrink {
            shrink(&state)
        }
        if state.isDue { checkpoint(&state) }
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

    /// Removes old snapshots, and records up to which row the journal may be trimmed.
    private func take(_ order: JournalTrimOrder, _ state: inout State) {
        let number: UInt64
        do throws(JournalError) {
            switch order.bound {
            case .row(let row): number = row
            case .snapshots(let count):
                defer { notifier.deliver { order.onRemoved.take()?() } }
                number = try SnapshotStore(directory).removeOlder(keeping: count) ?? 0
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
        // Without the mark, a missing log means that the log was lost. It may be removed only after
        // a clean close.
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
            // SQLite before 3.51.3 may lose commits if one connection restarts the log while
            // another starts a checkpoint. No connection restarts it before its whole content is in
            // the file.
            let extent = try gate.upkeep { () throws(JournalError) in
                try database.run("checkpointing") { $0.logExtent }
            }
            if let extent, extent.frameCount == extent.checkpointedFrameCount { return }
            // Outside the gate: a passive checkpoint waits for no other connection, and none waits
            // for it.
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
            // A passive checkpoint that a reader holds up does not synchronize the log.
            if synchronizesLog { try directory.synchronize(JournalFile.logName) }
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
            // A process that reads now is likely to continue, and each attempt delays a commit.
            state.restartByteCount = byteCount + tuning.restartByteCount / 2
            if !state.isRead { notifier.alarm(.logIsRead(byteCount: byteCount)) }
            state.isRead = true
        }
    }

    // Frames that were not moved stay in the log for the next checkpoint. Only a failed disk is
    // fatal.
    private func fail(_ error: JournalError, _ state: inout State) {
        if error.isFull {
            if !state.isFull { notifier.alarm(.checkpointFull(message: "\(error)")) }
            state.isFull = true
        } else if error.isOfDisk || error.isDamage {
            directory.health.report(error)
        }
    }

    private func trim(_ goal: TrimGoal, _ state: inout State) {
        var count = 0
        let trimmer = state.trimmer
        let result = Result { () throws(JournalError) in
            try trimmer.trim(behind: goal.number, keeping: goal.retention) { deletedByteCount in
                tuning.faults.trim?()
                pace.trimmed(deletedByteCount)
                count += 1
                // Another snapshot may be complete by now, so the oldest can be removed at once.
                takeOrders(&state)
                // Deletions are written to the log too.
                if count % tuning.trimsPerCheckpoint == 0 || state.isDue { checkpoint(&state) }
                return !isStopping.isUp
            }
        }
        if case .failure(let error) = result, error.isOfDisk { directory.health.report(error) }
        if case .success(let trim) = result, trim.rowCount > 0 { state.mayShrink = true }
        if isSpaceScarce.withLock({ $0 }) { shrinkAll(&state) }
        end(goal, result)
    }

    private func end(_ goal: TrimGoal, _ result: Result<JournalTrim, JournalError>) {
        for (index, order) in goal.orders.enumerated() {
            pace.end()
            // The rows were removed once, so only the first request reports their number.
            let result =
                index == 0 ? result : result.map { JournalTrim(rowCount: 0, anchor: $0.anchor) }
            notifier.deliver { order.onTrimmed.take()?(result) }
        }
    }

    /// Returns the empty pages to the file system before a trim is reported: its caller waits for
    /// the space.
    private func shrinkAll(_ state: inout State) {
        checkpoint(&state)
        state.mayShrink = true
        while state.mayShrink, !isStopping.isUp {
            shrink(&state)
            if state.isDue { checkpoint(&state) }
        }
    }

    // A file that cannot shrink loses no data, so obstacles are not reported.
    private func shrink(_ state: inout State) {
        do throws(JournalError) {
            let isScarce = isSpaceScarce.withLock { $0 }
            if !state.isShrinking { state.isShrinking = try shrinker.isDue(isScarce: isScarce) }
            let goesOn = state.isShrinking && !isStopping.isUp
            state.mayShrink = goesOn ? try shrinker.step(isScarce: isScarce) : false
            state.isDue = state.isDue || goesOn
        } catch {
            state.mayShrink = false
            if error.isOfDisk || error.isDamage { directory.health.report(error) }
        }
        if !state.mayShrink { state.isShrinking = false }
    }
}

/// A requested trim.
struct JournalTrimOrder: Sendable {
    let bound: JournalBound
    let retention: JournalRetention
    /// Called on the owner's thread once old snapshots have been removed.
    let onRemoved: OwnedValue<() -> Void>
    /// Called on the owner's thread once old rows have been deleted.
    let onTrimmed: OwnedValue<(Result<JournalTrim, JournalError>) -> Void>

    init(
        _ bound: JournalBound, _ retention: JournalRetention,
        onRemoved: @escaping () -> Void = {},
        onTrimmed: @escaping (Result<JournalTrim, JournalError>) -> Void
    ) {
        self.bound = bound
        self.retention = retention
        self.onRemoved = OwnedValue(onRemoved)
        self.onTrimmed = OwnedValue(onTrimmed)
    }
}

/// The upper end of a trim.
enum JournalBound: Sendable {
    /// Up to a row that is covered by a snapshot.
    case row(UInt64)
    /// Keeps this number of the newest snapshots, and trims up to the oldest of them.
    case snapshots(Int)
}
