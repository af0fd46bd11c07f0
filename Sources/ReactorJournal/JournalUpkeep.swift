import GRDB
import ReactorThreads

/// Checkpoints and trims on a thread and a connection of their own, so that commits go on.
///
/// *Owner*: the upkeep's thread, but for what is said otherwise.
final class JournalUpkeep: Sendable {
    /// What the upkeep's thread is asked for.
    enum Order: Sendable {
        case checkpoint
        case trim(
            JournalBound, JournalRetention,
            Parcel<(Result<JournalTrim, JournalError>) -> Void>)
        case stop
    }

    /// Orders, in order; any thread posts.
    let mailbox: Mailbox<Order>
    /// Whoever writes is inside; any thread.
    let gate = Lock()
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

    init(
        _ directory: DataDirectory, durability: JournalDurability, tuning: JournalTuning,
        voice: JournalVoice
    ) throws(JournalError) {
        self.directory = directory
        self.tuning = tuning
        self.voice = voice
        mailbox = Mailbox { [bell] in bell.ring() }
        // because it waits for another process inside the gate, it does not wait
        database = try JournalFile.writer(
            in: directory, durability: durability, busyMilliseconds: 0)
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

    private struct State {
        /// From which length of the log on it is to begin anew.
        var restartByteCount: Int
        var isFull = false
        var isRead = false
    }

    /// Runs until it is told to stop.
    func run() {
        var state = State(restartByteCount: tuning.restartByteCount)
        var orders: [Order] = []
        var isRunning = true
        while isRunning {
            bell.wait()
            mailbox.drain(into: &orders)
            var isDue = false
            for order in orders {
                switch order {
                case .checkpoint: isDue = true
                case .trim(let bound, let retention, let onTrimmed):
                    trim(bound, retention, onTrimmed, &state)
                    isDue = true
                case .stop: isRunning = false
                }
            }
            orders.removeAll(keepingCapacity: true)
            if isDue, isRunning { checkpoint(&state) }
        }
        close()
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
        do throws(JournalError) {
            try tuning.faults.checkpoint?()
            try directory.health.check()
            // because SQLite before 3.51.3 may lose commits where one begins the log anew while a
            // checkpoint starts; and none does before what is in the log now is in the file
            let extent = try gate.withLock { () throws(JournalError) in
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
            try gate.withLock { () throws(JournalError) in
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

    private func trim(
        _ bound: JournalBound, _ retention: JournalRetention,
        _ onTrimmed: Parcel<(Result<JournalTrim, JournalError>) -> Void>, _ state: inout State
    ) {
        let trimmer = JournalTrimmer(
            database: database, directory: directory, gate: gate, tuning: tuning)
        var count = 0
        let result = Result { () throws(JournalError) in
            let number: UInt64 =
                switch bound {
                case .row(let number): number
                case .snapshots: try SnapshotShelf(directory).removeOlder() ?? 0
                }
            return try trimmer.trim(behind: number, keeping: retention) {
                tuning.faults.trim?()
                count += 1
                // because what is deleted is written to the log as well
                if count % tuning.trimsPerCheckpoint == 0 { checkpoint(&state) }
                return !isStopping.isUp
            }
        }
        if case .failure(let error) = result, error.isOfDisk { directory.health.report(error) }
        voice.deliver { onTrimmed.take()?(result) }
    }
}

/// Up to where a journal may be trimmed.
enum JournalBound: Sendable {
    /// Up to a row that a snapshot stands for.
    case row(UInt64)
    /// As far as the snapshots that are kept allow.
    case snapshots
}

extension JournalError {
    /// Whether what was read is not what was written.
    var isDamage: Bool {
        guard case .damage = self else { return false }
        return true
    }
}
