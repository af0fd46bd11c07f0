import GRDB
import ReactorThreads

/// The journal on disk: SQLite in a data directory, committed on a thread of its own.
///
///     let directory = try DataDirectory(at: "/var/lib/reactord")
///     try SQLiteJournal.prepare(directory)
///     let reader = try JournalReader(directory)
///     while let row = try reader.next() { replay(row) }
///     let journal = try SQLiteJournal(
///         directory, durability: .strict, after: reader.position, deliver: loop.post)
///
/// *Place*: takes each turn's batch, and says when it may be spoken of. While one commit runs,
/// batches gather; the next commit takes all of them. *Owner*: the thread that made it, on which
/// `deliver` runs what it is handed, in order. Whoever hands over batches bounds them.
public final class SQLiteJournal: Journal {
    public var onAppended: ((UInt64) -> Void)? {
        get { ears.onAppended }
        set { ears.onAppended = newValue }
    }
    public var onFailed: ((JournalFailure) -> Void)? {
        get { ears.onFailed }
        set { ears.onFailed = newValue }
    }
    /// Told what is in the way and loses nothing; on the owner's thread.
    public var onAlarm: ((JournalAlarm) -> Void)? {
        get { ears.onAlarm }
        set { ears.onAlarm = newValue }
    }
    /// Which SQLite it writes with, such as "3.40.1".
    public static var libraryVersion: String { Database.libraryVersion }
    /// Number of the row of the last batch that was taken over.
    public var lastNumber: UInt64 { ears.last.number }

    private let directory: DataDirectory
    private let ears: JournalEars
    private let committer: JournalCommitter
    private let upkeep: JournalUpkeep
    private var threads: [WorkThread] = []

    /// Makes the journal of an empty directory, or checks and brings up to date the one that is
    /// there; before anything reads or writes it.
    @discardableResult
    public static func prepare(_ directory: DataDirectory) throws(JournalError) -> JournalOpening {
        try JournalFile.prepare(in: directory, tuning: JournalTuning())
    }

