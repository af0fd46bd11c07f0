import Glibc
import Logging
import ReactorBytes
import ReactorCluster
package import ReactorCore
package import ReactorJournal
package import ReactorLoop
package import ReactorServer
import ReactorThreads
import ReactorWire

/// The state of a shell's input.
struct InputState {
    /// The number of the last connection.
    var lastConnection: UInt64 = 0
    /// Whether nothing is read and no job runs, since another process may take over.
    var isHeld = false
    /// Whether the journal is closed.
    var isClosed = false
}

/// Serves a tree on a libuv loop: executes the server's outputs and runs the jobs that effects
/// post.
///
/// *Place*: inside ``Daemon``, which adds the socket's guard, signals and the log; tests use it
/// with other listeners. *Owner*: the loop's thread.
package final class ServerShell {
    package let loop: EventLoop
    package var server: Server { current }
    // Private, so that the accesses of each turn need no exclusivity check at run time.
    private var current: Server
    let jobs: TreeJobs
    /// Takes each turn's batch; nil for a daemon that keeps its state in memory alone.
    private var journal: (any Journal)?
    /// Takes snapshots and bounds the journal's size; nil without a data directory.
    let keeper: HistoryKeeper?
    /// Makes a new server from the durable history; nil without a data directory.
    private let makeServer: ((_ former: Server) throws(DaemonError) -> Recovered)?
    /// The membership in a cluster; nil for a daemon that is alone.
    private(set) var seat: ClusterSeat?
    /// Answers queries about the past; nil without a data directory.
    private let router: HistoryRouter?
    /// The open connections.
    let links = Cell(ReferenceTable<Connection>())
    private var input = InputState()
    /// The time at which the current turn ended, in nanoseconds: one reading of the clock for all
    /// writes of a turn.
    private var turnTime: UInt64 = 0
    /// Measures turns and actions.
    let meter: LoopMeter
    private var work: OffloopWork { OffloopWork(loop: loop.handle, meter: meter) }

    /// A server, and the end of the history that it has.
    private typealias Recovered = (server: Server, end: JournalPosition)
    /// Called with clients' questions about the daemon itself, which it answers.
    var onInquiry: ((Inquiry) -> Void)?
    /// Called with events for the operator's log.
    var onEvent: (ServerEvent) -> Void = { _ in }
    /// Called when a turn has ended and its outputs that need not wait for the journal have been
    /// executed.
    package var onTurnEnd: (() -> Void)? {
        get { turnEnd }
        set { turnEnd = newValue }
    }
    private var turnEnd: (() -> Void)?

    /// Mounts `root`; `random` returns random 64-bit numbers. Clients are served from ``begin()``
    /// on.
    package init(
        _ root: some Reactor, on loop: EventLoop, epoch: UInt64, limits: ServerLimits,
        name: String, ownerUID: UInt32? = nil, journal: (any Journal)? = nil,
        random: @escaping () -> UInt64
    ) {
        self.loop = loop
        meter = LoopMeter(limits)
        self.journal = journal
        keeper = nil
        makeServer = nil
        router = nil
        let inbox = TreeInbox(waking: loop.handle)
        jobs = TreeJobs(of: inbox.flag) { inbox.take() }
        let tree = Tree(
            root, epoch: epoch, recordsDeltas: true, environment: inbox.environment)
        current = Server(
            tree, limits: limits, daemonName: name, ownerUID: ownerUID,
            hasJournal: journal != nil, random: random)
        current.measureInput { [unowned loop] in loop.now }
    }

    /// Mounts `root`, restores it to the end of `history`, and appends further turns to that
    /// history. `roots` creates the reactors a second time, to answer queries about the past. In a
    /// `cluster`, the server follows and is cut off, and further turns come from the log.
    init(
        _ root: some Reactor, on loop: EventLoop, history: History, limits: ServerLimits,
        name: String, ownerUID: UInt32?, roots: (@Sendable () throws -> any Reactor)? = nil,
        cluster: ClusterStart? = nil, random: @escaping () -> UInt64
    ) throws(DaemonError) {
        self.loop = loop
        meter = LoopMeter(limits)
        let inbox = TreeInbox(waking: loop.handle)
        jobs = TreeJobs(of: inbox.flag) { inbox.take() }
        let epoch = cluster?.origin.epoch ?? random()
        let recover = { (limits: ServerLimits, former: Tree?) throws(DaemonError) in
            let tree = Tree(
                root, epoch: epoch, recordsDeltas: true, environment: inbox.environment)
            let recovery = Recovery(of: tree, limits: limits, dropped: history.config.dropped)
            if cluster != nil { recovery.prepareToFollow() }
            if let former { recovery.succeed(former) }
            return try history.recover(recovery, epoch: epoch, isShared: cluster != nil)
        }
        let follow = { (recovery: Recovery, cluster: ClusterStart) in
            Server(
                following: recovery, as: cluster.config.settings.node.index,
                watching: history.words, daemonName: name, ownerUID: ownerUID, random: random)
        }
        let recovered = try recover(limits, nil)
        // The server starts the reactors, which may change their states.
        let (predecessor, revision) = (history.predecessor, recovered.tree.revision)
        // A former process has verified them, and now has clients wait.
        if predecessor == nil { try history.verifyEarlierRows(root, limits) }
        current =
            if let cluster { follow(recovered, cluster) } else {
                Server(
                    recovered, watching: history.words, daemonName: name, ownerUID: ownerUID,
                    after: predecessor?.document?.server, random: random)
            }
        current.measureInput { [unowned loop] in loop.now }
        makeServer = { (former) throws(DaemonError) in
            let recovered = try recover(former.limits, former.tree)
            guard let cluster else {
                let server = Server(
                    recovered, watching: history.words, isReadOnly: true, daemonName: name,
                    ownerUID: ownerUID, random: random)
                return (server, history.position)
            }
            return (follow(recovered, cluster), history.position)
        }
        // In a cluster, each node has numbers of its own: see ``ClusterSeat``.
        if cluster == nil { input.lastConnection = current.highestConnection }
        try history.awaitPredecessor(revision)
        let start = try cluster.map { (cluster) throws(DaemonError) in
            try history.position(in: cluster)
        }
        let keeper = try HistoryKeeper(history, of: current, on: loop.handle)
        self.keeper = keeper
        journal = keeper.journal
        router = try HistoryRouter(history, keeper, of: current, on: loop, roots: roots)
        router?.onAnswered = { [meter] inquiry, byteCount in
            // A query that waits for events takes as long as no event comes.
            if case .log(_, _, _, waits: true) = inquiry.ask { return }
            meter.recordAnswer(
                to: inquiry.ask.subject, of: inquiry.connection, inquiry.peer,
                byteCount: byteCount, nanoseconds: loop.now &- inquiry.askedAt)
        }
        guard let cluster, let start else { return }
        do throws(LoopError) {
            let seat = try ClusterSeat(
                cluster, at: start, history.position, for: self, keeper, seed: random())
            self.seat = seat
            journal = seat.member
        } catch { throw .loop(error) }
    }

    /// Mounts `root`, restores it from the data directory at `directory`, which is made if it is
    /// missing, and appends further turns to its history; for a daemon within a test.
    package convenience init(
        _ root: some Reactor, on loop: EventLoop, keeping directory: String, limits: ServerLimits,
        name: String, random: @escaping () -> UInt64
    ) throws(DaemonError) {
        var data = DataConfig()
        data.directory = directory
        let history = try History(data, environment: [:], uid: geteuid(), Logger(label: name))
        try self.init(
            root, on: loop, history: history, limits: limits, name: name, ownerUID: nil,
            random: random)
    }

    deinit {
        // These closures do not retain the shell.
        loop.onTurnEnd = nil
        for link in links.value.objects { link.onBytes = nil }
    }

    /// Stops the queries about the past and closes the journal; the second call does nothing.
    package func close(skipsSnapshot: Bool = false) {
        guard !input.isClosed else { return }
        input.isClosed = true
        // The threads for queries may take a while to end; the last snapshot does not wait for
        // them.
        router?.stop()
        seat?.close()
        keeper?.close(skipsSnapshot: skipsSnapshot)
        router?.close()
    }

    /// Releases the data directory to other daemons, after ``close(skipsSnapshot:)``.
    package func releaseDirectory() { keeper?.directory.release() }

    /// Returns to the durable state, because later turns cannot be made durable. Closes every
    /// connection; clients reconnect to a server that refuses changes until ``goOn(_:)``, or that
    /// follows. Returns the end of the durable history, nil without a data directory.
    @discardableResult
    func rebuild() throws(DaemonError) -> JournalPosition? {
        guard let makeServer else { return nil }
        _ = server.tree.dismissEffects()
        if seat != nil { dismissClients() }
        let former = links.value.objects
        links.value = ReferenceTable()
        let formerServer = server
        let recovered = try makeServer(formerServer)
        current = recovered.server
        server.succeed(formerServer)
        meter.forgetCommits()
        keeper?.serve(server)
        router?.serve(server)
        if seat == nil { skipConnections(to: server.highestConnection) }
        for link in former { link.close() }
        return recovered.end
    }

    /// Resumes the journal and makes the server accept actions, by default all.
    func goOn(_ admission: Admission = .all) {
        journal?.resume()
        server.goOn(admission)
        loop.turnAgain()
    }

    /// Makes the server accept every action again, and run the jobs that effects have posted.
    func admitAll() {
        server.admitAll()
        loop.turnAgain()
    }

    /// The figures of the history; nil without a data directory.
    var historyFigures: HistoryFigures? { keeper?.figures }

    /// True if no client is connected.
    var isAlone: Bool { links.value.isEmpty }

    /// Takes over the loop's turns and ends the first; a loop serves one shell at a time.
    package func begin() {
        journal?.onAppended = { [unowned self] turn in appended(turn) }
        seat?.begin()
        let shell = Unretained(self)
        loop.onTurnEnd = { shell.with { $0.endTurn() } }
        loop.onJobs = { [unowned self] in beginWork() }
        // The changes of starting reactors belong to the first turn, before any client connects.
        endTurn()
    }

    /// Closes every connection at once.
    package func cut() { for link in links.value.objects { link.close() } }

    /// Passes the time, once a second: see ``Server/tick(at:isLate:)``.
    func tick(isLate: Bool) {
        // No read reports that a half-closed client has closed the rest, so it is polled here.
        for link in links.value.objects where link.isEnded && link.isHungUp { link.close() }
        // Neither does one report the end of a client from which nothing is read for long.
        for id in server.throttled {
            if let link = links.value[id.rawValue], link.isHungUp { link.close() }
        }
        server.tick(at: loop.now, isLate: isLate)
        measureMemory(of: server, at: loop.now)
        router?.tick(at: loop.now)
        seat?.tick()
    }

    /// Serves a connection that a listener accepted.
    package func accept(_ link: Connection, isAtAdminSocket: Bool = false) {
        input.lastConnection += 1
        let id = ConnectionID(input.lastConnection)
        attach(link, as: id)
        var peer = Peer(of: link)
        peer.isAtAdminSocket = isAtAdminSocket
        if server.readsGroups { peer.groups = link.peerGroups }
        server.connect(id, peer, at: loop.now)
        link.resumeReading()
    }

    /// Closes the connections with a lower number than `number`, and numbers later ones after it.
    func renumber(after number: UInt64) {
        for entry in server.clients where entry.connection < number {
            links.value[entry.connection]?.close()
        }
        skipConnections(to: number)
    }

    /// Numbers later connections after `number`.
    func skipConnections(to number: UInt64) {
        input.lastConnection = max(input.lastConnection, number)
    }

    /// Runs no posted job, and resumes no reading, until this is called with false.
    func holdJobs(_ isHeld: Bool) { input.isHeld = isHeld }

    /// Passes what happens at a connection's socket to the server.
    func attach(_ link: Connection, as id: ConnectionID) {
        links.value.insert(link, at: id.rawValue)
        let shell = Unretained(self)
        link.onBytes = { bytes in shell.with { $0.received(bytes, from: id) } }
        link.onEnd = { [unowned self] in
            server.endInput(id)
            router?.endInput(id)
        }
        link.onWritten = { [unowned self] in server.written(id, at: loop.now) }
        link.onClosed = { [unowned self] _ in
            links.value.remove(at: id.rawValue)
            server.disconnect(id, at: loop.now)
            router?.forget(id)
        }
    }

    private func received(_ bytes: Span<UInt8>, from id: ConnectionID) {
        let (server, now) = (current, loop.now)
        let progress = server.progress
        endRead(by: server, at: now, progress)
        meter.beginRead(of: id, at: now, progress)
        meter.position?.enter(id, links.value[id.rawValue].map { Peer(of: $0) })
        server.receive(id, bytes, at: now)
    }

    /// Ends the measurement of the last read, if it has not ended.
    @inline(__always)
    private func endRead(by server: Server, at now: UInt64, _ progress: ActionProgress? = nil) {
        guard meter.isReading, let entry = meter.endRead(at: now, progress ?? server.progress)
        else { return }
        keep(entry, of: server)
    }

    /// Completes and keeps a read that took long.
    private func keep(_ entry: SlowEntry, of server: Server) {
        var entry = entry
        let peer = entry.connection.flatMap { links.value[$0] }.map { Peer(of: $0) }
        (entry.uid, entry.pid) = (peer?.uid, peer?.pid)
        if entry.actions > 0 {
            entry.path = server.lastPath?.description
        } else if let asked = server.lastAsked, asked.connection.rawValue == entry.connection {
            entry.attribute(to: asked)
        }
        meter.keepRead(entry)
    }

    /// Ends the measurement of the last read, if any: other work of the turn follows.
    private func beginWork() {
        let now = loop.now
        endRead(by: current, at: now)
        meter.position?.leave()
        meter.beginWork(at: now)
    }

    private func appended(_ turn: UInt64) {
        let now = loop.now
        meter.endCommits(upTo: turn, at: now)
        server.appended(turn, at: now)
        if seat == nil { stored(turn) }
    }

    /// The journal has the batches up to `turn`.
    func stored(_ turn: UInt64) {
        keeper?.appended(turn)
        router?.appended()
    }
}

