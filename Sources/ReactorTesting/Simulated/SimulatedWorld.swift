import ReactorBytes
package import ReactorClient
package import ReactorCore
package import ReactorServer
import ReactorThreads
import ReactorWire

/// The real server and real clients in a world without sockets, disks and clocks, determined by
/// one seed.
///
/// Bytes are split and delayed, readers stop, connections are reset, batches are appended late,
/// and the server may restart without its history. The same seed gives the same run.
///
/// *Place*: under ``Simulation``, the interface for an author's tests, and ``TestDaemon``. A test
/// of the server creates a world, adds clients with a workload, runs a storm with ``run(for:)``,
/// ends it with ``heal()``, runs on, and compares.
package final class SimulatedWorld {
    /// The virtual time and the scheduled events.
    package let timeline: Timeline
    /// The running server.
    package private(set) var server: Server
    /// The journal from which the server recovers after a crash; nil without a history.
    package let journal: SimulatedJournal?
    /// The random choices of the world, and the disturbances that they cause.
    package let chance: SimulatedChance
    /// The source of all random choices.
    package var random: SeededRandom {
        get { chance.source }
        set { chance.source = newValue }
    }
    /// How often disturbances happened.
    package private(set) var counts = SimulatedCounts()
    /// What the test checks at each step.
    package let hooks = SimulatedHooks()
    /// The times of appended batches.
    package let appends = AppendSchedule()
    /// Violations found so far.
    package private(set) var violations: [String] = []
    /// The world in which effects of the trees run; nil if they do not run.
    private let effects: ManualWorld?
    private(set) var clients: [SimulatedClient] = []
    private var links: SimulatedLinks
    private var isTurnDue = false
    /// Requests of mirrors to their clients.
    let clientJobs = Mailbox<@Sendable () -> Void>(ring: {})
    /// The planted faults; nil for the real server.
    private let faults: (any SimulatedFaults)?
    let secrets: SecretSource

    /// Starts a server of `tree`, whose effects run in `effects`; with `faults`, the world
    /// simulates those. In a calm world, all events happen at once and in order.
    package convenience init(
        seed: UInt64, _ tree: Tree, limits: ServerLimits = ServerLimits(),
        effects: ManualWorld? = nil, isCalm: Bool = false,
        faults: (any SimulatedFaults)? = nil
    ) {
        let secrets = SecretSource(seed: ~seed)
        let server = Server(tree, limits: limits, daemonName: "simulated") { secrets.next() }
        self.init(
            seed: seed, server, secrets, effects: effects, isCalm: isCalm,
            weather: SimulatedWeather(), faults: faults, journal: nil)
    }

    init(
        seed: UInt64, _ server: Server, _ secrets: SecretSource, effects: ManualWorld?,
        isCalm: Bool, weather: SimulatedWeather, faults: (any SimulatedFaults)?,
        journal: SimulatedJournal?, node: UInt8 = 0, timeline: Timeline = Timeline()
    ) {
        self.timeline = timeline
        links = SimulatedLinks(of: node)
        self.server = server
        self.secrets = secrets
        self.effects = effects
        self.journal = journal
        self.faults = faults
        chance = SimulatedChance(seed: seed, isCalm: isCalm, weather)
        tick()
        if chance.isStormy { storm() }
    }

    /// The source of session secrets, shared by all starts of the server.
    final class SecretSource {
        private var random: SeededRandom

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        func next() -> UInt64 { random.next() }
    }

    /// Adds a client of user `uid`, which connects after a delay. With `chance`, the bytes of its
    /// connections take their delays from there, so that other clients' bytes do not change them.
    package func client(
        _ options: ClientOptions = ClientOptions(), uid: UInt32 = 1_000,
        chance: SimulatedChance? = nil
    ) -> SimulatedClient {
        var options = options
        options.keepsTrying = true
        let client = SimulatedClient(self, options, uid: uid, chance)
        clients.append(client)
        client.act { $0.start() }
        return client
    }

    /// The first frame of a client, for ``knock(_:uid:isAtAdminSocket:for:)``.
    package static let hello: [UInt8] = {
        var writer = WireWriter()
        let frame = writer.beginFrame(.hello, number: Hello.magic)
        Hello().encode(into: &writer)
        writer.endFrame(at: frame)
        return writer.bytes
    }()

    /// Simulates a client of user `uid` that connects, sends `bytes`, and disconnects after
    /// `nanoseconds`; with `isAtAdminSocket`, at the socket of administrators.
    package func knock(
        _ bytes: [UInt8], uid: UInt32, isAtAdminSocket: Bool = false, for nanoseconds: UInt64
    ) {
        let link = open(nil, uid: uid, isAtAdminSocket: isAtAdminSocket)
        if !bytes.isEmpty { server.receive(link.id, bytes.span, at: timeline.now) }
        noteServer()
        timeline.after(nanoseconds) { [unowned self] in shut(link) }
    }

    /// Replaces the server by a new server of `tree`; the state and the history of the old one are
    /// lost.
    package func restart(_ tree: Tree) {
        loseLinks()
        if journal != nil { return restartJournal(tree) }
        let secrets = secrets
        server = Server(tree, limits: server.limits, daemonName: "simulated") { secrets.next() }
    }

    /// Counts a full disk.
    func countFullDisk() { counts.fullDisks += 1 }

    /// Continues with another server.
    func goOn(with next: Server) {
        server = next
        // A recovered server numbers connections after those in its history; a read-only one also
        // after those that are open.
        links.renumber(behind: next.highestConnection, keepsNumbers: next.isReadOnly)
    }

    /// Breaks all connections, which the clients learn after a delay. Reports of commits in
    /// progress are dropped.
    func loseLinks() {
        counts.restarts += 1
        for (link, client) in links.sorted {
            link.close()
            links.remove(link)
            timeline.after(chance.delay()) { client?.lose(link) }
        }
        appends.clear()
    }

    /// Returns the epoch for a server that starts without the current server's history.
    package func newEpoch() -> UInt64 {
        let epoch = random.next()
        return faults?.keepsEpoch ?? false ? server.tree.revision.epoch : epoch
    }

    /// Runs all events of the next `nanoseconds`.
    package func run(for nanoseconds: UInt64) {
        let end = timeline.now + nanoseconds
        guard let effects else { return timeline.drain(until: end) }
        settle(effects)
        while let due = [timeline.nextDue, effects.nextDue].compactMap({ $0 }).min(), due <= end {
            // At equal times a sleeper wakes before bytes arrive, since it has waited longer.
            if effects.nextDue == due {
                timeline.advance(to: due)
                _ = effects.clock.wakeNext(upTo: ManualClock.Instant(nanoseconds: due))
            } else {
                effects.clock.advance(to: ManualClock.Instant(nanoseconds: due))
                timeline.runNext()
            }
            settle(effects)
        }
        timeline.drain(until: end)
        effects.clock.advance(to: ManualClock.Instant(nanoseconds: end))
    }

    /// Runs effects, and passes their jobs to the server and requests to the clients.
    private func settle(_ effects: ManualWorld) {
        while true {
            let isBusy = effects.settle { [unowned self] job in server.perform(job) }
            if isBusy { noteServer() }
            let jobs = clientJobs.drain()
            if jobs.isEmpty { return }
            for job in jobs { job() }
        }
    }

    /// Ends the disturbances: readers resume, and no more connections are reset.
    package func heal() {
        chance.calmDown()
        for (link, _) in links.sorted {
            link.stall(false)
            scheduleDown(link)
        }
    }

    /// Records a violation unless `condition` holds.
    package func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
        guard !condition, violations.count < Self.violationsMax else { return }
        violations.append("seed \(chance.seed), \(timeline.now / 1_000) µs: \(text())")
    }

    /// Maximum number of recorded violations: a broken run may violate a condition at every step.
    private static let violationsMax = 200
    /// Nanoseconds that the encoding of a large answer outside the server takes.
    private static let encodingNanoseconds: UInt64 = 50_000

    /// Whether the server was informed of the connection's start and not of its end.
    package func isOpen(_ connection: UInt64) -> Bool { links[ConnectionID(connection)] != nil }

    // MARK: Disturbances

    private func tick() {
        timeline.after(1_000_000_000) { [unowned self] in
            server.tick(at: timeline.now)
            noteServer()
            tick()
        }
    }

    private func storm() {
        timeline.after(chance.stormPause()) { [unowned self] in
            guard chance.isStormy else { return }
            if let (link, client) = links.sorted.randomElement(using: &random) {
                switch chance.disturbance() {
                case .reset: reset(link, client)
                case .stall(let isStalled):
                    link.stall(isStalled)
                    scheduleDown(link)
                }
            }
            storm()
        }
    }

    /// Breaks a connection; both ends learn of it after separate delays.
    func reset(_ link: SimulatedLink, _ client: SimulatedClient?) {
        counts.resets += 1
        shut(link)
        timeline.after(chance.delay()) { client?.lose(link) }
    }
}

