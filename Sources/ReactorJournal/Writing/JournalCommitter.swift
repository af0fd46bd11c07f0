import ReactorBytes
import ReactorThreads

/// Commits batches; all waiting batches form one transaction.
///
/// *Owner*: the journal's thread, except ``mailbox`` and ``commitAtOnce(_:)``, which belong to the
/// journal's owner.
final class JournalCommitter: Sendable {
    /// A request to the journal's thread.
    enum Order: Sendable {
        case batch(Batch)
        /// Rows that were numbered elsewhere, with the words of the log that has them.
        case rows([JournalRow], log: [UInt64])
        /// Makes everything before it durable.
        case synchronize
        /// Rings once everything before it is stored, or was refused.
        case ring(Bell)
        case resume
        case stop
    }

    /// Requests in their order; any thread posts.
    let mailbox: Mailbox<Order>
    private let bell = Bell()
    private let directory: DataDirectory
    private let database: JournalDatabase
    private let log: JournalLog
    private let tuning: JournalTuning
    private let upkeep: JournalUpkeep
    private let notifier: JournalNotifier
    /// *Owner*: the thread that commits. It takes orders out of ``mailbox`` inside this lock, so
    /// that no other thread commits a later batch first.
    private let state: Guarded<State>
    /// The latest time of a row, in milliseconds since 1970; any thread.
    let latestTime: Guarded<Int64>
    /// The last row that is known to survive a power cut; any thread.
    let durableNumber = Guarded<UInt64>(0)
    private let instance: JournalInstance
    private let files: [(name: String, identity: FileIdentity?)]
    /// Whether a commit is durable when it returns.
    private let isStrict: Bool

    init(
        _ directory: DataDirectory, durability: JournalDurability,
        after position: JournalPosition, tuning: JournalTuning, upkeep: JournalUpkeep,
        notifier: JournalNotifier
    ) throws(JournalError) {
        self.directory = directory
        self.tuning = tuning
        self.upkeep = upkeep
        self.notifier = notifier
        mailbox = Mailbox { [bell] in bell.ring() }
        isStrict = durability == .strict
        let identity = directory.identity(of: JournalFile.name)
        database = try JournalFile.writer(
            in: directory, durability: durability, busyMilliseconds: tuning.lockedMilliseconds)
        let found = try Self.readEnd(expecting: position, in: database)
        instance = found.instance
        log = JournalLog(
            database: database, directory: directory, durability: durability, tuning: tuning)
        var state = State(
            position: position,
            clock: JournalClock(found.steps, wall: tuning.now(), uptime: tuning.uptime()))
        // While a former process may go on with the journal, the first commit begins the log.
        if directory.isClaimed {
            do throws(JournalError) {
                try log.begin()
                state.isBegun = true
            } catch {
                guard error.isFull || error.isLocked else { throw error }
            }
        }
        // Opened now, since no descriptor may be available later.
        if state.isBegun, !isStrict {
            state.logFile = try Self.openLog(in: directory, tuning)
        }
        // A full disk has no room for a new file; only the rows are essential.
        state.released = try? ReleasedRowFile(
            in: directory, of: instance, at: position, durability: durability,
            boot: tuning.boot())
        self.state = Guarded(state)
        latestTime = Guarded(position.time)
        files = [
            (JournalFile.name, identity),
            (JournalFile.logName, directory.identity(of: JournalFile.logName)),
        ]
        try checkIdentities()
    }

    /// Whether batches are accepted, and otherwise the reason.
    private enum Status {
        case accepting
        case full
        case broken
        case closed
    }

    private struct State {
        var position: JournalPosition
        var clock: JournalClock
        var status = Status.accepting
        var isBegun = false
        var isWaiting = false
        /// The write-ahead log, to be made durable for batches that require it.
        var logFile: OpenFile?
        /// Records the last row whose outputs may leave.
        var released: ReleasedRowFile?
        /// The directory's change time at the last check of its file names.
        var directoryTime: Int64?
    }

