import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire

/// Answers queries about the past, on the archive's thread: users take turns.
///
/// *Owner*: the archive's thread. *Place*: ``HistoryArchive`` hands it questions, and calls
/// ``step()`` for as long as ``hasWork``. Every question is answered or refused, once.
final class ArchiveClerk {
    private let directory: DataDirectory
    private let dropped: [SlicePath]
    private let limits: ServerLimits
    private let roots: HistoryArchive.Roots?
    /// Raised where a row that comes next answers a question.
    private let hasFollowers: Flag
    /// Whether the connection has gone.
    private let isOver: (ConnectionID) -> Bool
    private let answer: HistoryArchive.Answer
    /// Questions that are to be worked on, by uid.
    private var queue = RoundRobin<UInt32, Work>()
    /// Questions of ``queue`` that have a reader open.
    private var begunCount = 0
    /// Readers that told a page and may be asked for the next, the last used at the end.
    private var readers: [LogReader] = []
    /// Questions that wait for something to happen.
    private var followers: [Follower] = []
    /// Connections that do not wait for anything to happen.
    private var hurried: Set<ConnectionID> = []
    /// A tree that was exported from and has more pages.
    private var exported: Exported?
    /// The last time that ``tick(at:)`` was told, in nanoseconds.
    private var now: UInt64 = 0

    /// A question that is to be worked on.
    private struct Work {
        var inquiry: Inquiry
        /// What it has read so far, of a question about the log.
        var reader: LogReader?
    }

    /// A question that waits for something to happen.
    private struct Follower {
        var inquiry: Inquiry
        var reader: LogReader
        /// When it began to wait, in nanoseconds.
        var since: UInt64
    }

    private struct Exported {
        var connection: ConnectionID
        var past: PastTree
        /// When the last page was told, in nanoseconds.
        var since: UInt64
    }

    /// What became of a question.
    private enum Step {
        case answered([UInt8])
        /// The journal goes on: other users come first.
        case unfinished(LogReader)
        /// Nothing has happened yet.
        case waiting(LogReader)
    }

    // because one that is asked again without its reader begins at the front, which only takes longer
    /// Most readers that are kept from page to page.
    static let readersMax = 8
    /// Most questions with a reader in the middle of a page.
    static let begunMax = 8
    /// Most questions that wait for something to happen; for one more, the connection with the most
    /// of the user with the most gives one up.
    static let followersMax = 16
    /// Most rows that are read for one user before the next has its turn.
    static let rowsPerTurnMax = 256
    /// Nanoseconds after which a question that waits is answered with an empty page, and a tree whose
    /// next page was not asked for is given up.
    static let waitMax: UInt64 = 60_000_000_000
    /// Most bytes of states in a page.
    private static let pageBytesMax = 1 << 20

    init(
        _ directory: DataDirectory, dropped: [SlicePath], limits: ServerLimits,
        roots: HistoryArchive.Roots?, hasFollowers: Flag,
        isOver: @escaping (ConnectionID) -> Bool, answer: @escaping HistoryArchive.Answer
    ) {
        self.directory = directory
        self.dropped = dropped
        self.limits = limits
        self.roots = roots
        self.hasFollowers = hasFollowers
        self.isOver = isOver
        self.answer = answer
    }

    /// Takes a question.
    func take(_ inquiry: Inquiry) {
        queue.append(Work(inquiry: inquiry), of: inquiry.peer.uid)
    }

    /// Whether a question is to be worked on.
    var hasWork: Bool { !queue.isEmpty }

    /// Works on a question of the user whose turn it is.
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
            // because what was given up half-way failed for no other reason
            let reason = isOver(inquiry.connection) ? PastError.ended : error
            answer(inquiry, .failure(reason.refusal))
        }
    }

    /// The next question that may be worked on: one more with a reader only where few have one.
    private func popWork() -> (UInt32, Work)? {
        for _ in 0..<queue.ownerCount {
            guard let (uid, work) = queue.popFirst() else { return nil }
            if work.reader != nil || begunCount < Self.begunMax { return (uid, work) }
            queue.putBack(work, of: uid)
        }
        return nil
    }

    private func advance(_ work: Work) throws(PastError) -> Step {
        let inquiry = work.inquiry
        switch inquiry.ask {
        case .past(let path, let revision):
            exported = nil
            return .answered(try tree(at: revision, for: inquiry).answer(path))
        case .export(let path, let revision, let skip):
            return .answered(try export(inquiry, path, revision, skip))
        case .log(let path, let from, let after, let waits):
            // because a row that comes from here on may be read below, or not
            if waits { hasFollowers.raise() }
            if let reader = work.reader { return try read(inquiry, reader, waits: waits) }
            return try read(inquiry, reader(path, from, after, for: inquiry), waits: waits)
        case .backup(let path): return .answered(try backup(inquiry, path))
        case .get, .describe, .tree, .stats, .limits, .checksum, .snapshot:
            preconditionFailure("a question that is no matter of the past: \(inquiry.ask)")
        }
    }
}

