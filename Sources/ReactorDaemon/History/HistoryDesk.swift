import Glibc
import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads
import ReactorWire

/// Where a running daemon's questions about the past go, and their answers come from.
///
/// *Place*: beside the server in its shell. *Owner*: the loop's thread.
final class HistoryDesk {
    private var server: Server
    private let keeper: HistoryKeeper
    private let loop: EventLoop
    /// Reads the log, on a thread of its own.
    private let logs: HistoryArchive
    /// Answers what needs a second tree or copies everything, on a thread of its own.
    private let trees: HistoryArchive
    private let directory: DataDirectory
    /// Questions that need a tree of their own, or copy everything, and wait, by uid.
    private var heavyCounts: [UInt32: Int] = [:]
    /// The snapshot that was asked for last.
    private var lastMade: SnapshotMade?
    /// Connections that have asked the archive.
    private var asking: Set<ConnectionID> = []
    /// Connections that ask nothing more.
    private var ended: Set<ConnectionID> = []

    // because each takes as much time as a start does
    /// Most questions of that kind of one user at a time; one of all is worked on, others wait, and
    /// users take turns.
    static let heavyMax = 4
    // because each reader of the journal has the file and its log open
    /// Most files that are open at a time for questions about the past.
    static let descriptorsMax =
        2
        * (ArchiveClerk.followersMax + ArchiveClerk.readersMax + ArchiveClerk.begunMax + 8)

    init(
        _ history: History, _ keeper: HistoryKeeper, of server: Server, on loop: EventLoop,
        roots: HistoryArchive.Roots?
    ) throws(DaemonError) {
        self.server = server
        self.keeper = keeper
        self.loop = loop
        directory = history.directory
        let handle = loop.handle
        let told = Guarded<Confined<HistoryDesk>?>(nil)
        let answer: HistoryArchive.Answer = { inquiry, result in
            guard let desk = told.withLock({ $0 }) else { return }
            _ = handle.post { desk.open().answer(inquiry, result) }
        }
        let (limits, dropped) = (server.limits, history.config.dropped)
        do throws(WorkThreadError) {
            logs = try HistoryArchive(
                directory, dropped: dropped, limits: limits, roots: nil, answer: answer)
            do throws(WorkThreadError) {
                trees = try HistoryArchive(
                    directory, dropped: dropped, limits: limits, roots: roots, answer: answer)
            } catch {
                logs.close()
                throw error
            }
        } catch {
            throw .journal(
                .system(SystemFailure(call: "pthread_create", path: "", code: error.code)))
        }
        told.withLock { $0 = Confined(self) }
        release = { told.withLock { $0 = nil } }
    }

    // because the archives' threads would keep what keeps them
    private var release: () -> Void = {}

    /// Goes on with another server in the place of the one at hand.
    func serve(_ server: Server) { self.server = server }

    /// Takes a question.
    func take(_ inquiry: Inquiry) {
        switch inquiry.ask {
        case .snapshot: snapshot(inquiry)
        case .backup where inquiry.peer.uid != geteuid() && inquiry.peer.uid != 0:
            // because it holds the sessions' secrets
            let text = "a backup is for uid \(geteuid()), the daemon's own, and for root"
            refuse(inquiry, Refusal(.forbidden, text))
        case .log: hand(inquiry, to: logs)
        default:
            let uid = inquiry.peer.uid
            let count = heavyCounts[uid] ?? 0
            guard count < Self.heavyMax else {
                let text = "\(count) questions of uid \(uid) about the past wait"
                return refuse(inquiry, Refusal(.busy, text + ", try again later"))
            }
            heavyCounts[uid] = count + 1
            hand(inquiry, to: trees)
        }
    }

    private func hand(_ inquiry: Inquiry, to archive: HistoryArchive) {
        asking.insert(inquiry.connection)
        // because what a turn brought is handed on at its end
        if ended.contains(inquiry.connection) { archive.hurry(inquiry.connection) }
        archive.take(inquiry)
    }

    /// Answers a question that was not handed on.
    private func refuse(_ inquiry: Inquiry, _ refusal: Refusal) {
        server.answer(inquiry, with: .failure(refusal), at: loop.now)
    }

    private func answer(_ inquiry: Inquiry, _ result: Result<[UInt8], Refusal>) {
        switch inquiry.ask {
        case .past, .export, .backup:
            let count = heavyCounts[inquiry.peer.uid] ?? 1
            heavyCounts[inquiry.peer.uid] = count > 1 ? count - 1 : nil
        case .log, .get, .describe, .tree, .stats, .limits, .checksum, .snapshot: break
        }
        server.answer(inquiry, with: result, at: loop.now)
    }

    private func snapshot(_ inquiry: Inquiry) {
        // because who asks again and again is not to have the same state written again and again
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
                    file: directory.file(of: header))
                lastMade = made
                answer(inquiry, .success(made.wireBytes()))
            case .failure(let error):
                var refusal = PastError.journal(error).refusal
                refusal.message = "no snapshot was taken: \(refusal.message)"
                answer(inquiry, .failure(refusal))
            }
        }
    }

    /// Takes note that the journal holds more than it did.
    func noteAppended() { logs.noteAppended() }

    /// Takes note that a connection sends nothing more: it gets its answers, and waits for nothing
    /// to happen.
    func endInput(_ connection: ConnectionID) {
        ended.insert(connection)
        if asking.contains(connection) { logs.hurry(connection) }
    }

    /// Takes note that a connection has gone.
    func forget(_ connection: ConnectionID) {
        ended.remove(connection)
        guard asking.remove(connection) != nil else { return }
        logs.forget(connection)
        trees.forget(connection)
    }

    /// Tells the time: what waits has a deadline.
    func tick(at now: UInt64) {
        guard !asking.isEmpty else { return }
        logs.tick(at: now)
        trees.tick(at: now)
    }

    /// Has what is under way end soon; no question is answered any more.
    func stop() {
        release()
        logs.stop()
        trees.stop()
    }

    /// Ends what is under way.
    func close() {
        release()
        logs.close()
        trees.close()
    }
}
