import Glibc
import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire

/// Answers queries about the past on the archive's thread; users take turns.
///
/// *Owner*: the archive's thread. *Place*: ``HistoryArchive`` passes queries in and calls
/// ``step()`` while ``hasWork`` is true. Each query gets exactly one answer or refusal.
final class ArchiveWorker {
    /// Makes the daemon's reactors a second time.
    typealias Roots = @Sendable () throws -> any Reactor
    /// Called with a query and its answer or refusal.
    typealias Answer = @Sendable (Inquiry, Result<[UInt8], Refusal>) -> Void

    private let directory: DataDirectory
    private let dropped: [SlicePath]
    private let limits: ServerLimits
    private let roots: Roots?
    /// Hides secrets of the log from callers that may not administer the daemon.
    private let secrets: SecretTable
    /// Raised while a log query waits, so that the loop reports newly appended rows.
    private let hasFollowers: Flag
    /// True once the connection has closed or the archive is stopping.
    private let isOver: (ConnectionID) -> Bool
    private let answer: Answer
    /// Queries ready to be worked on, by uid.
    private var queue = RoundRobin<UInt32, Work>()
    /// Number of queries in ``queue`` that have an open reader.
    private var begunCount = 0
    /// Readers that returned a page and are kept for the query of the next page, oldest first.
    private var readers: [LogReader] = []
    /// Log queries that wait for new rows.
    private var followers: [Follower] = []
    /// Connections that have ended their input: their log queries are answered without waiting.
    private var notWaiting: Set<ConnectionID> = []
    /// The tree of an export that has more pages.
    private var exported: Exported?
    /// The time passed to the last ``tick(at:)``, in nanoseconds.
    private var now: UInt64 = 0

    /// A query ready to be worked on.
    private struct Work {
        var inquiry: Inquiry
        /// The reader of a log query in the middle of a page.
        var reader: LogReader?
    }

    /// A log query that waits for new rows.
    private struct Follower {
        var inquiry: Inquiry
        var reader: LogReader
        /// When the query began to wait, in nanoseconds.
        var since: UInt64
    }

    private struct Exported {
        var connection: ConnectionID
        var past: PastTree
        /// When the last page was returned, in nanoseconds.
        var since: UInt64
    }

    /// The result of one step of work on a query.
    private enum Step {
        case answered([UInt8])
        /// The page is not complete; the queries of other users come first.
        case unfinished(LogReader)
        /// No new rows yet.
        case waiting(LogReader)
    }

    /// Maximum number of readers kept between pages. A query whose reader was dropped reads the
    /// journal from its first row, which is only slower.
    static let readersMax = 8
    /// Maximum number of queries with a reader in the middle of a page.
    static let begunMax = 8
    /// Maximum number of waiting log queries. Above it, one query is ended: of the user with the
    /// most waiting queries, that user's connection with the most.
    static let followersMax = 16
    /// Maximum number of rows read for one user before the next user's turn.
    static let rowsPerTurnMax = 256
    /// Nanoseconds after which a waiting query is answered with an empty page, and an exported
    /// tree is released if its next page was not requested.
    static let waitMax: UInt64 = 60_000_000_000
    /// Maximum bytes of states in a page.
    private static let pageBytesMax = 1 << 20

    init(
        _ directory: DataDirectory, dropped: [SlicePath], limits: ServerLimits,
        roots: Roots?, secrets: SecretTable, hasFollowers: Flag,
        isOver: @escaping (ConnectionID) -> Bool, answer: @escaping Answer
    ) {
        self.directory = directory
        self.dropped = dropped
        self.limits = limits
        self.roots = roots
        self.secrets = secrets
        self.hasFollowers = hasFollowers
        self.isOver = isOver
        self.answer = answer
    }

    /// Queues a query.
    func take(_ inquiry: Inquiry) {
        queue.append(Work(inquiry: inquiry), of: inquiry.peer.uid)
    }

    var hasWork: Bool { !queue.isEmpty }

    /// Works on one query of the user whose turn it is.
    func step() {
        guard let (uid, work) = popWork() else { return }
        let inquiry = work.inquiry
        if work.reader != nil { begunCount -= 1 }
        do throws(PastError) {
            if isOver(inquiry.connection) { throw .ended }
            switch try advance(work) {
            case .answered(let bytes): answer(inquiry, .success(bytes))
            case .unfinished(let reader):
                begunCount += 1
                queue.putBack(Work(inquiry: inquiry, reader: reader), of: uid)
            case .waiting(let reader): wait(inquiry, reader)
            }
        } catch {
            // A failure after the connection closed comes from the cancellation.
            let reason = isOver(inquiry.connection) ? PastError.ended : error
            answer(inquiry, .failure(reason.refusal))
        }
    }