// MARK: - Links
extension SimulatedWorld {
    func open(
        _ client: SimulatedClient?, uid: UInt32, isAtAdminSocket: Bool = false,
        _ chance: SimulatedChance? = nil
    ) -> SimulatedLink {
        let link = links.open(for: client, chance ?? self.chance)
        let pid = Int32(truncatingIfNeeded: uid)
        let peer = Peer(uid: uid, gid: uid, pid: pid, isAtAdminSocket: isAtAdminSocket)
        server.connect(link.id, peer, at: timeline.now)
        noteServer()
        return link
    }

    /// Closes the client's end; bytes that the client has sent still arrive.
    func finish(_ link: SimulatedLink) {
        link.finish()
        scheduleUp(link)
    }

    /// Shuts down the client's writing side: bytes that it has sent still arrive, then the server
    /// sees the end of input. The client still reads until the link is reset.
    package func halfClose(_ link: SimulatedLink) {
        link.halfClose()
        scheduleUp(link)
    }

    func scheduleUp(_ link: SimulatedLink) {
        guard link.scheduleUp() else { return }
        timeline.after(link.chance.delay()) { [unowned self] in
            guard link.arriveUp() else { return }
            let bytes = link.read(link.chance.portion())
            if !bytes.isEmpty { receive(bytes, link) }
            if link.hasBytes {
                scheduleUp(link)
            } else if link.isFinished {
                shut(link)
            } else if link.isHalfClosed {
                server.endInput(link.id)
            }
            noteServer()
        }
    }

