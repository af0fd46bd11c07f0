import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire

/// Answers questions about the past on a thread of its own, so that no turn waits for them.
///
/// *Place*: beside a running daemon, over the directory that its journal writes. *Owner*: the loop
/// asks; answers come through `answer`, on the archive's thread.
final class HistoryArchive: Sendable {
    /// What makes the daemon's reactors once more.
    typealias Roots = @Sendable () throws -> any Reactor

    private enum Order: Sendable {
        case question(Inquiry)
        case look
        case forget(ConnectionID)
        case stop
    }

    private let mailbox: Mailbox<Order>
    private let thread: WorkThread
    private let isStopping: Flag
    /// Whether somebody waits for something to happen.
    private let hasFollowers: Flag

    init(
        _ directory: DataDirectory, dropped: [SlicePath], limits: ServerLimits, roots: Roots?,
        answer: @escaping @Sendable (Inquiry, Result<[UInt8], Refusal>) -> Void
    ) throws(WorkThreadError) {
        let bell = Bell()
        let mailbox = Mailbox<Order> { bell.ring() }
        let (isStopping, hasFollowers) = (Flag(), Flag())
        self.mailbox = mailbox
        (self.isStopping, self.hasFollowers) = (isStopping, hasFollowers)
        thread = try WorkThread(name: "history") {
            let clerk = ArchiveClerk(
                directory, dropped: dropped, limits: limits, roots: roots,
                isStopping: { isStopping.isUp }, answer: answer)
            var isRunning = true
            while isRunning {
                bell.wait()
                var isToLook = false
                for order in mailbox.drain() {
                    switch order {
                    case .question(let inquiry): clerk.take(inquiry)
                    case .look: isToLook = true
                    case .forget(let connection): clerk.forget(connection)
                    case .stop: isRunning = false
                    }
                }
                if isToLook, isRunning { clerk.look() }
                if clerk.hasFollowers { hasFollowers.raise() }
            }
        }
    }

    /// Takes a question.
    func take(_ inquiry: Inquiry) { mailbox.post(.question(inquiry)) }

    /// The journal has rows that it had not; who waits for that is told. *Cost*: a load where nobody
    /// does.
    func noteAppended() { if hasFollowers.take() { mailbox.post(.look) } }

    /// A connection has gone, and waits for nothing.
    func forget(_ connection: ConnectionID) { mailbox.post(.forget(connection)) }

    /// Ends what is under way, and the thread.
    func close() {
        isStopping.raise()
        mailbox.post(.stop)
        thread.join()
    }
}

/// The one who goes and looks.
///
/// *Owner*: the archive's thread.
private final class ArchiveClerk {
    private let directory: DataDirectory
    private let dropped: [SlicePath]
    private let limits: ServerLimits
    private let roots: HistoryArchive.Roots?
    private let isStopping: () -> Bool
    private let answer: (Inquiry, Result<[UInt8], Refusal>) -> Void
    /// Readers that told a page and may be asked for the next, the last used at the end.
    private var readers: [LogReader] = []
    private var followers: [(inquiry: Inquiry, reader: LogReader)] = []
    /// A tree that was exported from and has more pages.
    private var exported: (connection: ConnectionID, past: PastTree)?

    // because one that is asked again without its reader begins anew, which only takes longer
    /// Most readers that are kept from page to page.
    private static let readersMax = 8
    /// Most bytes of states in a page.
    private static let pageBytesMax = 1 << 20

    init(
        _ directory: DataDirectory, dropped: [SlicePath], limits: ServerLimits,
        roots: HistoryArchive.Roots?, isStopping: @escaping () -> Bool,
        answer: @escaping (Inquiry, Result<[UInt8], Refusal>) -> Void
    ) {
        self.directory = directory
        self.dropped = dropped
        self.limits = limits
        self.roots = roots
        self.isStopping = isStopping
        self.answer = answer
    }

    var hasFollowers: Bool { !followers.isEmpty }

    func forget(_ connection: ConnectionID) {
        followers.removeAll { $0.inquiry.connection == connection }
        if exported?.connection == connection { exported = nil }
    }

    func take(_ inquiry: Inquiry) {
        do throws(PastError) {
            switch inquiry.ask {
            case .past(let path, let revision):
                exported = nil
                answer(inquiry, .success(try tree(at: revision).answer(path)))
            case .export(let path, let revision, let skip):
                try export(inquiry, path, revision, skip)
            case .log(let path, let from, let after, let waits):
                let reader = try reader(path, from, after)
                try tell(inquiry, reader, waits: waits)
            case .backup(let path): try backup(inquiry, path)
            case .get, .describe, .tree, .stats, .limits, .checksum, .snapshot:
                preconditionFailure("a question that is no matter of the past: \(inquiry.ask)")
            }
        } catch {
            answer(inquiry, .failure(error.refusal))
        }
    }

    /// Tells followers what has happened since.
    func look() {
        let waiting = followers
        followers = []
        for (inquiry, reader) in waiting {
            do throws(PastError) {
                try tell(inquiry, reader, waits: true)
            } catch {
                answer(inquiry, .failure(error.refusal))
            }
        }
    }

    private func tree(at revision: Revision?) throws(PastError) -> PastTree {
        guard let roots else {
            throw .noReactors("this daemon cannot make its reactors a second time")
        }
        let root: any Reactor
        do { root = try roots() } catch {
            throw .noReactors("the daemon's reactors cannot be made a second time: \(error)")
        }
        return try PastTree(
            root, in: directory, at: revision, limits: limits, dropped: dropped,
            isCancelled: isStopping)
    }

    private func export(
        _ inquiry: Inquiry, _ path: String, _ revision: Revision?, _ skip: UInt64
    ) throws(PastError) {
        var past = exported?.past
        if skip == 0 || past?.revision != revision {
            exported = nil
            past = try tree(at: revision)
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
            try JournalBackup(of: directory, into: path)
        }
        let made = BackupMade(
            row: backup.end.number,
            revision: Revision(epoch: backup.end.epoch, sequence: backup.end.sequence),
            directory: path)
        answer(inquiry, .success(made.wireBytes()))
    }

    private func reader(
        _ path: String, _ from: Revision?, _ after: LogMark?
    ) throws(PastError) -> LogReader {
        if let index = readers.firstIndex(where: { $0.path == path && $0.mark == after }) {
            return readers.remove(at: index)
        }
        return try LogReader(
            path, from: from, after: after, in: directory, isCancelled: isStopping)
    }

    private func tell(
        _ inquiry: Inquiry, _ reader: LogReader, waits: Bool
    ) throws(PastError) {
        let page = try reader.page()
        if waits, page.entries.isEmpty {
            followers.append((inquiry, reader))
            return
        }
        answer(inquiry, .success(page.wireBytes()))
        if readers.count >= Self.readersMax { readers.removeFirst() }
        readers.append(reader)
    }
}
