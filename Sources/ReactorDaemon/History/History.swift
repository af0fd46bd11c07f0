import Foundation
import Logging
import ReactorBytes
import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorServer

/// A data directory on its way into a daemon: opened, locked, and read before anything is served.
final class History {
    let config: DataConfig
    let directory: DataDirectory
    /// Where the journal ends.
    private(set) var position: JournalPosition
    /// The row that the newest snapshot is of, if there is one.
    private(set) var snapshotNumber: UInt64?
    /// What was found when the journal was opened.
    let opening: JournalOpening
    /// The last row when the daemon began.
    private var firstNumber: UInt64?
    /// Where the daemon says which action it carries out; nowhere, if there is no room for it.
    private(set) lazy var words = makeWords()
    /// Bytes of rows behind that.
    private(set) var replayedByteCount = 0
    private let logger: Logger
    private let supervisor: Supervisor?
    /// A signal that is to end the start, once there is one.
    private let interruption: () -> Signal?

    /// Rows, or parts of a snapshot, between two looks for a signal, each of which is a system call.
    private static let interruptionCount: UInt64 = 16
    /// Rows between two lines in the log while history is replayed.
    private static let progressCount: UInt64 = 50_000

    /// Opens the directory that is configured, or the one that the environment names; a signal that
    /// `interruption` answers ends a replay.
    init(
        _ config: DataConfig, environment: [String: String], uid: UInt32, _ logger: Logger,
        interruption: @escaping () -> Signal? = { nil }
    ) throws(DaemonError) {
        guard let path = config.directory ?? DataPlace.choose(environment, uid: uid) else {
            throw .noDataPlace
        }
        self.config = config
        self.logger = logger
        self.interruption = interruption
        supervisor = Supervisor(environment)
        Self.prepareProcess()
        do throws(JournalError) {
            if config.directory == nil { Self.makeParents(of: path) }
            directory = try DataDirectory(at: path)
            opening = try SQLiteJournal.prepare(directory)
            try SnapshotShelf(directory).removeOrphans()
            position = try JournalReader(directory).position
        } catch {
            throw .journal(error)
        }
        tell(opening)
    }

    private func makeWords() -> SharedWords? {
        do throws(JournalError) {
            return try directory.words("last-action", count: ActionWatch.wordCount)
        } catch {
            logger.warning("an action that ends the daemon will not be known: \(error)")
            return nil
        }
    }

    private func tell(_ opening: JournalOpening) {
        if opening.droppedByteCount > 0 {
            logger.notice(
                "dropped a commit that was cut off; nobody was told of it",
                metadata: ["bytes": "\(opening.droppedByteCount)"])
        }
        if opening.mayHaveLostTail {
            logger.warning(
                "a power cut may have taken the last of a relaxed history: a new epoch begins")
        }
    }

    // because what is written here is nobody else's, and a limit on the size of files is to be an error
    // of a write, not the end of the process
    private static func prepareProcess() {
        umask(0o077)
        signal(SIGXFSZ, SIG_IGN)
    }

    // because a fresh home has none of the directories that the path is made of; what cannot be made
    // is found missing, and named, when the directory is opened
    private static func makeParents(of path: String) {
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        try? FileManager.default.createDirectory(
            atPath: "/" + parent, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    /// Puts a tree and its sessions back to where the journal ends; `epoch` begins a history where
    /// there is none.
    func recover(_ recovery: Recovery, epoch: UInt64) throws(DaemonError) -> Recovery {
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
        firstNumber = first
        // because who goes on from a copy, which ends with 0, begins a history of its own; and because
        // rows that were lost may have been seen: what others hold of them is of no history that
        // goes on. Once a row of the new epoch is kept, it is the one to go on with
        let isNew =
            position.epoch == 0 || opening.mayHaveLostTail && position.number == first
        do throws(RecoveryError) {
            return try recovery.finish(
                epoch: isNew ? epoch : position.epoch, sequence: position.sequence)
        } catch {
            throw .recovery(error, place: directory.path)
        }
    }

    private func chooseSnapshot() throws(DaemonError) -> SnapshotReader? {
        let choice = try Self.reading { () throws(JournalError) in
            try SnapshotShelf(directory).choose()
        }
        for error in choice.passedOver { logger.error("a snapshot is passed over: \(error)") }
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
            try recovery.replay(
                HistoryRow(
                    epoch: row.epoch, after: row.after, sequence: row.sequence,
                    deltas: row.deltas, facts: row.facts))
        } catch {
            throw .recovery(error, place: "\(directory.path), row \(row.number)")
        }
        guard row.number % Self.progressCount == 0 else { return }
        logger.notice(
            "replaying", metadata: ["row": "\(row.number)", "sequence": "\(row.sequence)"])
        // because a long history is no reason to be taken for one that hangs
        supervisor?.tell("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=replaying, at row \(row.number)")
    }

    private func stopIfInterrupted(at count: UInt64) throws(DaemonError) {
        guard count % Self.interruptionCount == 0, let signal = interruption() else { return }
        throw .interrupted(signal)
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
