import ReactorBytes
package import ReactorClient
package import ReactorCore
package import ReactorServer
import ReactorThreads

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
    /// The seed of all random choices.
    package let seed: UInt64
    /// The virtual time and the scheduled events.
    package let timeline = Timeline()
    /// The running server.
    package private(set) var server: Server
    /// The journal from which the server recovers after a crash; nil without a history.
    package let journal: SimulatedJournal?
    /// The rates and durations of disturbances.
    package var weather: SimulatedWeather
    /// The source of all random choices.
    package var random: SeededRandom
    /// Whether readers stop and connections are reset.
    package private(set) var isStormy: Bool
    /// Violations found so far.
    package private(set) var violations: [String] = []
    /// Number of connections that were reset.
    package private(set) var resets = 0
    /// Number of connections whose end was reported to the server.
    package private(set) var endedLinks = 0
    /// Number of server restarts.
    package private(set) var restarts = 0
    /// Number of times the disk was full.
    package internal(set) var fullDisks = 0
    /// Size in bytes of a simulated socket's buffer.
    package var bufferBytes: Int
    /// Compares the server's memory with its limits after every step.
    package var audit: MemoryAudit?
    /// Called after every step of the server.
    package var onStep: (() -> Void)?
    /// Called with each batch before it is appended.
    package var onBatch: ((Batch) -> Void)?
    /// Called with the recovered state before clients are served.
    package var onRecovered: ((Recovery) -> Void)?
    /// Called with the bytes of each write, which are whole frames, before the client receives
    /// them.
    package var onWrite: ((ConnectionID, [UInt8]) -> Void)?
    /// Maximum time in nanoseconds until a batch is appended; about half of the batches take
    /// none.
    package var journalDelayMax: UInt64 = 3_000_000
    /// Whether the world is without random disturbances, delays and splits.
    let isCalm: Bool
    /// The world in which effects of the trees run; nil if they do not run.
    private let effects: ManualWorld?
    private(set) var clients: [SimulatedClient] = []
    var links: [ConnectionID: (link: SimulatedLink, client: SimulatedClient?)] = [:]
    private var lastLink: UInt64 = 0
    private var isTurnDue = false
    private var appendDue: UInt64 = 0
    /// The time at which the journal will have reported all commits.
    var reportDue: UInt64 = 0
    /// Requests of mirrors to their clients.
    let clientJobs = Mailbox<@Sendable () -> Void>(ring: {})
    private let saboteur: Saboteur?
    let secrets: SecretSource

    /// Starts a server of `tree`, whose effects run in `effects`; with `fault`, the world
    /// simulates that fault. In a calm world, all events happen at once and in order.
    package convenience init(
        seed: UInt64, _ tree: Tree, limits: ServerLimits = ServerLimits(),
        effects: ManualWorld? = nil, isCalm: Bool = false, fault: PlantedFault? = nil
    ) {
        let secrets = SecretSource(seed: ~seed)
        let server = Server(tree, limits: limits, daemonName: "simulated") { secrets.next() }
        self.init(
            seed: seed, server, secrets, effects: effects, isCalm: isCalm,
            weather: SimulatedWeather(), fault: fault, journal: nil)
    }

    init(
        seed: UInt64, _ server: Server, _ secrets: SecretSource, effects: ManualWorld?,
        isCalm: Bool, weather: SimulatedWeather, fault: PlantedFault?, journal: SimulatedJournal?
    ) {
        self.seed = seed
        self.server = server
        self.secrets = secrets
        self.effects = effects
        self.isCalm = isCalm
        self.weather = weather
        self.journal = journal
        isStormy = !isCalm
        bufferBytes = isCalm ? .max : 4_096
        random = SeededRandom(seed: seed)
        saboteur = fault.map { Saboteur($0) }
        tick()
        if isStormy { storm() }
    }

    /// The source of session secrets, shared by all starts of the server.
    final class SecretSource {
        private var random: SeededRandom

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        func next() -> UInt64 { random.next() }
    }

    /// Adds a client, which connects after a delay.
    package func client(_ options: ClientOptions = ClientOptions()) -> SimulatedClient {
        var options = options
        options.keepsTrying = true
        let client = SimulatedClient(self, options)
        clients.append(client)
        client.act { $0.start() }
        return client
    }

    /// Simulates a client of user `uid` that connects, sends `bytes`, and disconnects after
    /// `nanoseconds`.
    package func knock(_ bytes: [UInt8], uid: UInt32, for nanoseconds: UInt64) {
        let link = open(nil, uid: uid)
        if !bytes.isEmpty { server.receive(link.id, bytes.span, at: timeline.now) }
        noteServer()
        timeline.after(nanoseconds) { [unowned self] in shut(link) }
    }

    /// Replaces the server by a new server of `tree`; the state of the old one is lost.
    package func restart(_ tree: Tree) {
        loseLinks()
        let secrets = secrets
        server = Server(tree, limits: server.limits, daemonName: "simulated") { secrets.next() }
    }

    /// Continues with another server.
    func goOn(with next: Server) {
        server = next
        // A recovered server numbers connections after those in its history; a read-only one also
        // after those that are open.
        lastLink = max(next.isReadOnly ? lastLink : 0, next.highestConnection)
    }

    /// Breaks all connections, which the clients learn after a delay. Reports of commits in
    /// progress are dropped.
    func loseLinks() {
        restarts += 1
        for (link, client) in sortedLinks {
            link.isOpen = false
            links[link.id] = nil
            timeline.after(delay()) { client?.lose(link) }
        }
        appendDue = 0
        reportDue = 0
    }

    /// Returns the epoch for a server that starts without the current server's history.
    package func newEpoch() -> UInt64 {
        let epoch = random.next()
        return saboteur?.fault == .keptEpoch ? server.tree.revision.epoch : epoch
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
        isStormy = false
        for (link, _) in sortedLinks {
            link.isStalled = false
            scheduleDown(link)
        }
    }

    /// Records a violation unless `condition` holds.
    package func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
        guard !condition, violations.count < Self.violationsMax else { return }
        violations.append("seed \(seed), \(timeline.now / 1_000) µs: \(text())")
    }

    /// Maximum number of recorded violations: a broken run may violate a condition at every step.
    private static let violationsMax = 200
    /// Nanoseconds that the encoding of a large answer outside the server takes.
    private static let encodingNanoseconds: UInt64 = 50_000

    /// Whether the server was informed of the connection's start and not of its end.
    package func isOpen(_ connection: UInt64) -> Bool { links[ConnectionID(connection)] != nil }

    /// Returns a random delay of bytes, in nanoseconds.
    func delay() -> UInt64 {
        isCalm ? 0 : UInt64.random(in: 1_000...weather.delayMax, using: &random)
    }

    /// Returns the number of bytes that pass at once.
    private func portion() -> Int {
        if isCalm { return .max }
        return random.chance(weather.singleBytePercent)
            ? 1 : Int.random(in: 1...weather.portionMax, using: &random)
    }

    private var sortedLinks: [(link: SimulatedLink, client: SimulatedClient?)] {
        links.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }

    // MARK: Disturbances

    private func tick() {
        timeline.after(1_000_000_000) { [unowned self] in
            server.tick(at: timeline.now)
            noteServer()
            tick()
        }
    }

    private func storm() {
        timeline.after(UInt64.random(in: 1_000_000...weather.pauseMax, using: &random)) {
            [unowned self] in
            guard isStormy else { return }
            if let (link, client) = sortedLinks.randomElement(using: &random) {
                let kind = Int.random(in: 0..<100, using: &random)
                if kind < weather.resetPercent {
                    reset(link, client)
                } else {
                    link.isStalled = kind < weather.resetPercent + weather.stallPercent
                    scheduleDown(link)
                }
            }
            storm()
        }
    }

    /// Breaks a connection; both ends learn of it after separate delays.
    func reset(_ link: SimulatedLink, _ client: SimulatedClient?) {
        resets += 1
        shut(link)
        timeline.after(delay()) { client?.lose(link) }
    }
}

