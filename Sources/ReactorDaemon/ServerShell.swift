import ReactorBytes
package import ReactorCore
package import ReactorJournal
package import ReactorLoop
package import ReactorServer
import ReactorThreads

/// A tree served on a libuv loop: the server's outputs carried out, and what effects post brought in.
///
/// *Place*: inside ``Daemon``, which adds the socket's guard, signals and the log; tests put other
/// listeners in front of it. *Owner*: the loop's thread.
package final class ServerShell {
    package let loop: EventLoop
    package private(set) var server: Server
    let jobs: TreeJobs
    private let journal: any Journal
    /// Who sees to snapshots and to the journal's length, where history is kept.
    let keeper: HistoryKeeper?
    /// Makes the server again of what was kept.
    private let recover: ((_ former: Server) throws(DaemonError) -> Server)?
    /// Who answers questions about the past, where there is one.
    private let desk: HistoryDesk?
    private var links: [ConnectionID: Connection] = [:]
    private var lastConnection: UInt64 = 0
    // because a look at the clock for each write of a turn is one too many
    /// When the turn at hand ended, in nanoseconds.
    private var turnTime: UInt64 = 0
    private var isClosed = false
    /// Told what the operator may want to know.
    var onEvent: (ServerEvent) -> Void = { _ in }
    /// Told that a turn has ended and its outputs have left, as far as they may.
    package var onTurnEnd: () -> Void = {}

    /// Mounts `root`; `random` yields random 64-bit numbers. Nothing is served before
    /// ``begin()``.
    package init(
        _ root: some Reactor, on loop: EventLoop, epoch: UInt64, limits: ServerLimits,
        name: String, ownerUID: UInt32? = nil, journal: any Journal = MemoryJournal(),
        random: @escaping () -> UInt64
    ) {
        self.loop = loop
        self.journal = journal
        keeper = nil
        recover = nil
        desk = nil
        let inbox = TreeInbox(waking: loop.handle)
        jobs = TreeJobs { inbox.take() }
        let tree = Tree(
            root, epoch: epoch, recordsDeltas: true, environment: inbox.environment)
        server = Server(
            tree, limits: limits, daemonName: name, ownerUID: ownerUID, random: random)
    }

    /// Mounts `root` and puts it back to where `history` ends; what happens from here on is kept
    /// there. `roots` makes the reactors once more, for who asks how the past was.
    init(
        _ root: some Reactor, on loop: EventLoop, history: History, limits: ServerLimits,
        name: String, ownerUID: UInt32?, roots: (@Sendable () throws -> any Reactor)? = nil,
        random: @escaping () -> UInt64
    ) throws(DaemonError) {
        self.loop = loop
        let inbox = TreeInbox(waking: loop.handle)
        jobs = TreeJobs { inbox.take() }
        let epoch = random()
        let recovery = {
            let tree = Tree(
                root, epoch: epoch, recordsDeltas: true, environment: inbox.environment)
            return Recovery(of: tree, limits: limits, dropped: history.config.dropped)
        }
        server = Server(
            try history.recover(recovery(), epoch: epoch), watching: history.words,
            daemonName: name, ownerUID: ownerUID, random: random)
        recover = { (former) throws(DaemonError) in
            let recovery = recovery()
            recovery.succeed(former.tree)
            return Server(
                try history.recover(recovery, epoch: epoch), watching: history.words,
                isReadOnly: true, daemonName: name, ownerUID: ownerUID, random: random)
        }
        lastConnection = server.highestConnection
        let keeper = try HistoryKeeper(history, of: server, on: loop.handle)
        self.keeper = keeper
        journal = keeper.journal
        desk = try HistoryDesk(history, keeper, of: server, on: loop, roots: roots)
        keeper.onMissed = { [unowned self] number, frames in
            server.answer(number, with: frames, at: loop.now)
        }
    }

    /// Ends what looks into the past, and lets the journal's files go; once.
    func close(isHurried: Bool = false) {
        guard !isClosed else { return }
        isClosed = true
        // because what looks into the past may take its time, and the last snapshot is not to wait
        desk?.stop()
        keeper?.close(isHurried: isHurried)
        desk?.close()
    }

    /// Goes back to what was kept, because what came after it cannot be: everybody is cut, and comes
    /// back to a server that changes nothing until ``goOn()``.
    func rebuild() throws(DaemonError) {
        guard let recover else { return }
        _ = server.tree.dismissEffects()
        let former = links
        links = [:]
        let formerServer = server
        server = try recover(formerServer)
        server.succeed(formerServer)
        keeper?.serve(server)
        desk?.serve(server)
        lastConnection = max(lastConnection, server.highestConnection)
        for link in former.values { link.close() }
    }

    /// Lets the server change things again, or make them smaller.
    func goOn(_ admission: Admission = .all) {
        journal.resume()
        server.goOn(admission)
        loop.turnAgain()
    }

    /// Lets the server carry out every action again, and what effects have posted.
    func admitAll() {
        server.admitAll()
        loop.turnAgain()
    }

    /// Whether nobody is connected.
    var isAlone: Bool { links.isEmpty }

    /// Takes the loop's turns over, and ends the first.
    package func begin() {
        journal.onAppended = { [unowned self] turn in
            server.appended(turn, at: loop.now)
            keeper?.noteAppended(turn)
            desk?.noteAppended()
        }
        loop.onTurnEnd = { [unowned self] in endTurn() }
        // because what the reactors begin with is a part of the first turn, and nobody has come yet
        endTurn()
    }

    /// Closes every connection at once.
    package func cut() { for link in links.values { link.close() } }

    /// Tells the time, once a second: see ``Server/tick(at:isLate:)``.
    func tick(isLate: Bool) {
        // because the end of a client that had half-closed comes without a read that could tell
        for link in links.values where link.isEnded && link.isHungUp { link.close() }
        server.tick(at: loop.now, isLate: isLate)
        desk?.tick(at: loop.now)
    }

    /// Serves a connection that a listener accepted.
    package func accept(_ link: Connection) {
        lastConnection += 1
        let id = ConnectionID(lastConnection)
        links[id] = link
        server.connect(
            id, Peer(uid: link.peer.uid, gid: link.peer.gid, pid: link.peer.pid), at: loop.now)
        link.onBytes = { [unowned self] bytes in server.receive(id, bytes, at: loop.now) }
        link.onEnd = { [unowned self] in
            server.endInput(id)
            desk?.endInput(id)
        }
        link.onWritten = { [unowned self] in server.written(id, at: loop.now) }
        link.onClosed = { [unowned self] _ in
            links[id] = nil
            server.disconnect(id, at: loop.now)
            desk?.forget(id)
        }
        link.resumeReading()
    }
}