    /// What the next commit stores: batches, or rows that were numbered elsewhere.
    private struct WaitingRows {
        var batches: [Batch] = []
        private(set) var rows: [JournalRow] = []
        /// The words of the log that has the last of ``rows``.
        private(set) var log: [UInt64]?

        mutating func append(_ rows: [JournalRow], _ log: [UInt64]) {
            self.rows += rows
            self.log = log
        }

        /// The turn of the first, or its row number if it was numbered elsewhere; the same of the
        /// last.
        var turns: ClosedRange<UInt64>? {
            guard let first = batches.first?.turn ?? rows.first?.number,
                let last = batches.last?.turn ?? rows.last?.number
            else { return nil }
            return first...last
        }
    }

    /// Runs until the stop request.
    func run() {
        var orders: [Order] = []
        var isRunning = true
        while isRunning {
            bell.wait()
            isRunning = state.withLock { state in carryOut(&orders, &state) }
        }
        state.withLock { close(&$0) }
    }

    /// Executes the requests; returns false after the stop request.
    private func carryOut(_ orders: inout [Order], _ state: inout State) -> Bool {
        mailbox.drain(into: &orders)
        var isRunning = true
        var waiting = WaitingRows()
        for order in orders {
            switch order {
            case .batch(let batch): waiting.batches.append(batch)
            case .rows(let rows, let log): waiting.append(rows, log)
            case .synchronize:
                commit(&waiting, &state)
                synchronize(&state)
            case .ring(let bell):
                commit(&waiting, &state)
                bell.ring()
            case .resume:
                commit(&waiting, &state)
                if state.status == .full { state.status = .accepting }
                upkeep.mailbox.post(.checkpoint)
            case .stop: isRunning = false
            }
        }
        orders.removeAll(keepingCapacity: true)
        commit(&waiting, &state)
        return isRunning
    }

    /// Commits a batch on the calling thread, if that is cheaper than waking another thread.
    /// Returns whether the batch is stored, or nil if it must be posted to the mailbox.
    ///
    /// A commit that does not wait for the disk takes 20 µs, as long as waking a thread. Commits
    /// that may wait go to the journal's thread: for the disk, another process's lock, a
    /// checkpoint, or many pages.
    func commitAtOnce(_ batch: Batch) -> Bool? {
        guard !isStrict, !batch.isDurable, tuning.faults.commit == nil,
            batch.deltas.count + batch.facts.count <= tuning.atOnceByteCount
        else { return nil }
        let result: Bool?? = state.withLockIfFree { state in
            guard state.status == .accepting, state.isBegun, !state.isWaiting, mailbox.isEmpty
            else {
                return nil
            }
            let result: Bool?? = upkeep.gate.commitIfFree { commitAtOnce(batch, &state) }
            return result ?? nil
        }
        return result ?? nil
    }

    private func commitAtOnce(_ batch: Batch, _ state: inout State) -> Bool? {
        do throws(JournalError) {
            let rows = try rows(of: [batch], &state)
            guard upkeep.pace.admit(rows[0].byteCount) else { return nil }
            let isDue = upkeep.isDue(behind: rows[0].byteCount)
            try insert(rows, &state, setsFloor: isDue, waitsForOthers: false)
            try checkIdentities(&state)
            state.position = rows[0].position
            state.released?.record(state.position)
            if isDue { upkeep.mailbox.post(.checkpoint) }
            return true
        } catch {
            guard !error.isLocked else { return nil }
            fail(error, batch.turn, &state)
            return false
        }
    }

