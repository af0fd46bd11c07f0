package import ReactorBytes
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
package final class SQLiteJournal: Journal {
    package var onAppended: ((UInt64) -> Void)? {
        get { owner.onAppended }
        set { owner.onAppended = newValue }
    }
    package var onFailed: ((JournalFailure) -> Void)? {
        get { owner.onFailed }
        set { owner.onFailed = newValue }
    }
    /// Called on the owner's thread with an obstacle that loses no data.
    package var onAlarm: ((JournalAlarm) -> Void)? {
        get { owner.onAlarm }
        set { owner.onAlarm = newValue }
    }
    /// The name of the file in its data directory.
    package static var fileName: String { JournalFile.name }
    /// The version of SQLite, such as "3.40.1".
    package static var libraryVersion: String { SQLiteConnection.libraryVersion }
    /// The row number of the last batch passed to ``append(_:)``.
    package var lastNumber: UInt64 { owner.last.number }

    private let directory: DataDirectory
    private let owner: JournalOwnerState
    private let committer: JournalCommitter
    private let upkeep: JournalUpkeep
    private var threads: [WorkThread] = []

    /// Creates the journal of an empty directory, or checks the existing one. Call before anything
    /// reads or writes the journal.
    ///
    /// An existing journal is not changed: a start that is refused afterwards leaves it as it was.
    /// A new one gets the identity `instance`, which the daemons of a cluster share, or a new one.
    @discardableResult
    package static func prepare(
        _ directory: DataDirectory, as instance: JournalInstance? = nil
    ) throws(JournalError) -> JournalOpening {
        try JournalFile.prepare(in: directory, as: instance, tuning: JournalTuning())
    }

    /// Continues after `position`, the end of the recovery. Migrates a journal of an older format,
    /// once everything in it was read.
    package convenience init(
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
        try JournalFile.complete(in: directory)
        self.directory = directory
        owner = JournalOwnerState(after: position)
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

    package func append(_ batch: Batch) {
        // A batch cannot follow one that was dropped.
        guard !owner.isFailed else { return }
        owner.accept(batch)
        // Committed here only if no earlier batch is still on the journal's thread.
        if owner.pendingTurn == nil, let isKept = committer.commitAtOnce(batch) {
            if isKept { owner.onAppended?(batch.turn) }
        } else {
            owner.wait(for: batch.turn)
            committer.mailbox.post(.batch(batch))
        }
    }

    /// Stores rows that were numbered elsewhere and follow the last row, and in the same commit
    /// `words`, by which the log that has the rows finds its place again: see
    /// ``logWords(in:)``. ``onAppended`` reports the number of the last row in place of a turn.
    ///
    /// A journal takes either rows or batches.
    package func store(_ rows: [JournalRow], log words: [UInt64]) {
        guard !owner.isFailed, let last = rows.last else { return }
        owner.accept(rows)
        owner.wait(for: last.number)
        committer.mailbox.post(.rows(rows, log: words))
    }

    /// The words that ``store(_:log:)`` stored with the last rows; nil if there are none.
    package static func logWords(in directory: DataDirectory) throws(JournalError) -> [UInt64]? {
        let database = try JournalFile.reader(in: directory)
        return try database.read("opening") { db in
            let meta = MetaTable(db, in: database.file)
            return try meta.logWords(of: meta.instance())
        }
    }

    /// Makes the rows so far survive a power cut, on the journal's thread: see ``durableNumber``.
    package func synchronize() { committer.mailbox.post(.synchronize) }

    /// Waits until the batches and rows so far are stored, or the journal has failed. Their reports
    /// come later.
    package func awaitStored() {
        let bell = Bell()
        committer.mailbox.post(.ring(bell))
        bell.wait()
    }

    /// The number of the last row that is known to survive a power cut.
    package var durableNumber: UInt64 { committer.durableNumber.withLock { $0 } }

    package func resume() {
        guard owner.resume() else { return }
        committer.mailbox.post(.resume)
    }

    /// Deletes the rows up to row `number`, which a snapshot covers, except those that `retention`
    /// keeps.
    ///
    /// Rows are verified before they are deleted. `onTrimmed` is called on the owner's thread.
    package func trim(
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
    package func trimBehindSnapshots(
        _ count: Int = SnapshotStore.keptCount, keeping retention: JournalRetention,
        onRemoved: @escaping () -> Void = {},
        onTrimmed: @escaping (Result<JournalTrim, JournalError>) -> Void
    ) {
        upkeep.trim(
            JournalTrimOrder(
                .snapshots(count), retention, onRemoved: onRemoved, onTrimmed: onTrimmed))
    }

    /// Bytes that were written during the trims in progress, beyond those that they have deleted.
    package var trimLagByteCount: Int { upkeep.pace.lagByteCount }

    /// The latest time of a row, in milliseconds since 1970. The wall clock is behind it if it was
    /// set back.
    package var latestTime: Int64 { committer.latestTime.withLock { $0 } }

    /// Sets whether trims return nearly all empty pages to the file system from here on, before they
    /// are reported; otherwise the file keeps many for further rows.
    package func setSpaceScarce(_ isScarce: Bool) {
        upkeep.isSpaceScarce.withLock { $0 = isScarce }
    }

    /// Runs `body` while the journal's threads change nothing: another process may read and write the
    /// journal, and becomes its only writer unless `body` returns.
    ///
    /// *Owner*: call it while no batch waits. Waits for a checkpoint in progress.
    package func whileIdle<Result>(_ body: () -> Result) -> Result {
        upkeep.work.withLock { upkeep.gate.upkeep(body) }
    }

    /// Whether the journal in `directory` has the format that this program writes, so that it is not
    /// migrated when it is opened.
    package static func isCurrent(in directory: DataDirectory) throws(JournalError) -> Bool {
        try JournalFile.format(in: directory) == JournalFormat.current
    }

    /// Commits the waiting batches and returns when the file is closed. Pending reports are
    /// delivered.
    package func close() {
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