// MARK: - Turns
extension ServerShell {
    /// Ends the turn: everything that arrived has been received.
    private func endTurn() {
        if server.admission == .all { for job in jobs.take() { server.perform(job) } }
        repeat {
            turnTime = loop.now
            server.endTurn(at: turnTime)
            carryOut()
            keeper?.look(at: turnTime)
        } while server.needsTurn && !server.isSharing && !server.hasHeldInput
            && !server.isCrowded
        // because the others are looked at before one that sends much is read on
        if server.isSharing || server.hasHeldInput || server.isCrowded
            || jobs.hasMore && server.admission == .all || keeper?.isGathering ?? false
        {
            loop.turnAgain()
        }
        onTurnEnd()
    }

    private func carryOut() {
        while true {
            let outputs = server.takeOutputs()
            if outputs.isEmpty { return }
            for output in outputs { carryOut(output) }
        }
    }

    private func carryOut(_ output: ServerOutput) {
        switch output {
        case .write(let id, let slices): write(slices, to: id)
        case .pauseReading(let id): links[id]?.pauseReading()
        case .resumeReading(let id): links[id]?.resumeReading()
        case .close(let id): links[id]?.finish()
        case .cut(let id): links[id]?.close()
        case .append(let batch):
            keeper?.noteHanded(batch, at: turnTime)
            journal.append(
                JournalBatch(
                    turn: batch.turn, epoch: batch.epoch, after: batch.after,
                    sequence: batch.sequence, bytes: batch.deltas.storage,
                    range: batch.deltas.range, facts: batch.facts,
                    isDurable: batch.isDurable))
        case .readHistory(let question):
            guard let keeper else {
                return server.answer(question.number, with: nil, at: turnTime)
            }
            keeper.missed.ask(question)
        case .beginSnapshot: if let snapshot = server.snapshot { keeper?.begin(snapshot) }
        case .sum(let probe): sum(probe)
        case .encode(let capture): encode(capture)
        case .log(let event): onEvent(event)
        case .cutConnections:
            for link in links.values { link.close() }
            loop.turnAgain()
        case .inquire(let inquiry): desk?.take(inquiry)
        }
    }

    // because a state may be large, and the loop is not to wait for it; because the next one comes only
    // when the sums are there, no more than one thread is ever at it
    private func sum(_ probe: StateProbe) {
        let (server, loop) = (Confined(server), loop.handle)
        _ = try? WorkThread(name: "probe") {
            let (values, byteCount) = probe.sums()
            _ = loop.post { server.open().summed(values, byteCount: byteCount) }
        }
    }

    // because an answer may be large, and the loop is not to wait for it; because the next one comes
    // only when this is there, no more than one thread is ever at it
    private func encode(_ capture: SliceCapture) {
        let (server, loop) = (Confined(server), loop.handle)
        let work = { @Sendable in
            let encoding = capture.encode()
            _ = loop.post { server.open().encoded(encoding) }
        }
        // because a machine that has no thread to spare still answers
        if (try? WorkThread(name: "answers", work)) == nil { work() }
    }

    private func write(_ slices: ByteSlices, to id: ConnectionID) {
        guard let link = links[id] else { return }
        link.write(slices)
        if !link.isWriting, !link.isClosed { server.written(id, at: turnTime) }
    }
}
