import Glibc
import Logging
import ReactorBytes
import ReactorCluster
import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorWire

/// A data directory during the start of a daemon: opened, locked and replayed before clients are
/// served.
final class History {
    let config: DataConfig
    let directory: DataDirectory
    /// The end of the journal.
    private(set) var position: JournalPosition
    /// The journal's identity.
    let instance: JournalInstance
    /// The row number of the snapshot the start began from, nil without one.
    private(set) var snapshotNumber: UInt64?
    /// The journal's condition when it was opened.
    let opening: JournalOpening
    /// The number of the journal's last row when the daemon started.
    private var firstNumber: UInt64?
    /// Shared words that name the action being run, for the next start; nil if the file could not
    /// be made.
    private(set) lazy var words = makeWords()
    /// Bytes of the rows after the snapshot, which the start replayed.
    private(set) var replayedByteCount = 0
    let logger: Logger
    /// The process from which this one takes over.
    let predecessor: Predecessor?
    private let supervisor: Supervisor?
    /// Returns the signal that should end the start, if one has arrived.
    private let interruption: () -> Signal?
    /// That signal.
    private var interruptedBy: Signal?

    /// The name of the file behind ``words``.
    static let marksName = "last-action"
    /// Rows or snapshot parts between two checks for a signal; each check is a system call.
    private static let interruptionCount: UInt64 = 16
    /// Rows between two progress lines in the log during a replay.
    private static let progressCount: UInt64 = 50_000

    /// Opens the configured directory, or the default place of `daemon` from the environment. A
    /// signal returned by `interruption` ends a replay. The journal has the identity `instance`,
    /// which the nodes of a cluster share.
    init(
        _ config: DataConfig, of daemon: String = DaemonConfig.defaultName,
        environment: [String: String], uid: UInt32, _ logger: Logger,
        as instance: JournalInstance? = nil, after predecessor: Predecessor? = nil,
        interruption: @escaping () -> Signal? = { nil }
    ) throws(DaemonError) {
        let path = try Self.path(
            config.directory, of: daemon, environment, uid: uid)
        self.config = config
        self.logger = logger
        self.predecessor = predecessor
        self.interruption = interruption
        supervisor = Supervisor(environment)
        Self.prepareProcess()
        do throws(JournalError) {
            if config.directory == nil { Self.makeParents(of: path) }
            if let former = predecessor?.document {
                directory = try DataDirectory(at: path, succeedingTo: former.dataLock)
            } else {
                directory = try DataDirectory(at: path)
            }
            opening = try SQLiteJournal.prepare(directory, as: instance)
            let reader = try JournalReader(directory)
            (position, self.instance) = (reader.position, reader.instance)
        } catch {
            throw .journal(error)
        }
        log(opening, isShared: instance != nil)
    }

    /// The configured path of the data, or else the default one of the daemon.
    ///
    /// *Throws*: if there is none, or the name of the daemon cannot be the name of a directory.
    static func path(
        _ configured: String?, of daemon: String, _ environment: [String: String], uid: UInt32
    ) throws(DaemonError) -> String {
        if let configured { return configured }
        let directory: DefaultDataDirectory?
        do throws(DaemonNameError) {
            directory = try DefaultDataDirectory(of: daemon, environment, uid: uid)
        } catch {
            throw .name(error)
        }
        guard let directory else { throw .noDataDirectory }
        return directory.path
    }

    private func makeWords() -> SharedWords? {
        do throws(JournalError) {
            return try SharedWords(
                of: Self.marksName, in: directory, count: ActionWatch.wordCount)
        } catch {
            logger.warning("an action that ends the daemon will not be recorded: \(error)")
            return nil
        }
    }

    private func log(_ opening: JournalOpening, isShared: Bool) {
        if opening.droppedByteCount > 0 {
            logger.notice(
                "dropped an incomplete commit; it was not acknowledged",
                metadata: ["bytes": "\(opening.droppedByteCount)"])
        }
        if opening.mayHaveLostTail, !isShared {
            logger.warning(
                "a power cut may have taken the end of a relaxed history: a new epoch begins")
        }
    }

    // Only the daemon's user may read what it writes. With SIGXFSZ ignored, a file size limit
    // fails the write instead of ending the process.
    private static func prepareProcess() {
        umask(0o077)
        signal(SIGXFSZ, SIG_IGN)
    }

    // A new home directory lacks the parents of the default path. If they cannot be made, opening
    // the directory reports the missing path.
    static func makeParents(of path: String) {
        FileSystem.makeDirectories(path.split(separator: "/").dropLast().joined(separator: "/"))
    }

    /// Restores a tree and its sessions to the journal's end. `epoch` is the new epoch if the
    /// history begins one. With `isShared`, it begins none: what its end lacks is in the log that
    /// other daemons share with this one. An empty history then has the epoch of that log.
    func recover(
        _ recovery: Recovery, epoch: UInt64, isShared: Bool = false
    ) throws(DaemonError) -> Recovery {
        let snapshot = try chooseSnapshot()
        if let snapshot { try restore(snapshot, recovery) }
        let reader = try Self.reading { () throws(JournalError) in
            try JournalReader(directory, behind: snapshot?.header.position)
        }
        while let row = try Self.reading({ () throws(JournalError) in try reader.next() }) {
            try replay(row, recovery)
        }
        position = reader.position
        let first = firstNumber ?? position.number
        if firstNumber == nil { log(recovery.unverified) }
        firstNumber = first
        // A copy ends with epoch 0, so that a daemon that continues from it begins a new epoch. So
        // does one whose clients may have seen rows that were lost: their revisions are void. Once
        // a row of the new epoch is durable, that epoch continues.
        let isNew =
            !isShared
            && (position.epoch == 0 || opening.mayHaveLostTail && position.number == first)
        do throws(RecoveryError) {
            return try recovery.finish(
                epoch: isNew || position.number == 0 ? epoch : position.epoch,
                sequence: position.sequence)
        } catch {
            throw .recovery(error, place: directory.path)
        }
    }

