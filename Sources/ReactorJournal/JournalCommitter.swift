import GRDB
import ReactorThreads

/// Commits batches, all that wait as one transaction.
///
/// *Owner*: the journal's thread, but for ``mailbox``, and for ``commitAtOnce(_:)``, which is the
/// owner's of the journal.
final class JournalCommitter: Sendable {
    /// What the journal's thread is asked for.
    enum Order: Sendable {
        case batch(JournalBatch)
        case resume
        case stop
    }

    /// Orders, in order; any thread posts.
    let mailbox: Mailbox<Order>
    private let bell = Bell()
    private let directory: DataDirectory
    private let database: JournalDatabase
    private let log: JournalLog
    private let tuning: JournalTuning
    private let upkeep: JournalUpkeep
    private let voice: JournalVoice
    /// *Owner*: whoever commits; orders are taken out of ``mailbox`` inside its lock, so that nobody
    /// overtakes them.
    private let state: Guarded<State>
    private let instance: JournalInstance
    private let files: [(name: String, identity: FileIdentity?)]
    /// Whether a commit is durable when it has returned.
    private let isStrict: Bool

    init(
        _ directory: DataDirectory, durability: JournalDurability,
        after position: JournalPosition, tuning: JournalTuning, upkeep: JournalUpkeep,
        voice: JournalVoice
    ) throws(JournalError) {
        self.directory = directory
        self.tuning = tuning
        self.upkeep = upkeep
        self.voice = voice
        mailbox = Mailbox { [bell] in bell.ring() }
        isStrict = durability == .strict
        let identity = directory.identity(of: JournalFile.name)
        database = try JournalFile.writer(
            in: directory, durability: durability, busyMilliseconds: tuning.lockedMilliseconds)
        let found = try Self.check(position, in: database)
        instance = found.instance
        log = JournalLog(
            database: database, directory: directory, durability: durability, tuning: tuning)
        var state = State(
            position: position,
            clock: JournalClock(found.steps, wall: tuning.now(), uptime: tuning.uptime()))
        do throws(JournalError) {
            try log.begin()
            state.isBegun = true
        } catch {
            guard error.isFull || error.isLocked else { throw error }
        }
        // because later on there may be no descriptor to be had
        if state.isBegun, !isStrict {
            state.logFile = try Self.openLog(in: directory, tuning)
        }
        // A full disk has no room for a new file; the rows themselves are what counts.
        state.released = try? ReleasedRowFile(
            in: directory, of: instance, at: position, durability: durability,
            boot: tuning.boot())
        self.state = Guarded(state)
        files = [
            (JournalFile.name, identity),
            (JournalFile.logName, directory.identity(of: JournalFile.logName)),
        ]
        try checkPlace()
    }

    /// Whether batches are taken, and if not why.
    private enum Mood {
        case well
        case full
        case broken
    }

    private struct State {
        var position: JournalPosition
        var clock: JournalClock
        var mood = Mood.well
        var isBegun = false
        var isWaiting = false
        /// The log, to be made durable at request.
        var logFile: OpenFile?
        /// Where the last row that may be spoken of is noted.
        var released: ReleasedRowFile?
        /// When names in the directory had changed last when they were looked at.
        var placeTime: Int64?
    }

    /// Runs until it is told to stop.
    func run() {
        var orders: [Order] = []
        var isRunning = true
        while isRunning {
            bell.wait()
            isRunning = state.withLock { state in carryOut(&orders, &state) }
        }
        state.withLock { close($0) }
    }

    /// Does what is asked for; answers false where that is to stop.
    private func carryOut(_ orders: inout [Order], _ state: inout State) -> Bool {
        mailbox.drain(into: &orders)
        var isRunning = true
        var waiting: [JournalBatch] = []
        for order in orders {
            switch order {
            case .batch(let batch):
                waiting.append(batch)
                continue
            case .resume:
                commit(&waiting, &state)
                if state.mood == .full { state.mood = .well }
                upkeep.mailbox.post(.checkpoint)
            case .stop: isRunning = false
            }
        }
        orders.removeAll(keepingCapacity: true)
        commit(&waiting, &state)
        return isRunning
    }

