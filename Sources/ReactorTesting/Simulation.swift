import ReactorBytes
public import ReactorClient
public import ReactorCore
public import ReactorServer

/// The real server and real clients in a world without sockets, disks and clocks, from one seed.
///
/// Bytes are split and delayed, readers stop, connections are reset, batches take their time. The
/// same seed gives the same storm.
///
/// *Place*: a test makes one, adds clients with a workload, lets it ``run(for:)`` through a storm,
/// lets it ``heal()``, runs on, and compares.
public final class Simulation {
    public let seed: UInt64
    public let timeline = Timeline()
    public let server: Server
    /// Everything random is drawn from here.
    public var random: SeededRandom
    /// Whether readers stop and connections are reset.
    public private(set) var isStormy = true
    /// What was found that must not be.
    public private(set) var violations: [String] = []
    /// Connections that were reset.
    public private(set) var resets = 0
    /// Bytes of a simulated socket's buffer.
    public var bufferBytes = 4_096
    private(set) var clients: [SimulatedClient] = []
    private var links: [ConnectionID: (link: SimulatedLink, client: SimulatedClient)] = [:]
    private var lastLink: UInt64 = 0
    private var isTurnDue = false
    private var appendDue: UInt64 = 0

    /// Starts a server of `tree`.
    public init(seed: UInt64, _ tree: Tree, limits: ServerLimits = ServerLimits()) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        var secrets = SeededRandom(seed: ~seed)
        server = Server(tree, limits: limits, daemonName: "simulated") { secrets.next() }
        tick()
        storm()
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

    /// Lets time pass.
    public func run(for nanoseconds: UInt64) { timeline.run(until: timeline.now + nanoseconds) }

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
        guard !condition, violations.count < 20 else { return }
        violations.append("seed \(seed), \(timeline.now / 1_000) µs: \(text())")
    }

    /// A random delay of a message, in nanoseconds.
    func delay() -> UInt64 { UInt64.random(in: 1_000...2_000_000, using: &random) }

    private var sortedLinks: [(link: SimulatedLink, client: SimulatedClient)] {
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
        timeline.after(UInt64.random(in: 1_000_000...30_000_000, using: &random)) {
            [unowned self] in
            guard isStormy else { return }
            if let (link, client) = sortedLinks.randomElement(using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<2: reset(link, client)
                case 2..<6: link.isStalled = true
                default:
                    link.isStalled = false
                    scheduleDown(link)
                }
            }
            storm()
        }
    }

    private func reset(_ link: SimulatedLink, _ client: SimulatedClient) {
        resets += 1
        shut(link)
        // because the two ends learn of it at different times
        timeline.after(delay()) { client.lose(link) }
    }
}

// MARK: - Links
extension Simulation {
    func open(_ client: SimulatedClient) -> SimulatedLink {
        lastLink += 1
        let link = SimulatedLink(ConnectionID(lastLink))
        links[link.id] = (link, client)
        server.connect(link.id, Peer(uid: 1_000, gid: 1_000, pid: 1), at: timeline.now)
        noteServer()
        return link
    }

    /// The client closed its end: what it had written still arrives.
    func finish(_ link: SimulatedLink) {
        link.isFinished = true
        scheduleUp(link)
    }

    func scheduleUp(_ link: SimulatedLink) {
        guard link.isOpen, !link.isUpDue, !link.isPaused else { return }
        link.isUpDue = true
        timeline.after(delay()) { [unowned self] in
            link.isUpDue = false
            guard link.isOpen, !link.isPaused else { return }
            let bytes = SimulatedLink.take(
                random.chance(20) ? 1 : Int.random(in: 1...8_192, using: &random), from: &link.up)
            if !bytes.isEmpty { server.receive(link.id, bytes.span, at: timeline.now) }
            if !link.up.isEmpty {
                scheduleUp(link)
            } else if link.isFinished {
                shut(link)
            }
            noteServer()
        }
    }

    func scheduleDown(_ link: SimulatedLink) {
        guard link.isOpen, !link.isDownDue, !link.isStalled else { return }
        link.isDownDue = true
        timeline.after(delay()) { [unowned self] in
            link.isDownDue = false
            guard link.isOpen, !link.isStalled, let client = links[link.id]?.client else { return }
            let bytes = SimulatedLink.take(
                random.chance(20) ? 1 : Int.random(in: 1...8_192, using: &random), from: &link.down)
            if link.fill(bufferBytes) {
                server.written(link.id, at: timeline.now)
                noteServer()
            }
            if !link.down.isEmpty { scheduleDown(link) }
            if !bytes.isEmpty { client.receive(bytes, from: link) }
        }
    }

    /// The server's end of a link is gone.
    private func shut(_ link: SimulatedLink) {
        guard link.isOpen else { return }
        link.isOpen = false
        links[link.id] = nil
        server.disconnect(link.id, at: timeline.now)
        noteServer()
    }

    /// The server closed a link: what it had written still arrives.
    private func close(_ link: SimulatedLink, _ client: SimulatedClient) {
        let last = link.down + link.rest
        shut(link)
        timeline.after(delay()) {
            client.receive(last, from: link)
            client.lose(link)
        }
    }
}

// MARK: - The server's shell
extension Simulation {
    /// Sees to it that a turn ends soon after something happened to the server.
    func noteServer() {
        carryOut()
        guard server.needsTurn, !isTurnDue else { return }
        isTurnDue = true
        timeline.after(UInt64.random(in: 0...300_000, using: &random)) { [unowned self] in
            isTurnDue = false
            server.endTurn(at: timeline.now)
            noteServer()
        }
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
        case .write(let id, let slices):
            guard let (link, _) = links[id] else { return }
            expect(!link.isWriting, "a second write to \(id) before the first was taken")
            link.isWriting = true
            for slice in slices { link.rest.append(contentsOf: slice.storage[slice.range]) }
            if link.fill(bufferBytes) { server.written(id, at: timeline.now) }
            scheduleDown(link)
        case .pauseReading(let id): links[id]?.link.isPaused = true
        case .resumeReading(let id):
            guard let (link, _) = links[id] else { return }
            link.isPaused = false
            if !link.up.isEmpty || link.isFinished { scheduleUp(link) }
        case .close(let id):
            if let (link, client) = links[id] { close(link, client) }
        case .append(let batch): append(batch)
        case .log: break
        }
    }

    private func append(_ batch: Batch) {
        // because batches are appended in their order, whatever each of them takes
        let cost = random.chance(50) ? 0 : UInt64.random(in: 0...3_000_000, using: &random)
        appendDue = max(appendDue, timeline.now + cost)
        timeline.after(appendDue - timeline.now) { [unowned self] in
            server.appended(batch.turn, at: timeline.now)
            noteServer()
        }
    }
}