    /// Goes on behind `position`, which is where recovery ended.
    public convenience init(
        _ directory: DataDirectory, durability: JournalDurability,
        after position: JournalPosition,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(JournalError) {
        try self.init(
            directory, durability: durability, after: position, tuning: JournalTuning(),
            deliver: deliver)
    }

    init(
        _ directory: DataDirectory, durability: JournalDurability,
        after position: JournalPosition, tuning: JournalTuning,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(JournalError) {
        try directory.health.check()
        self.directory = directory
        ears = JournalEars(last: position)
        let voice = JournalVoice(ears: Confined(ears), deliver: deliver)
        upkeep = try JournalUpkeep(
            directory, durability: durability, tuning: tuning, voice: voice)
        committer = try JournalCommitter(
            directory, durability: durability, after: position, tuning: tuning, upkeep: upkeep,
            voice: voice)
        directory.health.listen { voice.broke($0) }
        do {
            threads.append(try WorkThread(name: "journal") { [committer] in committer.run() })
            threads.append(try WorkThread(name: "journal-upkeep") { [upkeep] in upkeep.run() })
        } catch {
            close()
            throw .system(SystemFailure(call: "pthread_create", path: "", code: error.code))
        }
    }

    deinit { close() }

    public func append(_ batch: JournalBatch) {
        // because a history without what was dropped cannot go on with what came behind it
        guard !ears.isFailed else { return }
        precondition(
            batch.epoch != ears.last.epoch || batch.after == ears.last.sequence,
            "batch of turn \(batch.turn) starts after \(batch.after), expected "
                + "\(ears.last.sequence)")
        precondition(
            batch.sequence >= batch.after,
            "batch of turn \(batch.turn) ends at \(batch.sequence), before \(batch.after)")
        ears.last.number += 1
        ears.last.epoch = batch.epoch
        ears.last.sequence = batch.sequence
        // because what was handed over before is told before
        if ears.handedTurn == nil, let isKept = committer.commitAtOnce(batch) {
            if isKept { ears.onAppended?(batch.turn) }
        } else {
            ears.handedTurn = batch.turn
            committer.mailbox.post(.batch(batch))
        }
    }

    public func resume() {
        guard ears.isFull else { return }
        ears.isFull = false
        committer.mailbox.post(.resume)
    }

    /// Deletes rows that a snapshot of row `number` stands for, but for what `retention` keeps.
    ///
    /// What is deleted is verified before. `onTrimmed` is told on the owner's thread.
    public func trim(
        behind number: UInt64, keeping retention: JournalRetention,
        onTrimmed: @escaping (Result<JournalTrim, JournalError>) -> Void
    ) {
        upkeep.trim(JournalTrimOrder(.row(number), retention, onTrimmed: onTrimmed))
    }

    /// Removes snapshots that are not needed any more, and the rows that each of those kept stands
    /// for, but for what `retention` keeps.
    ///
    /// What is kept is verified before anything goes, on the journal's own threads. Snapshots go
    /// at once, also while rows are being trimmed; commits wait where rows fall behind. `onRemoved`
    /// runs on the owner's thread once the snapshots are gone, and `onTrimmed` once the rows are.
    public func trimBehindSnapshots(
        _ count: Int = SnapshotShelf.keptCount, keeping retention: JournalRetention,
        onRemoved: @escaping () -> Void = {},
        onTrimmed: @escaping (Result<JournalTrim, JournalError>) -> Void
    ) {
        upkeep.trim(
            JournalTrimOrder(
                .snapshots(count), retention, onRemoved: onRemoved, onTrimmed: onTrimmed))
    }

    /// Commits what waits, and returns when the file is closed; what is to be told is delivered.
    public func close() {
        guard !threads.isEmpty else { return }
        upkeep.isStopping.raise()
        upkeep.pace.stop()
        // because the upkeep's connection closes last, and leaves one file that holds everything
        committer.mailbox.post(.stop)
        threads.first?.join()
        upkeep.mailbox.post(.stop)
        threads.dropFirst().first?.join()
        threads = []
        directory.health.listen(nil)
    }
}

/// What the owner's thread keeps of a journal.
final class JournalEars {
    var onAppended: ((UInt64) -> Void)?
    var onFailed: ((JournalFailure) -> Void)?
    var onAlarm: ((JournalAlarm) -> Void)?
    /// Whether batches are dropped until the owner resumes.
    var isFull = false
    /// Whether batches are dropped for ever.
    var isBroken = false
    var isFailed: Bool { isFull || isBroken }
    /// The turn of the last batch that the journal's thread has; nil if it has told of all.
    var handedTurn: UInt64?
    /// Where the next batch stands; its chain and time are the committer's.
    var last: JournalPosition

    init(last: JournalPosition) { self.last = last }
}

/// How a journal's threads speak to its owner.
struct JournalVoice: Sendable {
    let ears: Confined<JournalEars>
    let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void

    func appended(_ turn: UInt64) {
        deliver { [ears] in
            let ears = ears.open()
            if ears.handedTurn == turn { ears.handedTurn = nil }
            ears.onAppended?(turn)
        }
    }

    /// `kept` is where the journal goes on.
    func failed(_ failure: JournalFailure, kept: JournalPosition) {
        deliver { [ears] in
            let ears = ears.open()
            ears.last = kept
            ears.handedTurn = nil
            switch failure {
            case .full: ears.isFull = true
            case .broken: ears.isBroken = true
            }
            ears.onFailed?(failure)
        }
    }

    /// Says that the disk failed where no batch was at hand.
    func broke(_ error: JournalError) {
        deliver { [ears] in
            let ears = ears.open()
            ears.isBroken = true
            ears.onFailed?(.broken(turn: 0, message: "\(error)"))
        }
    }

    /// Says what is in the way.
    func alarm(_ alarm: JournalAlarm) {
        deliver { [ears] in ears.open().onAlarm?(alarm) }
    }
}