    /// Returns the next query that may be worked on. A query without a reader is passed over
    /// while ``begunMax`` others have one.
    private func popWork() -> (UInt32, Work)? {
        for _ in 0..<queue.ownerCount {
            guard let (uid, work) = queue.popFirst() else { return nil }
            if work.reader != nil || mayBegin { return (uid, work) }
            queue.putBack(work, of: uid)
        }
        return nil
    }

    /// Whether one more query may get a reader. A user's query with a reader comes first in that
    /// user's queue, so the caller's query is of a user without one; resumed queries do not count
    /// against it.
    private var mayBegin: Bool {
        begunCount < Self.begunMax
            || begunCount + followers.count < Self.begunMax + Self.followersMax
    }

    private func advance(_ work: Work) throws(PastError) -> Step {
        let inquiry = work.inquiry
        switch inquiry.ask {
        case .past(let path, let revision):
            exported = nil
            let past = try tree(at: revision, for: inquiry)
            return .answered(try past.answer(path, seenCount: inquiry.seenCount))
        case .export(let path, let revision, let skip):
            return .answered(try export(inquiry, path, revision, skip))
        case .log(let path, let from, let after, let waits):
            // Raised before reading: a row appended from here on may be missed by the read below.
            if waits { hasFollowers.raise() }
            if let reader = work.reader { return try read(inquiry, reader, waits: waits) }
            return try read(inquiry, reader(path, from, after, for: inquiry), waits: waits)
        case .backup(let path, let forNode):
            return .answered(try backup(inquiry, path, forNode: forNode).wireBytes())
        case .keepBackup(let folder, let count):
            return .answered(try keepBackup(inquiry, folder, count).wireBytes())
        case .get, .select, .describe, .tree, .stats, .limits, .checksum, .types, .snapshot,
            .metrics, .clients, .kick, .slowLog, .activity, .reload, .restart,
            .cluster, .stepDown, .sync:
            preconditionFailure("not a query about the past: \(inquiry.ask)")
        }
    }
}

// MARK: - Connections and time
extension ArchiveWorker {
    /// Refuses all queries of a connection that has closed.
    func forget(_ connection: ConnectionID) {
        notWaiting.remove(connection)
        for work in queue.removeAll(where: { $0.inquiry.connection == connection }) {
            if work.reader != nil { begunCount -= 1 }
            answer(work.inquiry, .failure(PastError.ended.refusal))
        }
        for follower in takeFollowers(where: { $0.inquiry.connection == connection }) {
            answer(follower.inquiry, .failure(PastError.ended.refusal))
        }
        if exported?.connection == connection { exported = nil }
    }

    /// Answers the waiting queries of a connection, and makes its later ones answer without
    /// waiting.
    func endWaits(of connection: ConnectionID) {
        guard notWaiting.insert(connection).inserted else { return }
        resume(takeFollowers { $0.inquiry.connection == connection })
    }

    /// Resumes every waiting query, because the journal has new rows.
    func resumeFollowers() { resume(takeFollowers { _ in true }) }

    /// Ends queries and exports that have waited for ``waitMax``.
    func tick(at now: UInt64) {
        self.now = now
        for follower in takeFollowers(where: { now &- $0.since >= Self.waitMax }) {
            answer(follower.inquiry, .success(follower.reader.emptyPage.wireBytes()))
            keep(follower.reader)
        }
        if let since = exported?.since, now &- since >= Self.waitMax { exported = nil }
    }

    private func takeFollowers(where isWanted: (Follower) -> Bool) -> [Follower] {
        let taken = followers.filter(isWanted)
        if !taken.isEmpty { followers.removeAll(where: isWanted) }
        return taken
    }

    private func resume(_ followers: [Follower]) {
        // A query with a reader goes to the front of its user's queue, so `popWork` always finds
        // a query that may run, however many wait.
        for follower in followers.reversed() {
            begunCount += 1
            queue.putBack(
                Work(inquiry: follower.inquiry, reader: follower.reader),
                of: follower.inquiry.peer.uid)
        }
    }

    /// Lets a query wait for new rows. Above ``followersMax``, the user with the most waiting
    /// queries loses one.
    private func wait(_ inquiry: Inquiry, _ reader: LogReader) {
        followers.append(Follower(inquiry: inquiry, reader: reader, since: now))
        guard followers.count > Self.followersMax else { return }
        let surplus = followers.remove(at: surplusIndex(beside: inquiry))
        if surplus.inquiry.number == inquiry.number,
            surplus.inquiry.connection == inquiry.connection
        {
            let text = "\(Self.followersMax) queries of the log wait, most of them from this client"
            answer(inquiry, .failure(Refusal(.busy, text + ": try again")))
        } else {
            answer(surplus.inquiry, .success(surplus.reader.emptyPage.wireBytes()))
        }
    }

