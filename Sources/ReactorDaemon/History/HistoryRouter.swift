import Glibc
import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads
import ReactorWire

/// Routes a running daemon's queries about the past to the archives, and their answers to the
/// server.
///
/// *Place*: beside the server in its shell. *Owner*: the loop's thread.
final class HistoryRouter {
    private var server: Server
    private let keeper: HistoryKeeper
    private let loop: EventLoop
    /// Reads the log, on its own thread.
    private let logs: HistoryArchive
    /// Answers queries that need a second tree, and backups, on its own thread.
    private let trees: HistoryArchive
    private let directory: DataDirectory
    /// Reads the frames that reconnecting clients missed.
    private lazy var missed = MissedReader(directory, on: loop.handle) { [unowned self] in
        server.answer($0, with: $1, at: loop.now)
    }
    /// Called with each answered query, and the bytes of its answer.
    var onAnswered: ((Inquiry, _ byteCount: Int) -> Void)?
    /// Number of unanswered queries for ``trees``, by uid; at most `heavyPerUIDMax` for each. The
    /// archive works on one at a time, and users take turns.
    private var heavyCounts: [UInt32: Int] = [:]
    /// The result of the last requested snapshot.
    private var lastMade: SnapshotMade?
    /// Connections that have sent a query to an archive.
    private var asking: Set<ConnectionID> = []
    /// Connections that have ended their input.
    private var ended: Set<ConnectionID> = []

    /// Maximum number of files that are open for queries about the past: each reader holds the
    /// journal's file and its log.
    static let descriptorsMax =
        2
        * (ArchiveWorker.followersMax + ArchiveWorker.readersMax + ArchiveWorker.begunMax + 8)

    init(
        _ history: History, _ keeper: HistoryKeeper, of server: Server, on loop: EventLoop,
        roots: ArchiveWorker.Roots?
    ) throws(DaemonError) {
        self.server = server
        self.keeper = keeper
        self.loop = loop
        directory = history.directory
        let handle = loop.handle
        let target = Guarded<Confined<HistoryRouter>?>(nil)
        let answer: ArchiveWorker.Answer = { inquiry, result in
            guard let router = target.withLock({ $0 }) else { return }
            _ = handle.post { router.open().answer(inquiry, result) }
        }
        let (limits, dropped) = (server.limits, history.config.dropped)
        let secrets = SecretTable(of: server.tree)
        do throws(WorkThreadError) {
            logs = try HistoryArchive(
                directory, dropped: dropped, limits: limits, roots: nil, secrets: secrets,
                answer: answer)
            do throws(WorkThreadError) {
                trees = try HistoryArchive(
                    directory, dropped: dropped, limits: limits, roots: roots, secrets: secrets,
                    answer: answer)
            } catch {
                logs.close()
                throw error
            }
        } catch {
            throw .journal(
                .system(SystemFailure(call: "pthread_create", path: "", code: error.code)))
        }
        target.withLock { $0 = Confined(self) }
        release = { target.withLock { $0 = nil } }
    }

    // Ends the archives' reference to this object, which owns them.
    private var release: () -> Void = {}

    /// Continues with a replacement of the server.
    func serve(_ server: Server) { self.server = server }

    /// Answers a reconnecting client's query for the frames it missed.
    func take(_ question: HistoryQuestion) { missed.ask(question) }

    private func mayBackUp(_ inquiry: Inquiry) -> Bool { inquiry.mayAdminister(geteuid()) }

