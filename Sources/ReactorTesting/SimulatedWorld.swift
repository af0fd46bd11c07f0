import ReactorBytes
public import ReactorClient
public import ReactorCore
public import ReactorServer
import ReactorThreads

/// The real server and real clients in a world without sockets, disks and clocks, from one seed.
///
/// Bytes are split and delayed, readers stop, connections are reset, batches take their time, and
/// the server may start anew without its past. The same seed gives the same storm.
///
/// *Place*: under ``Simulation``, which is what an author's test uses, and ``TestDaemon``. A test of
/// the server makes one, adds clients with a workload, lets it ``run(for:)`` through a storm, lets
/// it ``heal()``, runs on, and compares.
public final class SimulatedWorld {
    /// The seed of everything random.
    public let seed: UInt64
    /// The time, and what is to happen when.
    public let timeline = Timeline()
    /// The daemon that is up.
    public private(set) var server: Server
    /// What the daemon goes on from after a crash, where it keeps history.
    public let journal: SimulatedJournal?
    /// How rough it is.
    public var weather: SimulatedWeather
    /// Everything random is drawn from here.
    public var random: SeededRandom
    /// Whether readers stop and connections are reset.
    public private(set) var isStormy: Bool
    /// What was found that must not be.
    public private(set) var violations: [String] = []
    /// Connections that were reset.
    public private(set) var resets = 0
    /// Connections whose end the server was told.
    public private(set) var endedLinks = 0
    /// How often the server was started anew.
    public private(set) var restarts = 0
    /// How often the disk was full.
    public internal(set) var fullDisks = 0
    /// Bytes of a simulated socket's buffer.
    public var bufferBytes: Int
    /// Compares what the server keeps with its limits, after every step.
    public var audit: MemoryAudit?
    /// Called after every step of the server.
    public var onStep: (() -> Void)?
    /// Called with each batch, before it is appended.
    public var onBatch: ((Batch) -> Void)?
    /// Called with what was recovered, before it is served.
    public var onRecovered: ((Recovery) -> Void)?
    /// Called with the bytes of each write, which are whole frames, before a client can have them.
    public var onWrite: ((ConnectionID, [UInt8]) -> Void)?
    /// Nanoseconds that it takes at most until a batch is appended; half of them take none.
    public var journalDelayMax: UInt64 = 3_000_000
    /// Whether nothing is random: no weather, no delays, no splits.
    let isCalm: Bool
    /// Where the effects of the trees run, if they do.
    private let effects: ManualWorld?
    private(set) var clients: [SimulatedClient] = []
    var links: [ConnectionID: (link: SimulatedLink, client: SimulatedClient?)] = [:]
    private var lastLink: UInt64 = 0
    private var isTurnDue = false
    private var appendDue: UInt64 = 0
    /// When the journal will have said of all it was handed that it holds it.
    var reportDue: UInt64 = 0
    /// What mirrors ask of their clients, on its way to them.
    let clientJobs = Mailbox<@Sendable () -> Void>(ring: {})
    private let saboteur: Saboteur?
    let secrets: SecretSource