// MARK: - Turns
extension ServerShell {
    /// Ends the turn, after all arrived bytes were received.
    func endTurn() {
        // Swift retains a local reference once, and a property at each use.
        var server = current
        if jobs.isDue, server.admission == .all, !input.isHeld {
            let due = jobs.take()
            if !due.isEmpty { beginWork() }
            for job in due { server.perform(job) }
            if server !== current { server = current }
        }
        var next: NextTurn
        repeat {
            turnTime = loop.now
            endRead(by: server, at: turnTime)
            meter.beginWork(at: turnTime)
            server.endTurn(at: turnTime)
            while let output = server.nextOutput() {
                carryOut(output, of: server)
                // A failure of the journal may have replaced the server.
                if server !== current { server = current }
            }
            keeper?.advance(at: turnTime)
            if server !== current { server = current }
            next = server.nextTurn
        } while next.isNow
        // Other sockets are polled before more is read from a client that sends much.
        if next.isAfterPoll || jobs.hasMore && server.admission == .all && !input.isHeld
            || keeper?.isGathering ?? false
        {
            loop.turnAgain()
        }
        turnEnd?()
        if meter.ceiling.isDue(received: server.receivedByteCount) {
            server.boundUsers(at: turnTime)
            loop.turnAgain()
            measureMemory(of: server, at: turnTime)
        }
        meter.position?.leave()
        meter.endTurn(at: loop.now) { server.lastAsked }
    }