// MARK: - Connections and time
extension ArchiveClerk {
    /// Gives up what a connection that has gone has waited for.
    func forget(_ connection: ConnectionID) {
        hurried.remove(connection)
        for work in queue.removeAll(where: { $0.inquiry.connection == connection }) {
            if work.reader != nil { begunCount -= 1 }
            answer(work.inquiry, .failure(PastError.ended.refusal))
        }
        for follower in takeFollowers(where: { $0.inquiry.connection == connection }) {
            answer(follower.inquiry, .failure(PastError.ended.refusal))
        }
        if exported?.connection == connection { exported = nil }
    }

    /// Tells a connection that has waited that nothing has happened, and does so from here on.
    func hurry(_ connection: ConnectionID) {
        guard hurried.insert(connection).inserted else { return }
        resume(takeFollowers { $0.inquiry.connection == connection })
    }

    /// Looks for what has happened since, for those that wait.
    func look() { resume(takeFollowers { _ in true }) }

    /// Ends what has waited for too long.
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
        // because questions with a reader stand in front of their user's others: one of them is always
        // next, however many there are
        for follower in followers.reversed() {
            begunCount += 1
            queue.putBack(
                Work(inquiry: follower.inquiry, reader: follower.reader),
                of: follower.inquiry.peer.uid)
        }
    }

    /// Lets a question wait for something to happen; where too many wait, the largest share shrinks.
    private func wait(_ inquiry: Inquiry, _ reader: LogReader) {
        followers.append(Follower(inquiry: inquiry, reader: reader, since: now))
        guard followers.count > Self.followersMax else { return }
        let surplus = followers.remove(at: surplusIndex(beside: inquiry))
        if surplus.inquiry.number == inquiry.number,
            surplus.inquiry.connection == inquiry.connection
        {
            let text = "\(Self.followersMax) questions about the log wait, yours are the most"
            answer(inquiry, .failure(Refusal(.busy, text + ": try again")))
        } else {
            answer(surplus.inquiry, .success(surplus.reader.emptyPage.wireBytes()))
        }
    }

    /// The oldest question of the connection with the most of the user with the most; the newest one
    /// of all, `newcomer`, where no share is larger than its own.
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
extension ArchiveClerk {
    private func tree(
        at revision: Revision?, for inquiry: Inquiry
    ) throws(PastError) -> PastTree {
        guard let roots else {
            throw .noReactors("this daemon cannot make its reactors a second time")
        }
        let root: any Reactor
        do { root = try roots() } catch {
            throw .noReactors("the daemon's reactors cannot be made a second time: \(error)")
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
            // because two trees are not to be in memory at a time
            exported = nil
            past = try tree(at: revision, for: inquiry)
            past.endFormerConnections()
        }
        let page = try past.page(path, skip: skip, bytesMax: Self.pageBytesMax)
        exported =
            page.next == nil
            ? nil : Exported(connection: inquiry.connection, past: past, since: now)
        return page.wireBytes()
    }

    private func backup(_ inquiry: Inquiry, _ path: String) throws(PastError) -> [UInt8] {
        guard path.hasPrefix("/") else {
            throw .outOfReach("a backup goes to an absolute path, got \(path)")
        }
        let backup = try PastTree.reading { () throws(JournalError) in
            try JournalBackup(
                of: directory, into: path,
                isCancelled: { [isOver] in isOver(inquiry.connection) })
        }
        let made = BackupMade(
            row: backup.end.number,
            revision: Revision(epoch: backup.end.epoch, sequence: backup.end.sequence),
            directory: path)
        return made.wireBytes()
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
        if waits, page.entries.isEmpty, !hurried.contains(inquiry.connection) {
            return .waiting(reader)
        }
        // because a client asks on behind the end only where it waits there, and where a reader has to
        // look for its beginning first no other client can use it
        if waits || !page.isEnd, !reader.isSeeking { keep(reader) }
        return .answered(page.wireBytes())
    }

    /// Keeps a reader for the client that asks for the next page.
    private func keep(_ reader: LogReader) {
        if readers.count >= Self.readersMax { readers.removeFirst() }
        readers.append(reader)
    }
}