    /// Commits a batch on the calling thread, if that takes less than to hand it over: whether it is
    /// kept. Answers nil if it is to be handed over.
    ///
    /// *Because* a commit that waits for no disk takes 20 µs, as long as to wake another thread. What
    /// may wait is the journal's thread's: the disk, somebody else's lock, a checkpoint, many pages.
    func commitAtOnce(_ batch: JournalBatch) -> Bool? {
        guard !isStrict, !batch.isDurable, tuning.faults.commit == nil,
            batch.range.count + batch.facts.count <= tuning.atOnceByteCount
        else { return nil }
        let result: Bool?? = state.withLockIfFree { state in
            guard state.mood == .well, state.isBegun, !state.isWaiting, mailbox.isEmpty else {
                return nil
            }
            let result: Bool?? = upkeep.gate.commitIfFree { commitAtOnce(batch, &state) }
            return result ?? nil
        }
        return result ?? nil
    }

    private func commitAtOnce(_ batch: JournalBatch, _ state: inout State) -> Bool? {
        do throws(JournalError) {
            let rows = try rows(of: [batch], &state)
            guard upkeep.pace.admit(rows[0].byteCount) else { return nil }
            let isDue = upkeep.isDue(behind: rows[0].byteCount)
            try insert(rows, &state, notesFloor: isDue, waitsForOthers: false)
            try checkPlace(&state)
            state.position = rows[0].position
            state.released?.note(state.position)
            if isDue { upkeep.mailbox.post(.checkpoint) }
            return true
        } catch {
            guard !error.isLocked else { return nil }
            fail(error, batch.turn, &state)
            return false
        }
    }

    // because what cannot be noted is found out by those who read
    private func close(_ state: State) {
        guard directory.health.isGood else { return database.abandon() }
        let end = Result { () throws(JournalError) in
            guard state.mood == .well, state.isBegun else { return false }
            try checkPlace()
            try upkeep.gate.commit { () throws(JournalError) in
                try log.end(at: state.position.number, of: instance)
            }
            // A machine that is switched off after this finds the last row, not one before it.
            if state.released != nil { try directory.synchronize(ReleasedRow.fileName) }
            return true
        }
        if case .success(true) = end { upkeep.isClosedCleanly.raise() }
        if case .failure(let error) = end, error.isOfDisk {
            _ = directory.health.breaks(by: error)
            return database.abandon()
        }
        try? database.close()
    }