    // Errors are ignored where the next start detects the consequence.
    private func close(_ state: inout State) {
        let isAccepting = state.status == .accepting
        state.status = .closed
        // A former process may go on with the journal, which is still open then.
        guard directory.health.isGood, directory.isClaimed else { return database.abandon() }
        let end = Result { () throws(JournalError) in
            guard isAccepting, state.isBegun else { return false }
            try checkIdentities()
            try upkeep.gate.commit { () throws(JournalError) in
                try log.end(at: state.position.number, of: instance)
            }
            // After this, a power cut leaves the record of the last row, and not of an earlier one.
            if state.released != nil { try directory.synchronize(ReleasedRow.fileName) }
            return true
        }
        if case .success(true) = end { upkeep.isClosedCleanly.raise() }
        if case .failure(let error) = end, error.isOfDisk {
            _ = directory.health.recordFailure(error)
            return database.abandon()
        }
        try? database.close()
    }

    // What cannot be stored is dropped, so `waiting` is empty afterwards in any case.
    private func commit(_ waiting: inout WaitingRows, _ state: inout State) {
        defer { waiting = WaitingRows() }
        guard state.status == .accepting, let turns = waiting.turns else { return }
        do throws(JournalError) {
            try tuning.faults.commit?(turns.upperBound)
            let rows =
                waiting.batches.isEmpty
                ? try verified(waiting.rows, state) : try rows(of: waiting.batches, &state)
            let byteCount = rows.reduce(0) { $0 + $1.byteCount }
            upkeep.pace.wait(for: byteCount)
            let isDue = upkeep.isDue(behind: byteCount)
            try write(rows, log: waiting.log, &state, setsFloor: isDue)
            let mustLast = waiting.batches.contains(where: \.isDurable)
            if !isStrict, mustLast { try logFile(&state).synchronize() }
            try checkIdentities(&state)
            if let position = rows.last?.position { state.position = position }
            if isStrict || mustLast { recordDurable(state) }
            state.released?.record(state.position)
            notifier.appended(turns.upperBound)
            if isDue { upkeep.mailbox.post(.checkpoint) }
        } catch {
            fail(error, turns.lowerBound, &state)
        }
    }

    /// Rows that were numbered elsewhere, which must follow the last row.
    private func verified(
        _ rows: [JournalRow], _ state: State
    ) throws(JournalError) -> [StoredRow] {
        var position = state.position
        var stored: [StoredRow] = []
        for row in rows {
            try row.verify(behind: position, in: database.file)
            position = row.position
            stored.append(StoredRow(row))
        }
        if let time = rows.last?.time { latestTime.withLock { $0 = max($0, time) } }
        return stored
    }

    private func synchronize(_ state: inout State) {
        guard state.status == .accepting, state.isBegun else { return }
        do throws(JournalError) {
            if !isStrict { try logFile(&state).synchronize() }
            recordDurable(state)
        } catch {
            fail(error, state.position.number, &state)
        }
    }

    private func recordDurable(_ state: State) {
        durableNumber.withLock { $0 = max($0, state.position.number) }
    }

    private func logFile(_ state: inout State) throws(JournalError) -> OpenFile {
        if let file = state.logFile { return file }
        let file = try Self.openLog(in: directory, tuning)
        state.logFile = file
        return file
    }

    private static func openLog(
        in directory: DataDirectory, _ tuning: JournalTuning
    ) throws(JournalError) -> OpenFile {
        try OpenFile(JournalFile.logName, in: directory, fault: tuning.faults.synchronize)
    }

    private func fail(_ error: JournalError, _ turn: UInt64, _ state: inout State) {
        guard !error.isFull else {
            state.status = .full
            upkeep.mailbox.post(.checkpoint)
            notifier.failed(.full(turn: turn, message: "\(error)"), kept: state.position)
            return
        }
        state.status = .broken
        // The thread that detected the failure first has reported it.
        guard directory.health.recordFailure(error) else { return }
        notifier.failed(.broken(turn: turn, message: "\(error)"), kept: state.position)
    }