    /// Measures the process's memory, and lets the server act on it.
    private func measureMemory(of server: Server, at now: UInt64) {
        let ceiling = meter.ceiling
        let former = ceiling.pressure
        let pressure = ceiling.measure(
            received: server.receivedByteCount, at: now, reserve: server.startReserve)
        server.relieve(pressure, used: ceiling.usedByteCount, at: now)
        guard pressure != .none || former != .none else { return }
        // The reason for which a connection is closed leaves in a turn.
        loop.turnAgain()
        if pressure != former { onEvent(.complaint(ceiling.summary, leftOut: 0)) }
    }

    private func carryOut(_ output: consuming ServerOutput, of server: Server) {
        switch consume output {
        case .write(let id, let slices): write(slices, to: id, of: server)
        case .pauseReading(let id): links.value[id.rawValue]?.pauseReading()
        case .resumeReading(let id):
            if !input.isHeld { links.value[id.rawValue]?.resumeReading() }
        case .close(let id): links.value[id.rawValue]?.finish()
        case .cut(let id): links.value[id.rawValue]?.close()
        case .wake(let time): wake(at: time)
        case .append(let batch):
            meter.beginCommit(
                of: batch.turn, byteCount: batch.deltas.count + batch.facts.count, at: turnTime)
            keeper?.countAppended(batch, at: turnTime)
            journal?.append(batch)
        case .readHistory(let question):
            guard let router else {
                return server.answer(question.number, with: nil, at: turnTime)
            }
            router.take(question)
        case .beginSnapshot: if let snapshot = server.snapshot { keeper?.begin(snapshot) }
        case .sum(let probe): work.sum(probe, for: server)
        case .encode(let capture): work.encode(capture, for: server)
        case .log(let event): onEvent(event)
        case .cutConnections:
            for link in links.value.objects { link.close() }
            loop.turnAgain()
        case .confirm: seat?.confirmSoon()
        case .forward(let request): seat?.send(request)
        case .reply(let node, let reply): seat?.send(reply, to: node)
        case .inquire(let inquiry):
            // A connection that has gone in the same turn is forgotten already.
            if links.value[inquiry.connection.rawValue] != nil { take(inquiry) }
        }
    }

    private func wake(at time: UInt64) {
        // Without a timer, the next tick wakes the server.
        guard let timer = try? LoopTimer(on: loop) else { return }
        timer.onFire = { [unowned self] in
            server.wake(at: loop.now)
            timer.close()
        }
        let now = loop.now
        timer.start(after: .nanoseconds(Int64(clamping: time > now ? time - now : 0)))
    }

    private func take(_ inquiry: Inquiry) {
        if inquiry.ask.isAboutPast {
            router?.take(inquiry)
        } else if let onInquiry {
            onInquiry(inquiry)
        } else {
            let text = "this program serves reactors, and answers no questions about itself"
            server.answer(inquiry, with: .failure(Refusal(.notFound, text)), at: turnTime)
        }
    }

    func write(_ slices: ByteSlices, to id: ConnectionID, of server: Server) {
        links.value.with(id.rawValue) { link in
            link.write(slices)
            if !link.isWriting, !link.isClosed { server.written(id, at: turnTime) }
        }
    }
}

extension Peer {
    /// The process at the other end of a connection.
    fileprivate init(of link: Connection) {
        self.init(uid: link.peer.uid, gid: link.peer.gid, pid: link.peer.pid)
    }
}