    // because what is not kept is dropped, `waiting` is empty afterwards in any case
    private func commit(_ waiting: inout [JournalBatch], _ state: inout State) {
        defer { waiting.removeAll(keepingCapacity: true) }
        guard state.mood == .well, let first = waiting.first?.turn, let last = waiting.last?.turn
        else { return }
        do throws(JournalError) {
            try tuning.faults.commit?(last)
            let rows = try rows(of: waiting, &state)
            let byteCount = rows.reduce(0) { $0 + $1.byteCount }
            upkeep.pace.wait(for: byteCount)
            let isDue = upkeep.isDue(behind: byteCount)
            try write(rows, &state, notesFloor: isDue)
            if !isStrict, waiting.contains(where: \.isDurable) {
                try logFile(&state).synchronize()
            }
            try checkPlace(&state)
            if let position = rows.last?.position { state.position = position }
            state.released?.note(state.position)
            voice.appended(last)
            if isDue { upkeep.mailbox.post(.checkpoint) }
        } catch {
            fail(error, first, &state)
        }
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
            state.mood = .full
            upkeep.mailbox.post(.checkpoint)
            voice.failed(.full(turn: turn, message: "\(error)"), kept: state.position)
            return
        }
        state.mood = .broken
        // because it has been told where another thread found out
        guard directory.health.breaks(by: error) else { return }
        voice.failed(.broken(turn: turn, message: "\(error)"), kept: state.position)
    }

    // because nobody else waits for the gate while rows are packed
    private func rows(
        of batches: [JournalBatch], _ state: inout State
    ) throws(JournalError) -> [StoredRow] {
        let position = state.position
        let time = state.clock.stamp(
            behind: position, wall: tuning.now(), uptime: tuning.uptime())
        var rows: [StoredRow] = []
        rows.reserveCapacity(batches.count)
        for batch in batches {
            let behind = rows.last?.position ?? position
            rows.append(try StoredRow(batch, behind: behind, at: time, in: database.file))
        }
        return rows
    }

    /// Writes, however long another process holds the lock: nothing is written before it is ours.
    private func write(
        _ rows: [StoredRow], _ state: inout State, notesFloor: Bool
    ) throws(JournalError) {
        while true {
            do throws(JournalError) {
                try upkeep.gate.commit { () throws(JournalError) in
                    try insert(rows, &state, notesFloor: notesFloor, waitsForOthers: true)
                }
                state.isWaiting = false
                return
            } catch {
                guard error.isLocked, !upkeep.isStopping.isUp else { throw error }
                if !state.isWaiting { voice.alarm(.isLocked(file: database.file)) }
                state.isWaiting = true
            }
        }
    }

    private func insert(
        _ rows: [StoredRow], _ state: inout State, notesFloor: Bool, waitsForOthers: Bool
    ) throws(JournalError) {
        try directory.health.check()
        if !state.isBegun {
            try log.begin()
            state.isBegun = true
        }
        try database.commit(
            "appending to", pageCount: log.pageCount(of: rows), waitsForOthers: waitsForOthers
        ) { db in
            try append(rows, notesFloor, db)
            if state.clock.isUnwritten {
                try MetaTable(db, in: database.file).set(
                    ClockSteps.key, to: state.clock.steps.words, behind: instance.seed)
            }
        }
        state.clock.isUnwritten = false
    }

    private func append(_ rows: [StoredRow], _ notesFloor: Bool, _ db: Database) throws {
        let table = BatchTable(db, in: database.file)
        for row in rows { try table.append(row) }
        // because a checkpoint behind this takes the log's rows, and a chain has no end
        if notesFloor, let last = rows.last {
            try MetaTable(db, in: database.file).setFloor(last.position.number, of: instance)
        }
    }

    // because asking for one time costs less than asking for four names, it is asked first
    private func checkPlace(_ state: inout State) throws(JournalError) {
        guard let time = directory.changeTime else { throw .moved(path: directory.path) }
        guard time != state.placeTime else { return }
        try checkPlace()
        // because two changes within a tick of the file system's clock may have the same time
        let isOver = WallClock.milliseconds() - time / 1_000_000 > 100
        state.placeTime = isOver ? time : nil
    }

    /// Refuses where the path leads to files by now that are not those that are written to.
    private func checkPlace() throws(JournalError) {
        guard directory.isInPlace else { throw .moved(path: directory.path) }
        for file in files where directory.identity(of: file.name) != file.identity {
            throw .moved(path: directory.path(file.name))
        }
    }

    // because a row that recovery has not seen, or one that is gone, would fork the history
    private static func check(
        _ position: JournalPosition, in database: JournalDatabase
    ) throws(JournalError) -> (instance: JournalInstance, steps: ClockSteps) {
        let file = database.file
        return try database.run("opening") { db in
            let meta = MetaTable(db, in: file)
            let instance = try meta.instance()
            let anchor = try meta.anchor(of: instance)
            let last = try BatchTable(db, in: file).lastNumber() ?? anchor.number
            let end = try JournalReader.position(last, anchor: anchor, db, file)
            guard end == position else {
                throw JournalError.damage(
                    JournalDamage(
                        file: file, row: last, expected: "the journal's end at \(position)",
                        got: "\(end)"))
            }
            return (instance, try meta.clockSteps(of: instance))
        }
    }
}