    private func receive(_ bytes: [UInt8], _ link: SimulatedLink) {
        if let faults, let client = links[link.id]?.client {
            for again in faults.repeats(in: bytes, on: link.id, of: ObjectIdentifier(client)) {
                server.perform { tree in
                    guard let path = try? SlicePath(again.path), let node = tree.node(at: path)
                    else { return }
                    let caller = Caller(
                        connection: link.id.rawValue, client: 0, uid: 0, gid: 0, pid: 0)
                    _ = tree.dispatch(to: node, again.action.span, by: caller, ordinal: 0)
                }
            }
        }
        let read = hooks.onRead?(link.id, bytes) ?? bytes
        if !read.isEmpty { server.receive(link.id, read.span, at: timeline.now) }
    }

    func scheduleDown(_ link: SimulatedLink) {
        guard link.scheduleDown() else { return }
        timeline.after(link.chance.delay()) { [unowned self] in
            guard link.arriveDown() else { return }
            let client = links[link.id]?.client
            let bytes = link.deliver(link.chance.portion())
            if link.fill(link.chance.bufferBytes) {
                server.written(link.id, at: timeline.now)
                noteServer()
            }
            if link.hasOutput { scheduleDown(link) }
            if !bytes.isEmpty { client?.receive(bytes, from: link) }
        }
    }

    /// Closes the server's end of a link and reports the end to the server.
    func shut(_ link: SimulatedLink) {
        guard link.isOpen else { return }
        link.close()
        links.remove(link)
        counts.endedLinks += 1
        if !(faults?.keepsClaims ?? false) || random.chance(50) {
            server.disconnect(link.id, at: timeline.now)
        }
        noteServer()
    }

    /// Closes a link for the server without delivering the rest of the write; buffered bytes
    /// still arrive.
    private func cut(_ link: SimulatedLink, _ client: SimulatedClient?) {
        link.dropRest()
        close(link, client)
    }