    /// The position in the cluster's log of the journal's end. Call it before ``openJournal``.
    ///
    /// *Throws*: if the directory has another history than the cluster.
    func position(in cluster: ClusterStart) throws(DaemonError) -> AppliedPosition {
        guard instance == cluster.instance else {
            throw .cluster(
                "\(directory.path) has the history \(instance), and cluster \(cluster.config.name) "
                    + "has \(cluster.instance?.description ?? "none"): \(cluster.remedy)")
        }
        if position.number > 0, position.epoch == 0 {
            throw .cluster(
                "\(directory.path) is a backup, which begins an epoch of its own: make one with "
                    + "`reactorctl backup --node` instead")
        }
        let words = try Self.reading { () throws(JournalError) in
            try SQLiteJournal.logWords(in: directory)
        }
        return try cluster.position(after: position, words: words, in: directory.path)
    }

    /// Checks that the recovered `revision` is that of a former process, and waits until that changes
    /// nothing more.
    func awaitPredecessor(_ revision: Revision) throws(DaemonError) {
        guard let predecessor else { return }
        try predecessor.check(row: position.number, revision)
        guard
            try Self.reading({ () throws(JournalError) in
                try SQLiteJournal.isCurrent(in: directory)
            })
        else {
            throw .handover(
                "this program stores the journal in another format: stop the daemon and start it "
                    + "again, so that the journal is converted")
        }
        try predecessor.awaitGo()
    }

    /// Opens the journal for writing after ``position``, once everything was read: until then,
    /// nothing in the directory has changed except the lock's text.
    func openJournal(
        durability: JournalDurability,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(DaemonError) -> SQLiteJournal {
        do throws(JournalError) {
            try SnapshotStore(directory).removeOrphans()
            try HistoryCopy.removeLeftovers(in: directory)
            return try SQLiteJournal(
                directory, durability: durability, after: position, deliver: deliver)
        } catch {
            throw .journal(error)
        }
    }

    private func log(_ rows: UnverifiedRows) {
        guard rows.count > 0 else { return }
        logger.notice(
            "replayed rows are unverified: no checksum of the state follows them",
            metadata: ["rows": "\(rows)"])
    }

    /// Verifies the rows before the snapshot from which ``recover(_:epoch:)`` began: see
    /// ``EarlierRows``.
    func verifyEarlierRows(
        _ root: some Reactor, _ limits: ServerLimits
    ) throws(DaemonError) {
        guard let snapshotNumber else { return }
        let rows = try Self.reading { () throws(JournalError) in
            try EarlierRows(before: snapshotNumber, in: directory, dropped: config.dropped)
        }
        guard case .unverified(let text)? = try rows?.verify(root, limits) else { return }
        logger.info("rows before the snapshot are unverified", metadata: ["rows": "\(text)"])
    }

    private func chooseSnapshot() throws(DaemonError) -> SnapshotReader? {
        let choice: SnapshotStore.Choice
        do throws(JournalError) {
            // A snapshot is read as a whole here, however large it is.
            choice = try SnapshotStore(directory).choose(isCancelled: isInterrupted)
        } catch {
            throw interruptedBy.map { .interrupted($0) } ?? .journal(error)
        }
        for error in choice.passedOver { logger.error("skipped a snapshot: \(error)") }
        snapshotNumber = choice.snapshot?.header.position.number
        return choice.snapshot
    }

    private func restore(
        _ snapshot: SnapshotReader, _ recovery: Recovery
    ) throws(DaemonError) {
        var count: UInt64 = 0
        while let part = try Self.reading({ () throws(JournalError) in try snapshot.next() }) {
            count += 1
            try stopIfInterrupted(at: count)
            do throws(RecoveryError) {
                try recovery.restore(part)
            } catch {
                throw .recovery(error, place: snapshot.file)
            }
        }
    }

    private func replay(_ row: JournalRow, _ recovery: Recovery) throws(DaemonError) {
        try stopIfInterrupted(at: row.number)
        replayedByteCount += row.deltas.count + row.facts.count
        do throws(RecoveryError) {
            try recovery.replay(row.batch)
        } catch {
            throw .recovery(error, place: "\(directory.path), row \(row.number)")
        }
        guard row.number % Self.progressCount == 0 else { return }
        logger.notice(
            "replaying", metadata: ["row": "\(row.number)", "sequence": "\(row.sequence)"])
        // Extends the service manager's timeout, so that a long replay is not killed as a hang.
        supervisor?.notify(
            "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=replaying, at row \(row.number)")
    }

    private func stopIfInterrupted(at count: UInt64) throws(DaemonError) {
        guard count % Self.interruptionCount == 0, isInterrupted(), let signal = interruptedBy
        else { return }
        throw .interrupted(signal)
    }

    /// Whether a signal is to end the start.
    private func isInterrupted() -> Bool {
        if interruptedBy == nil { interruptedBy = interruption() }
        return interruptedBy != nil
    }

    private static func reading<Result>(
        _ body: () throws(JournalError) -> Result
    ) throws(DaemonError) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            throw .journal(error)
        }
    }
}