    /// Starts a server of `tree`, whose effects run in `effects`; with `fault`, one that does
    /// something wrong. Where it is calm, everything happens at once and in order.
    public convenience init(
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

    /// Session secrets, which differ from one start of the server to the next.
    final class SecretSource {
        private var random: SeededRandom

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        func next() -> UInt64 { random.next() }
    }

    /// Adds a client that connects soon.
    public func client(_ options: ClientOptions = ClientOptions()) -> SimulatedClient {
        var options = options
        options.keepsTrying = true
        let client = SimulatedClient(self, options)
        clients.append(client)
        client.act { $0.start() }
        return client
    }

    /// Has a stranger of user `uid` connect, send `bytes`, and leave after `nanoseconds`.
    public func knock(_ bytes: [UInt8], uid: UInt32, for nanoseconds: UInt64) {
        let link = open(nil, uid: uid)
        if !bytes.isEmpty { server.receive(link.id, bytes.span, at: timeline.now) }
        noteServer()
        timeline.after(nanoseconds) { [unowned self] in shut(link) }
    }

    /// Starts a server of `tree` in place of the one at hand, which is gone with all it knew.
    public func restart(_ tree: Tree) {
        loseLinks()
        let secrets = secrets
        server = Server(tree, limits: server.limits, daemonName: "simulated") { secrets.next() }
    }

    /// Goes on with another server.
    func goOn(with next: Server) {
        server = next
        // because a daemon that starts numbers its connections behind those that it knows of, and
        // one that goes on behind those that it had
        lastLink = max(next.isReadOnly ? lastLink : 0, next.highestConnection)
    }

    /// All connections break, as their clients then learn; what was being appended is not reported.
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

    /// The epoch of a server that starts without the past of the one at hand.
    public func newEpoch() -> UInt64 {
        let epoch = random.next()
        return saboteur?.fault == .keptEpoch ? server.tree.revision.epoch : epoch
    }

    /// Lets time pass.
    public func run(for nanoseconds: UInt64) {
        let end = timeline.now + nanoseconds
        guard let effects else { return timeline.run(until: end) }
        settle(effects)
        while let due = [timeline.nextDue, effects.nextDue].compactMap({ $0 }).min(), due <= end {
            // because who wakes at the same time as bytes arrive has waited longer
            if effects.nextDue == due {
                timeline.advance(to: due)
                _ = effects.clock.wakeNext(upTo: ManualClock.Instant(nanoseconds: due))
            } else {
                effects.clock.advance(to: ManualClock.Instant(nanoseconds: due))
                timeline.runNext()
            }
            settle(effects)
        }
        timeline.run(until: end)
        effects.clock.advance(to: ManualClock.Instant(nanoseconds: end))
    }

    /// Lets effects run, and server and clients take in what they are asked.
    private func settle(_ effects: ManualWorld) {
        while true {
            let isBusy = effects.settle { [unowned self] job in server.perform(job) }
            if isBusy { noteServer() }
            let jobs = clientJobs.drain()
            if jobs.isEmpty { return }
            for job in jobs { job() }
        }
    }

    /// Ends the storm: readers read on, and nothing is reset any more.
    public func heal() {
        isStormy = false
        for (link, _) in sortedLinks {
            link.isStalled = false
            scheduleDown(link)
        }
    }

    /// Notes a violation unless `condition` holds.
    public func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
        guard !condition, violations.count < Self.violationsMax else { return }
        violations.append("seed \(seed), \(timeline.now / 1_000) µs: \(text())")
    }

    // because a run that goes wrong goes wrong at every step
    /// Most violations that are noted.
    private static let violationsMax = 200
    /// Nanoseconds that it takes to encode a large answer beside the server.
    private static let encodingNanoseconds: UInt64 = 50_000

    /// Whether the server has been told of a connection and not of its end.
    public func isOpen(_ connection: UInt64) -> Bool { links[ConnectionID(connection)] != nil }

    /// A random delay of a message, in nanoseconds.
    func delay() -> UInt64 {
        isCalm ? 0 : UInt64.random(in: 1_000...weather.delayMax, using: &random)
    }

    /// How many bytes pass at once.
    private func portion() -> Int {
        if isCalm { return .max }
        return random.chance(weather.singleBytePercent)
            ? 1 : Int.random(in: 1...weather.portionMax, using: &random)
    }

    private var sortedLinks: [(link: SimulatedLink, client: SimulatedClient?)] {
        links.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }

    // MARK: Weather

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

    /// Has a connection break, as the two ends then learn.
    func reset(_ link: SimulatedLink, _ client: SimulatedClient?) {
        resets += 1
        shut(link)
        // because the two ends learn of it at different times
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

    /// The client closed its end: what it had written still arrives.
    func finish(_ link: SimulatedLink) {
        link.isFinished = true
        scheduleUp(link)
    }

    /// The client shut its writing side down, and still reads: what it had written arrives, then the
    /// server is told that nothing more comes. A link that is reset after that was closed wholly.
    public func halfClose(_ link: SimulatedLink) {
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

    /// The server's end of a link is gone.
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

    /// The server closed a link: what the client's buffer holds still arrives.
    private func cut(_ link: SimulatedLink, _ client: SimulatedClient?) {
        link.rest = []
        close(link, client)
    }

    /// The server closed a link: what it had written still arrives.
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
    /// Sees to it that a turn ends soon after something happened to the server.
    func noteServer() {
        carryOut()
        look()
        if server.needsTurn { dueTurn() }
    }

    /// Has a turn end soon.
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

    /// Looks at what must hold after every step.
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
                // because a server that is gone took its questions with it
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
        // because batches are appended in their order, whatever each of them takes
        let isSwift = isCalm || random.chance(weather.swiftAppendPercent)
        let cost = isSwift ? 0 : UInt64.random(in: 0...journalDelayMax, using: &random)
        appendDue = max(appendDue, timeline.now + cost)
        if let journal { return append(batch, to: journal, at: appendDue) }
        onBatch?(batch)
        let start = restarts
        timeline.after(appendDue - timeline.now) { [unowned self] in
            // because a server that is gone took its unfinished batches with it
            guard start == restarts else { return }
            server.appended(batch.turn, at: timeline.now)
            noteServer()
        }
    }
}