// MARK: - Links
extension SimulatedWorld {
    func open(_ client: SimulatedClient?, uid: UInt32 = 1_000) -> SimulatedLink {
        lastLink += 1
        let link = SimulatedLink(ConnectionID(lastLink))
        links[link.id] = (link, client)
        let pid = Int32(truncatingIfNeeded: uid)
        server.connect(link.id, Peer(uid: uid, gid: uid, pid: pid), at: timeline.now)
        noteServer()
        return link
    }

    /// Closes the client's end; bytes that the client has sent still arrive.
    func finish(_ link: SimulatedLink) {
        link.isFinished = true
        scheduleUp(link)
    }

    /// Shuts down the client's writing side: bytes that it has sent still arrive, then the server
    /// sees the end of input. The client still reads until the link is reset.
    package func halfClose(_ link: SimulatedLink) {
        link.isHalfClosed = true
        scheduleUp(link)
    }

    func scheduleUp(_ link: SimulatedLink) {
        guard link.isOpen, !link.isUpDue, !link.isPaused else { return }
        link.isUpDue = true
        timeline.after(delay()) { [unowned self] in
            link.isUpDue = false
            guard link.isOpen, !link.isPaused else { return }
            let bytes = SimulatedLink.take(portion(), from: &link.up)
            if !bytes.isEmpty { receive(bytes, link) }
            if !link.up.isEmpty {
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
        if let saboteur, let client = links[link.id]?.client {
            for again in saboteur.sees(bytes, on: link.id, of: client) {
                server.perform { tree in
                    guard let path = try? SlicePath(again.path), let node = tree.node(at: path)
                    else { return }
                    let caller = Caller(
                        connection: link.id.rawValue, client: 0, uid: 0, gid: 0, pid: 0)
                    _ = tree.dispatch(to: node, again.action.span, by: caller, ordinal: 0)
                }
            }
        }
        server.receive(link.id, bytes.span, at: timeline.now)
    }

    func scheduleDown(_ link: SimulatedLink) {
        guard link.isOpen, !link.isDownDue, !link.isStalled else { return }
        link.isDownDue = true
        timeline.after(delay()) { [unowned self] in
            link.isDownDue = false
            guard link.isOpen, !link.isStalled else { return }
            let client = links[link.id]?.client
            let bytes = SimulatedLink.take(portion(), from: &link.down)
            if link.fill(bufferBytes) {
                server.written(link.id, at: timeline.now)
                noteServer()
            }
            if !link.down.isEmpty { scheduleDown(link) }
            if !bytes.isEmpty { client?.receive(bytes, from: link) }
        }
    }

    /// Closes the server's end of a link and reports the end to the server.
    func shut(_ link: SimulatedLink) {
        guard link.isOpen else { return }
        link.isOpen = false
        links[link.id] = nil
        endedLinks += 1
        if saboteur?.fault != .keptClaims || random.chance(50) {
            server.disconnect(link.id, at: timeline.now)
        }
        noteServer()
    }

    /// Closes a link for the server without delivering the rest of the write; buffered bytes
    /// still arrive.
    private func cut(_ link: SimulatedLink, _ client: SimulatedClient?) {
        link.rest = []
        close(link, client)
    }

    /// Closes a link for the server; bytes that the server has written still arrive.
    private func close(_ link: SimulatedLink, _ client: SimulatedClient?) {
        let last = link.down + link.rest
        shut(link)
        timeline.after(delay()) {
            client?.receive(last, from: link)
            client?.lose(link)
        }
    }
}

// MARK: - The server's shell
extension SimulatedWorld {
    /// Carries out the server's outputs, checks the invariants, and schedules a turn if one is
    /// needed.
    func noteServer() {
        carryOut()
        look()
        if server.needsTurn { dueTurn() }
    }

    /// Schedules the end of a turn.
    func dueTurn() {
        guard !isTurnDue else { return }
        isTurnDue = true
        let pause = isCalm ? 0 : UInt64.random(in: 0...weather.turnDelayMax, using: &random)
        timeline.after(pause) { [unowned self] in
            isTurnDue = false
            server.endTurn(at: timeline.now)
            noteServer()
            journal?.lookAfterTurn(of: server)
            if server.needsTurn { dueTurn() }
        }
    }

    /// Checks the conditions that hold after every step.
    private func look() {
        if let audit {
            for finding in audit.findings(server.memory) {
                expect(false, "too much is kept: \(finding)")
            }
        }
        onStep?()
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
        case .pauseReading(let id): links[id]?.link.isPaused = true
        case .resumeReading(let id):
            guard let (link, _) = links[id] else { return }
            link.isPaused = false
            if !link.up.isEmpty || link.isFinished || link.isHalfClosed { scheduleUp(link) }
        case .close(let id):
            if let (link, client) = links[id] { close(link, client) }
        case .cut(let id):
            if let (link, client) = links[id] { cut(link, client) }
        case .append(let batch): append(batch)
        case .readHistory(let question):
            answer(question)
        case .sum(let probe):
            let (values, byteCount) = probe.sums()
            server.summed(values, byteCount: byteCount)
        case .encode(let capture):
            let start = restarts
            timeline.after(Self.encodingNanoseconds) { [unowned self] in
                // A server that has been replaced has lost its queries.
                guard start == restarts else { return }
                server.encoded(capture.encode())
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
        link.isWriting = true
        var bytes: [UInt8] = []
        for slice in slices { bytes.append(contentsOf: slice.storage[slice.range]) }
        onWrite?(id, bytes)
        if let saboteur, let client { bytes = saboteur.tampered(bytes, on: id, of: client) }
        link.rest.append(contentsOf: bytes)
        if link.fill(bufferBytes) { server.written(id, at: timeline.now) }
        scheduleDown(link)
    }

    private func append(_ batch: Batch) {
        // Batches are appended in order, whatever their delays.
        let isSwift = isCalm || random.chance(weather.swiftAppendPercent)
        let cost = isSwift ? 0 : UInt64.random(in: 0...journalDelayMax, using: &random)
        appendDue = max(appendDue, timeline.now + cost)
        if let journal { return append(batch, to: journal, at: appendDue) }
        onBatch?(batch)
        let start = restarts
        timeline.after(appendDue - timeline.now) { [unowned self] in
            // A server that has been replaced has lost its unfinished batches.
            guard start == restarts else { return }
            server.appended(batch.turn, at: timeline.now)
            noteServer()
        }
    }
}