    /// Closes a link for the server; bytes that the server has written still arrive.
    private func close(_ link: SimulatedLink, _ client: SimulatedClient?) {
        let last = link.lastBytes
        shut(link)
        timeline.after(chance.delay()) {
            client?.receive(last, from: link)
            client?.lose(link)
        }
    }
}

// MARK: - The server's shell
extension SimulatedWorld {
    /// Executes the server's outputs, checks the invariants, and schedules a turn if one is needed.
    func noteServer() {
        carryOut()
        look()
        if server.needsTurn { dueTurn() }
    }

    /// Schedules the end of a turn.
    func dueTurn() {
        guard !isTurnDue else { return }
        isTurnDue = true
        timeline.after(chance.turnPause()) { [unowned self] in
            isTurnDue = false
            server.endTurn(at: timeline.now)
            noteServer()
            journal?.lookAfterTurn(of: server)
            if server.needsTurn { dueTurn() }
        }
    }

    /// Checks the conditions that hold after every step.
    private func look() {
        if let audit = hooks.audit {
            for finding in audit.findings(server.memory) {
                expect(false, "too much is kept: \(finding)")
            }
            for difference in server.ledgerDifferences(hooks.distort) {
                expect(false, "the ledger is wrong: \(difference)")
            }
        }
        hooks.onStep?()
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
        case .pauseReading(let id): links[id]?.link.pause(true)
        case .resumeReading(let id):
            guard let (link, _) = links[id] else { return }
            link.pause(false)
            if link.hasInput { scheduleUp(link) }
        case .close(let id):
            if let (link, client) = links[id] { close(link, client) }
        case .cut(let id):
            if let (link, client) = links[id] { cut(link, client) }
        case .append(let batch): append(batch)
        case .confirm: hooks.onConfirm?()
        case .forward(let request): hooks.onForward?(request)
        case .reply(let node, let reply): hooks.onReply?(node, reply)
        case .readHistory(let question):
            answer(question)
        case .sum(let probe):
            let (values, byteCount) = probe.sums()
            server.summed(values, byteCount: byteCount)
        case .encode(let capture):
            let start = counts.restarts
            timeline.after(Self.encodingNanoseconds) { [unowned self] in
                // A server that has been replaced has lost its queries.
                guard start == counts.restarts else { return }
                server.encoded(capture.encode())
                noteServer()
            }
        case .wake(let time):
            let pause = time > timeline.now ? time - timeline.now : 0
            timeline.after(pause) { [unowned self] in
                server.wake(at: timeline.now)
                noteServer()
            }
        case .beginSnapshot: if let snapshot = server.snapshot { journal?.begin(snapshot) }
        case .log(.contradicted(_, let claim)): expect(false, claim)
        case .log, .inquire, .cutConnections: break
        }
    }

    private func write(_ slices: ByteSlices, to id: ConnectionID) {
        guard let (link, client) = links[id] else { return }
        expect(!link.isWriting, "a second write to \(id) before the first was taken")
        var bytes: [UInt8] = []
        for slice in slices { bytes.append(contentsOf: slice.storage[slice.range]) }
        hooks.onWrite?(id, bytes)
        if let faults, let client {
            bytes = faults.tampered(bytes, on: id, of: ObjectIdentifier(client))
        }
        link.write(bytes)
        if link.fill(link.chance.bufferBytes) { server.written(id, at: timeline.now) }
        scheduleDown(link)
    }

    private func append(_ batch: Batch) {
        if let take = hooks.onAppend { return take(batch) }
        // Batches are appended in order, whatever their delays.
        let due = appends.append(at: timeline.now, after: chance.appendCost(appends.delayMax))
        if let journal { return append(batch, to: journal, at: due) }
        hooks.onBatch?(batch)
        let start = counts.restarts
        timeline.after(due - timeline.now) { [unowned self] in
            // A server that has been replaced has lost its unfinished batches.
            guard start == counts.restarts else { return }
            hooks.onAppended?()
            server.appended(batch.turn, at: timeline.now)
            noteServer()
        }
    }
}