    /// Index of the query to end: the oldest query of the connection with the most queries, of
    /// the user with the most. The newest query, `newcomer`, if no share is larger than its own.
    private func surplusIndex(beside newcomer: Inquiry) -> Int {
        var users: [UInt32: Int] = [:]
        for follower in followers { users[follower.inquiry.peer.uid, default: 0] += 1 }
        let most = users.values.max() ?? 0
        let uid =
            users[newcomer.peer.uid] == most
            ? newcomer.peer.uid
            : followers.first { users[$0.inquiry.peer.uid] == most }?.inquiry.peer.uid
        var connections: [ConnectionID: Int] = [:]
        for follower in followers where follower.inquiry.peer.uid == uid {
            connections[follower.inquiry.connection, default: 0] += 1
        }
        let share = connections.values.max() ?? 0
        if connections[newcomer.connection] == share { return followers.count - 1 }
        return followers.firstIndex { connections[$0.inquiry.connection] == share }
            ?? followers.count - 1
    }
}

// MARK: - Work
extension ArchiveWorker {
    private func tree(
        at revision: Revision?, for inquiry: Inquiry
    ) throws(PastError) -> PastTree {
        guard let roots else {
            throw .noReactors("this daemon cannot create its reactors a second time")
        }
        let root: any Reactor
        do { root = try roots() } catch {
            throw .noReactors("the daemon's reactors cannot be created a second time: \(error)")
        }
        return try PastTree(
            root, in: directory, at: revision, limits: limits, dropped: dropped,
            isCancelled: { [isOver] in isOver(inquiry.connection) })
    }

    private func export(
        _ inquiry: Inquiry, _ path: String, _ revision: Revision?, _ skip: UInt64
    ) throws(PastError) -> [UInt8] {
        let past: PastTree
        if skip > 0, let revision, let exported, exported.past.revision == revision {
            past = exported.past
        } else {
            // At most one exported tree is in memory at a time.
            exported = nil
            past = try tree(at: revision, for: inquiry)
            past.endFormerConnections()
        }
        let page = try past.page(
            path, skip: skip, bytesMax: Self.pageBytesMax, seenCount: inquiry.seenCount)
        exported =
            page.next == nil
            ? nil : Exported(connection: inquiry.connection, past: past, since: now)
        return page.wireBytes()
    }

    private func keepBackup(
        _ inquiry: Inquiry, _ path: String, _ count: UInt64
    ) throws(PastError) -> BackupsKept {
        let folder = BackupFolder(at: path)
        let name = BackupFolder.name(
            at: TimestampText.format(milliseconds: WallClock.milliseconds()))
        let made = try backup(inquiry, folder.path(of: name))
        let result = folder.removeOlder(
            keeping: Int(clamping: count), made: name,
            isCancelled: { [isOver] in isOver(inquiry.connection) })
        return BackupsKept(
            made: made, kept: UInt64(result.keptCount), removed: result.removed,
            problems: result.problems)
    }

    private func backup(
        _ inquiry: Inquiry, _ path: String, forNode: Bool = false
    ) throws(PastError) -> BackupMade {
        guard path.hasPrefix("/") else {
            throw .outOfReach("expected an absolute path for a backup, got \(path)")
        }
        let backup = try PastTree.reading { () throws(JournalError) in
            try JournalBackup(
                of: directory, into: path, beginsEpoch: !forNode,
                isCancelled: { [isOver] in isOver(inquiry.connection) })
        }
        // A copy that becomes a daemon's own directory does not stay as it is.
        if !forNode { directory.markBackup() }
        return BackupMade(
            row: backup.end.number,
            revision: Revision(epoch: backup.end.epoch, sequence: backup.end.sequence),
            directory: path)
    }

    private func reader(
        _ path: String, _ from: Revision?, _ after: LogMark?, for inquiry: Inquiry
    ) throws(PastError) -> LogReader {
        if let index = readers.firstIndex(where: { $0.path == path && $0.mark == after }) {
            return readers.remove(at: index)
        }
        return try LogReader(
            path, from: from, after: after, in: directory,
            isCancelled: { [isOver] in isOver(inquiry.connection) })
    }

    private func read(
        _ inquiry: Inquiry, _ reader: LogReader, waits: Bool
    ) throws(PastError) -> Step {
        let found = try reader.page(rowsMax: Self.rowsPerTurnMax) { [isOver] in
            isOver(inquiry.connection)
        }
        guard let page = found else { return .unfinished(reader) }
        if waits, page.entries.isEmpty, !notWaiting.contains(inquiry.connection) {
            return .waiting(reader)
        }
        // A reader at the journal's end is used again only by a client that waits there. A reader
        // that still seeks its first revision fits no other query.
        if waits || !page.isEnd, !reader.isSeeking { keep(reader) }
        let shown = inquiry.mayAdminister(geteuid()) ? page : secrets.hidden(in: page)
        return .answered(shown.wireBytes())
    }

    /// Keeps a reader for the query of the next page.
    private func keep(_ reader: LogReader) {
        if readers.count >= Self.readersMax { readers.removeFirst() }
        readers.append(reader)
    }
}