    /// Routes a query.
    func take(_ inquiry: Inquiry) {
        switch inquiry.ask {
        case .snapshot: snapshot(inquiry)
        case .backup where !mayBackUp(inquiry), .keepBackup where !mayBackUp(inquiry):
            // A backup holds the sessions' secrets.
            let text = "only uid \(geteuid()), the daemon's own, and root may request a backup"
            refuse(inquiry, Refusal(.forbidden, text))
        case .backup(_, forNode: true) where !keeper.isSharing:
            let text = "this daemon is in no cluster: make a backup without --node"
            refuse(inquiry, Refusal(.notFound, text))
        case .log: hand(inquiry, to: logs)
        default:
            let uid = inquiry.peer.uid
            let count = heavyCounts[uid] ?? 0
            let countMax = server.limits.heavyPerUIDMax
            guard count < countMax else {
                let text = "heavyPerUIDMax \(countMax) queries of uid \(uid) about the past wait"
                return refuse(inquiry, Refusal(.busy, text + ", try again later"))
            }
            if inquiry.ask.needsTree {
                do throws(Refusal) {
                    try server.claimPast(of: inquiry.peer)
                } catch {
                    return refuse(inquiry, error)
                }
            }
            heavyCounts[uid] = count + 1
            hand(inquiry, to: trees)
        }
    }

    private func hand(_ inquiry: Inquiry, to archive: HistoryArchive) {
        asking.insert(inquiry.connection)
        // Queries reach this method at the turn's end, possibly after the connection's input
        // ended.
        if ended.contains(inquiry.connection) { archive.endWaits(of: inquiry.connection) }
        archive.take(inquiry)
    }

    /// Refuses a query that was not passed to an archive.
    private func refuse(_ inquiry: Inquiry, _ refusal: Refusal) {
        server.answer(inquiry, with: .failure(refusal), at: loop.now)
    }

    private func answer(_ inquiry: Inquiry, _ result: Result<[UInt8], Refusal>) {
        switch inquiry.ask {
        case .past, .export, .backup, .keepBackup:
            if inquiry.ask.needsTree { server.endPast(of: inquiry.peer.uid) }
            let count = heavyCounts[inquiry.peer.uid] ?? 1
            heavyCounts[inquiry.peer.uid] = count > 1 ? count - 1 : nil
        default: break
        }
        if case .success(let bytes) = result { onAnswered?(inquiry, bytes.count) }
        server.answer(inquiry, with: result, at: loop.now)
    }

    private func snapshot(_ inquiry: Inquiry) {
        // A repeated request does not write an unchanged state again.
        if let lastMade, lastMade.row == keeper.journal.lastNumber,
            lastMade.revision.sequence == server.tree.turn.sequence
        {
            return answer(inquiry, .success(lastMade.wireBytes()))
        }
        keeper.snapshot { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let header):
                let position = header.position
                let made = SnapshotMade(
                    row: position.number,
                    revision: Revision(epoch: position.epoch, sequence: position.sequence),
                    file: header.file(in: directory))
                lastMade = made
                answer(inquiry, .success(made.wireBytes()))
            case .failure(let error):
                var refusal = PastError.journal(error).refusal
                refusal.message = "no snapshot was taken: \(refusal.message)"
                answer(inquiry, .failure(refusal))
            }
        }
    }

    /// Called after the journal appended rows.
    func appended() { logs.appended() }

    /// Called when a connection has ended its input: it still gets its answers, but its log
    /// queries no longer wait for new rows.
    func endInput(_ connection: ConnectionID) {
        ended.insert(connection)
        if asking.contains(connection) { logs.endWaits(of: connection) }
    }

    /// Called when a connection has closed.
    func forget(_ connection: ConnectionID) {
        ended.remove(connection)
        guard asking.remove(connection) != nil else { return }
        logs.forget(connection)
        trees.forget(connection)
    }

    /// Passes the time to the archives, for the deadlines of waiting queries.
    func tick(at now: UInt64) {
        guard !asking.isEmpty else { return }
        logs.tick(at: now)
        trees.tick(at: now)
    }

    /// Cancels all queries without waiting for the threads; no query is answered from now on.
    func stop() {
        release()
        logs.stop()
        trees.stop()
    }

    /// Cancels all queries and joins the threads.
    func close() {
        release()
        logs.close()
        trees.close()
    }
}

extension Question {
    /// Whether the answer needs a second tree, as of the past.
    fileprivate var needsTree: Bool {
        switch self {
        case .past, .export: true
        default: false
        }
    }
}
