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
    private let archive: HistoryArchive
    private let directory: DataDirectory
    /// Questions that want a tree of their own, or copy everything, and wait.
    private var heavyCount = 0
    /// Questions about the log that are looked into, or wait for something to happen.
    private var logCount = 0
    /// The snapshot that was asked for last.
    private var lastMade: SnapshotMade?
    /// Connections that have asked the archive.
    private var asking: Set<ConnectionID> = []
    /// Connections that ask nothing more.
    private var ended: Set<ConnectionID> = []

    // because each takes as much memory as the tree does, or as much of the disk's time
    /// Most questions of that kind at a time, from all clients; one is looked into, others wait.
    static let heavyMax = 4
    // because each that waits has the journal open, and knows where all nodes stand
    /// Most questions about the log at a time, from all clients; the next is told to come later.
    static let logsMax = 16
    // because each reader of the journal has the file and its log open
    /// Most files that are open at a time for questions about the past.
    static let descriptorsMax = 2 * (logsMax + ArchiveClerk.readersMax + 8)

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
        do throws(WorkThreadError) {
            archive = try HistoryArchive(
                directory, dropped: history.config.dropped, limits: server.limits, roots: roots
            ) { inquiry, result in
                guard let desk = told.withLock({ $0 }) else { return }
                _ = handle.post { desk.open().answer(inquiry, result) }
            }
        } catch {
            throw .journal(
                .system(SystemFailure(call: "pthread_create", path: "", code: error.code)))
        }
        told.withLock { $0 = Confined(self) }
        release = { told.withLock { $0 = nil } }
    }

    // because the archive's thread would keep what keeps it
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
        case .log:
            guard logCount < Self.logsMax else {
                let text = "\(logCount) questions about the log wait for what happens"
                return refuse(inquiry, Refusal(.busy, text + ", try again later"))
            }
            logCount += 1
            hand(inquiry)
        default:
            guard heavyCount < Self.heavyMax else {
                let text = "\(heavyCount) questions about the past are being looked into"
                return refuse(inquiry, Refusal(.busy, text + ", try again later"))
            }
            heavyCount += 1
            hand(inquiry)
        }
    }

    private func hand(_ inquiry: Inquiry) {
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
        case .past, .export, .backup: heavyCount -= 1
        case .log: logCount -= 1
        case .get, .describe, .tree, .stats, .limits, .checksum, .snapshot: break
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
    func noteAppended() { archive.noteAppended() }

    /// Takes note that a connection sends nothing more: it gets its answers, and waits for nothing
    /// to happen.
    func endInput(_ connection: ConnectionID) {
        ended.insert(connection)
        if asking.contains(connection) { archive.hurry(connection) }
    }

    /// Takes note that a connection has gone.
    func forget(_ connection: ConnectionID) {
        ended.remove(connection)
        if asking.remove(connection) != nil { archive.forget(connection) }
    }

    /// Has what is under way end soon; nobody is answered any more.
    func stop() {
        release()
        archive.stop()
    }

    /// Ends what is under way.
    func close() {
        release()
        archive.close()
    }
}
