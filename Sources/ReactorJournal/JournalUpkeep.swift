import GRDB
import ReactorThreads

/// Checkpoints and trims on a thread and a connection of their own, so that commits go on.
///
/// *Owner*: the upkeep's thread, but for ``mailbox`` and ``committed(_:)``.
final class JournalUpkeep: Sendable {
    /// What the upkeep's thread is asked for.
    enum Order: Sendable {
        case checkpoint
        case trim(
            behind: UInt64, JournalRetention,
            Confined<(Result<JournalTrim, JournalError>) -> Void>)
        case stop
    }

    /// Orders, in order; any thread posts.
    let mailbox: Mailbox<Order>
    private let bell = Bell()
    private let database: JournalDatabase
    private let tuning: JournalTuning
    private let gate: Lock
    private let voice: JournalVoice
    private let uncheckpointed = Guarded(0)

    init(
        _ directory: DataDirectory, durability: JournalDurability, tuning: JournalTuning,
        gate: Lock, voice: JournalVoice
    ) throws(JournalError) {
        self.tuning = tuning
        self.gate = gate
        self.voice = voice
        mailbox = Mailbox { [bell] in bell.ring() }
        database = try JournalFile.writer(in: directory, durability: durability)
        try note(durability)
        try beginLog(in: directory)
    }

    // because who looks at the log later must know whether commits waited for each other
    private func note(_ durability: JournalDurability) throws(JournalError) {
        let words: [UInt64] = [durability == .strict ? 1 : 0]
        try database.commit("opening") { db in
            let meta = MetaTable(db, in: database.file)
            if try meta.words("isStrict") != words { try meta.set("isStrict", to: words) }
        }
    }

    // because a log that begins anew in a file that is long already costs each commit least
    private func beginLog(in directory: DataDirectory) throws(JournalError) {
        _ = try database.run("checkpointing") { try $0.checkpoint(.restart) }
        _ = try directory.grow(JournalFile.logName, to: tuning.grownByteCount)
    }

    /// Counts what a commit wrote. *Owner*: the journal's thread.
    func committed(_ byteCount: Int) {
        // because the least that a commit writes is a page and its header
        let written = max(byteCount, tuning.pageByteCount) + 24
        let isDue = uncheckpointed.withLock { count in
            count += written
            guard count >= tuning.checkpointByteCount else { return false }
            count = 0
            return true
        }
        if isDue { mailbox.post(.checkpoint) }
    }

    /// Runs until it is told to stop.
    func run() {
        var orders: [Order] = []
        var isRunning = true
        while isRunning {
            bell.wait()
            mailbox.drain(into: &orders)
            var isDue = false
            for order in orders {
                switch order {
                case .checkpoint: isDue = true
                case .trim(let number, let retention, let onTrimmed):
                    trim(behind: number, retention, onTrimmed)
                    isDue = true
                case .stop: isRunning = false
                }
            }
            orders.removeAll(keepingCapacity: true)
            if isDue, isRunning { checkpoint() }
        }
        try? database.close()
    }

    private func checkpoint() {
        do throws(JournalError) {
            try tuning.faults.checkpoint?()
            // because this one waits for nobody, and nobody waits for it
            let log = try database.run("checkpointing") { try $0.checkpoint(.passive) }
            let byteCount = log.walFrameCount * (tuning.pageByteCount + 24)
            guard byteCount >= tuning.restartByteCount else { return }
            try gate.withLock { () throws(JournalError) in
                _ = try database.run("checkpointing") { try $0.checkpoint(.restart) }
            }
        } catch {
            // because what was not moved is still in the log, and moved at the next one; only a
            // disk that failed to write is not to be relied on
            if error.isOfDisk { voice.broke(error) }
        }
    }

    private func trim(
        behind number: UInt64, _ retention: JournalRetention,
        _ onTrimmed: Confined<(Result<JournalTrim, JournalError>) -> Void>
    ) {
        let trimmer = JournalTrimmer(database: database, gate: gate, tuning: tuning)
        let result = Result { () throws(JournalError) in
            try trimmer.trim(behind: number, keeping: retention)
        }
        voice.deliver { onTrimmed.open()(result) }
    }
}

extension JournalError {
    /// Whether a disk failed to read or write, which no second try mends.
    fileprivate var isOfDisk: Bool {
        switch self {
        case .database(let failure): failure.code & 0xFF == 10 && !failure.isFull
        case .damage: true
        default: false
        }
    }
}
