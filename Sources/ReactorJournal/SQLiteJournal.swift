import ReactorThreads

/// A journal on disk: a SQLite database in a data directory, committed on its own thread.
///
///     let directory = try DataDirectory(at: "/var/lib/reactord")
///     try SQLiteJournal.prepare(directory)
///     let reader = try JournalReader(directory)
///     while let row = try reader.next() { replay(row) }
///     let journal = try SQLiteJournal(
///         directory, durability: .strict, after: reader.position, deliver: loop.post)
///
/// *Place*: takes each turn's batch, and reports when its outputs may leave. Batches that arrive
/// during a commit are committed together by the next. *Owner*: the thread that created it, on
/// which `deliver` runs closures in order. The caller bounds the number of waiting batches.
public final class SQLiteJournal: Journal {
    public var onAppended: ((UInt64) -> Void)? {
        get { owner.onAppended }
        set { owner.onAppended = newValue }
    }
    public var onFailed: ((JournalFailure) -> Void)? {
        get { owner.onFailed }
        set { owner.onFailed = newValue }
    }
    /// Called on the owner's thread with an obstacle that loses no data.
    public var onAlarm: ((JournalAlarm) -> Void)? {
        get { owner.onAlarm }
        set { owner.onAlarm = newValue }
    }
    /// The version of SQLite, such as "3.40.1".
    public static var libraryVersion: String { SQLiteConnection.libraryVersion }
    /// The row number of the last batch passed to ``append(_:)``.
    public var lastNumber: UInt64 { owner.last.number }

    private let directory: DataDirectory
    private let owner: JournalOwnerState
    private let committer: JournalCommitter
    private let upkeep: JournalUpkeep
    private var threads: [WorkThread] = []

    /// Creates the journal of an empty directory, or checks and migrates the existing one. Call
    /// before anything reads or writes the journal.
    @discardableResult
    public static func prepare(_ directory: DataDirectory) throws(JournalError) -> JournalOpening {
        try JournalFile.prepare(in: directory, tuning: JournalTuning())
    }

    /// Continues after `position`, the end of the recovery.
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
        owner = JournalOwnerState(last: position)
        let notifier = JournalNotifier(owner: Confined(owner), deliver: deliver)
        upkeep = try JournalUpkeep(
            directory, durability: durability, tuning: tuning, notifier: notifier)
        committer = try JournalCommitter(
            directory, durability: durability, after: position, tuning: tuning, upkeep: upkeep,
            notifier: notifier)
        directory.health.listen { notifier.broke($0) }
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
        // A batch cannot follow one that was dropped.
        guard !owner.isFailed else { return }
        precondition(
            batch.epoch != owner.last.epoch || batch.after == owner.last.sequence,
            "batch of turn \(batch.turn) starts after \(batch.after), expected "
                + "\(owner.last.sequence)")
        precondition(
            batch.sequence >= batch.after,
            "batch of turn \(batch.turn) ends at \(batch.sequence), before \(batch.after)")
        owner.last.number += 1
        owner.last.epoch = batch.epoch
        owner.last.sequence = batch.sequence
        // Committed here only if no earlier batch is still on the journal's thread.
        if owner.pendingTurn == nil, let isKept = committer.commitAtOnce(batch) {
            if isKept { owner.onAppended?(batch.turn) }
        } else {
            owner.pendingTurn = batch.turn
            committer.mailbox.post(.batch(batch))
        }
    }

    public func resume() {
        guard owner.isFull else { return }
        owner.isFull = false
        committer.mailbox.post(.resume)
    }

    /// Deletes the rows up to row `number`, which a snapshot covers, except those that `retention`
    /// keeps.
    ///
    /// Rows are verified before they are deleted. `onTrimmed` is called on the owner's thread.
    public func trim(
        behind number: UInt64, keeping retention: JournalRetention,
        onTrimmed: @escaping (Result<JournalTrim, JournalError>) -> Void
    ) {
        upkeep.trim(JournalTrimOrder(.row(number), retention, onTrimmed: onTrimmed))
    }

    /// Removes old snapshots and the rows that the remaining snapshots cover, except those that
    /// `retention` keeps.
    ///
    /// The remaining snapshots are verified before anything is removed, on the journal's own
    /// threads. Old snapshots are removed at once, also during a trim; commits wait if trimming
    /// falls behind. `onRemoved` is called on the owner's thread once the snapshots have been
    /// removed, `onTrimmed` once the rows have been deleted.
    public func trimBehindSnapshots(
        _ count: Int = SnapshotStore.keptCount, keeping retention: JournalRetention,
        onRemoved: @escaping () -> Void = {},
        onTrimmed: @escaping (Result<JournalTrim, JournalError>) -> Void
    ) {
        upkeep.trim(
            JournalTrimOrder(
                .snapshots(count), retention, onRemoved: onRemoved, onTrimmed: onTrimmed))
    }

    /// Commits the waiting batches and returns when the file is closed. Pending reports are
    /// delivered.
    public func close() {
        guard !threads.isEmpty else { return }
        upkeep.isStopping.raise()
        upkeep.pace.stop()
        // The upkeep's connection closes last and moves the log into the file.
        committer.mailbox.post(.stop)
        threads.first?.join()
        upkeep.mailbox.post(.stop)
        threads.dropFirst().first?.join()
        threads = []
        directory.health.listen(nil)
    }
}

/// The part of a journal's state that belongs to the owner's thread.
final class JournalOwnerState {
    var onAppended: ((UInt64) -> Void)?
    var onFailed: ((JournalFailure) -> Void)?
    var onAlarm: ((JournalAlarm) -> Void)?
    /// Whether batches are dropped until the owner resumes.
    var isFull = false
    /// Whether batches are dropped permanently.
    var isBroken = false
    var isFailed: Bool { isFull || isBroken }
    /// The turn of the last batch on the journal's thread; nil if it has reported all of them.
    var pendingTurn: UInt64?
    /// The position of the next batch; its chain and time are set by the committer.
    var last: JournalPosition

    init(last: JournalPosition) { self.last = last }
}

/// Delivers reports from a journal's threads to its owner's thread.
struct JournalNotifier: Sendable {
    let owner: Confined<JournalOwnerState>
    let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void

    func appended(_ turn: UInt64) {
        deliver { [owner] in
            let owner = owner.open()
            if owner.pendingTurn == turn { owner.pendingTurn = nil }
            owner.onAppended?(turn)
        }
    }

    /// Reports a failure; `kept` is the position at which the journal continues.
    func failed(_ failure: JournalFailure, kept: JournalPosition) {
        deliver { [owner] in
            let owner = owner.open()
            owner.last = kept
            owner.pendingTurn = nil
            switch failure {
            case .full: owner.isFull = true
            case .broken: owner.isBroken = true
            }
            owner.onFailed?(failure)
        }
    }

    /// Reports that the disk failed outside a commit.
    func broke(_ error: JournalError) {
        deliver { [owner] in
            let owner = owner.open()
            owner.isBroken = true
            owner.onFailed?(.broken(turn: 0, message: "\(error)"))
        }
    }

    /// Reports an obstacle.
    func alarm(_ alarm: JournalAlarm) {
        deliver { [owner] in owner.open().onAlarm?(alarm) }
    }
}
