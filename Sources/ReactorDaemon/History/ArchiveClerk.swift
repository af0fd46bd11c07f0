import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire

/// The one who goes and looks, for the archive.
///
/// *Owner*: the archive's thread.
final class ArchiveClerk {
    private let directory: DataDirectory
    private let dropped: [SlicePath]
    private let limits: ServerLimits
    private let roots: HistoryArchive.Roots?
    /// Raised where somebody is to be told of what comes next.
    private let hasFollowers: Flag
    /// Whether nobody waits for an answer to this connection.
    private let isOver: (ConnectionID) -> Bool
    private let answer: HistoryArchive.Answer
    /// Readers that told a page and may be asked for the next, the last used at the end.
    private var readers: [LogReader] = []
    private var followers: [(inquiry: Inquiry, reader: LogReader)] = []
    /// Connections that do not wait for anything to happen.
    private var hurried: Set<ConnectionID> = []
    /// A tree that was exported from and has more pages.
    private var exported: (connection: ConnectionID, past: PastTree)?

    // because one that is asked again without its reader begins anew, which only takes longer
    /// Most readers that are kept from page to page.
    static let readersMax = 8
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

    /// Gives up what a connection that has gone has waited for.
    func forget(_ connection: ConnectionID) {
        hurried.remove(connection)
        for (inquiry, _) in takeFollowers(of: connection) {
            answer(inquiry, .failure(PastError.ended.refusal))
        }
        if exported?.connection == connection { exported = nil }
    }

    /// Tells a connection that has waited that nothing has happened, and does so from here on.
    func hurry(_ connection: ConnectionID) {
        guard hurried.insert(connection).inserted else { return }
        for (inquiry, reader) in takeFollowers(of: connection) {
            attempt(inquiry) { () throws(PastError) in try tell(inquiry, reader, waits: true) }
        }
    }

    private func takeFollowers(
        of connection: ConnectionID
    ) -> [(inquiry: Inquiry, reader: LogReader)] {
        let theirs = followers.filter { $0.inquiry.connection == connection }
        followers.removeAll { $0.inquiry.connection == connection }
        return theirs
    }

    func take(_ inquiry: Inquiry) {
        attempt(inquiry) { () throws(PastError) in
            switch inquiry.ask {
            case .past(let path, let revision):
                exported = nil
                answer(inquiry, .success(try tree(at: revision, for: inquiry).answer(path)))
            case .export(let path, let revision, let skip):
                try export(inquiry, path, revision, skip)
            case .log(let path, let from, let after, let waits):
                // because a row that comes from here on may be read below, or not
                if waits { hasFollowers.raise() }
                let reader = try reader(path, from, after, for: inquiry)
                try tell(inquiry, reader, waits: waits)
            case .backup(let path): try backup(inquiry, path)
            case .get, .describe, .tree, .stats, .limits, .checksum, .snapshot:
                preconditionFailure("a question that is no matter of the past: \(inquiry.ask)")
            }
        }
    }

    /// Tells followers what has happened since.
    func look() {
        let waiting = followers
        followers = []
        if !waiting.isEmpty { hasFollowers.raise() }
        for (inquiry, reader) in waiting {
            attempt(inquiry) { () throws(PastError) in
                try tell(inquiry, reader, waits: true)
            }
        }
    }

    /// Does `body`, unless nobody waits for it; who does is told why not where it fails.
    private func attempt(_ inquiry: Inquiry, _ body: () throws(PastError) -> Void) {
        do throws(PastError) {
            if isOver(inquiry.connection) { throw .ended }
            try body()
        } catch {
            // because what was given up half-way failed for no other reason
            let reason = isOver(inquiry.connection) ? PastError.ended : error
            answer(inquiry, .failure(reason.refusal))
        }
    }

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
    ) throws(PastError) {
        var past = exported?.past
        if skip == 0 || past?.revision != revision {
            exported = nil
            past = try tree(at: revision, for: inquiry)
            past?.endFormerConnections()
        }
        guard let past else { return }
        let page = try past.page(path, skip: skip, bytesMax: Self.pageBytesMax)
        exported = page.next == nil ? nil : (inquiry.connection, past)
        answer(inquiry, .success(page.wireBytes()))
    }

    private func backup(_ inquiry: Inquiry, _ path: String) throws(PastError) {
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
        answer(inquiry, .success(made.wireBytes()))
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

    private func tell(
        _ inquiry: Inquiry, _ reader: LogReader, waits: Bool
    ) throws(PastError) {
        let page = try reader.page { [isOver] in isOver(inquiry.connection) }
        if waits, page.entries.isEmpty, !hurried.contains(inquiry.connection) {
            followers.append((inquiry, reader))
            return
        }
        answer(inquiry, .success(page.wireBytes()))
        // because nobody asks on behind the end but who waits there, and what one looks for first is
        // no matter of another's
        guard waits || !page.isEnd, !reader.isSeeking else { return }
        if readers.count >= Self.readersMax { readers.removeFirst() }
        readers.append(reader)
    }
}