    // Packs rows outside the gate, so that no other thread waits for it.
    private func rows(
        of batches: [Batch], _ state: inout State
    ) throws(JournalError) -> [StoredRow] {
        let position = state.position
        let time = state.clock.stamp(
            behind: position, wall: tuning.now(), uptime: tuning.uptime())
        latestTime.withLock { $0 = max($0, time) }
        var rows: [StoredRow] = []
        rows.reserveCapacity(batches.count)
        for batch in batches {
            let behind = rows.last?.position ?? position
            rows.append(try StoredRow(batch, behind: behind, at: time, in: database.file))
        }
        return rows
    }

    /// Writes the rows, waiting as long as another process holds the lock.
    private func write(
        _ rows: [StoredRow], log words: [UInt64]?, _ state: inout State, setsFloor: Bool
    ) throws(JournalError) {
        while true {
            do throws(JournalError) {
                try upkeep.gate.commit { () throws(JournalError) in
                    try insert(
                        rows, log: words, &state, setsFloor: setsFloor, waitsForOthers: true)
                }
                state.isWaiting = false
                return
            } catch {
                guard error.isLocked, !upkeep.isStopping.isUp else { throw error }
                if !state.isWaiting { notifier.alarm(.isLocked(file: database.file)) }
                state.isWaiting = true
            }
        }
    }

    private func insert(
        _ rows: [StoredRow], log words: [UInt64]? = nil, _ state: inout State, setsFloor: Bool,
        waitsForOthers: Bool
    ) throws(JournalError) {
        try directory.health.check()
        if !state.isBegun {
            try log.begin()
            state.isBegun = true
        }
        try database.commit(
            "appending to", pageCount: log.pageCount(of: rows), waitsForOthers: waitsForOthers
        ) { db in
            try append(rows, setsFloor, db)
            if let words {
                try MetaTable(db, in: database.file).setLogWords(words, of: instance)
            }
            if state.clock.isUnwritten {
                try MetaTable(db, in: database.file).set(
                    ClockSteps.key, to: state.clock.steps.words, behind: instance.seed)
            }
        }
        state.clock.isUnwritten = false
    }

    private func append(_ rows: [StoredRow], _ setsFloor: Bool, _ db: SQLiteConnection) throws {
        let table = BatchTable(db, in: database.file)
        for row in rows { try table.append(row) }
        // After the next checkpoint, a missing tail of rows could not be detected from the log, and
        // the chain of checksums does not mark its end. The floor does.
        if setsFloor, let last = rows.last {
            try MetaTable(db, in: database.file).setFloor(last.position.number, of: instance)
        }
    }

    // One change time is cheaper to read than four names, so it is compared first.
    private func checkIdentities(_ state: inout State) throws(JournalError) {
        guard let time = directory.changeTime else { throw .moved(path: directory.path) }
        guard time != state.directoryTime else { return }
        try checkIdentities()
        // Two changes within one tick of the file system's clock may have the same time.
        let isOver = WallClock.milliseconds() - time / 1_000_000 > 100
        state.directoryTime = isOver ? time : nil
    }

    /// Throws if a path leads to another file than the open one.
    private func checkIdentities() throws(JournalError) {
        guard directory.isInPlace else { throw .moved(path: directory.path) }
        for file in files where directory.identity(of: file.name) != file.identity {
            throw .moved(path: directory.path(file.name))
        }
    }

    // A row that recovery has not replayed, or a missing row, would fork the history.
    private static func readEnd(
        expecting position: JournalPosition, in database: JournalDatabase
    ) throws(JournalError) -> (instance: JournalInstance, steps: ClockSteps) {
        let file = database.file
        return try database.run("opening") { db in
            let locator = try RowLocator(db, in: file)
            let last = try locator.lastNumber()
            let end = try locator.position(of: last)
            guard end == position else {
                throw JournalError.damage(
                    JournalDamage(
                        file: file, row: last, expected: "the journal's end at \(position)",
                        got: "\(end)"))
            }
            let steps = try MetaTable(db, in: file).clockSteps(of: locator.instance)
            return (locator.instance, steps)
        }
    }
}
