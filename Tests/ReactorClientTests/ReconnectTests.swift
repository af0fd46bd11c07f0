import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// A client whose connections break.
struct ReconnectTests {
    private typealias Action = StockReactors.Counter.Action
    private static let actionCount = 40

    /// Runs a conversation whose connection is cut at the bytes in `cut`; returns the final states
    /// of the daemon and the client.
    private func converse(
        _ cut: (Rig.Joined) -> Void
    ) throws -> (count: Int64?, outcomes: [UInt64], shown: Int64, connects: Int) {
        let rig = Rig()
        var options = ClientOptions()
        options.inFlightMax = 8
        options.keepsTrying = true
        let client = rig.client(options)
        cut(client)
        let node = try client.open("/visits", rig)
        let mirror = try client.mirror("/visits", rig)
        var outcomes: [UInt64] = []
        for index in 0..<Self.actionCount {
            try client.machine.dispatch(Action.increment(by: 1), to: node) { outcome in
                outcomes.append(outcome.revision?.sequence ?? 0)
            }
            if index % 10 == 9 { rig.run() }
        }
        rig.run()
        return (try rig.count(at: "/visits"), outcomes, mirror.state.count, client.connectCount)
    }

    private func check(_ cut: (Rig.Joined) -> Void) throws -> Int {
        let result = try converse(cut)
        #expect(result.count == Int64(Self.actionCount))
        #expect(result.outcomes == Array(1...UInt64(Self.actionCount)))
        #expect(result.shown == Int64(Self.actionCount))
        return result.connects
    }

    @Test("C86: cut after any byte that it sends, a client has every action applied once")
    func cutUp() throws {
        var offset = 0
        while try check({ $0.upBudget = offset }) > 1 { offset += 1 }
        #expect(offset > 1_000)
    }

    @Test("C85: cut after any byte that it receives, a client has every action applied once")
    func cutDown() throws {
        var offset = 0
        while try check({ $0.downBudget = offset }) > 1 { offset += 1 }
        #expect(offset > 500)
    }

    @Test("a mirror catches up with the changes of its absence, and stays the same object")
    func catchUp() throws {
        let rig = Rig()
        let client = rig.client()
        let writer = rig.client()
        let mirror = try client.mirror("/visits", rig)
        let node = try writer.open("/visits", rig)
        rig.cut(client)
        #expect(mirror.phase == .connecting)
        try writer.machine.dispatch(Action.increment(by: 5), to: node)
        rig.run()
        #expect(mirror.phase == .live && mirror.state.count == 5)
    }

    @Test("a subscription granted without a snapshot after a lag waits for its snapshot")
    func lagWhileResuming() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/other", rig)
        var mirror: ReactorClient.Mirror<StockReactors.Counter>? = try client.mirror("/visits", rig)
        client.onDown = { frames in
            frames.flatMap { ($0.kind == .subscribed ? Frame(.lag).bytes : []) + $0.bytes }
        }
        rig.cut(client)
        rig.run()
        client.onDown = nil
        var outcomes: [UInt64] = []
        try client.machine.dispatch(Action.increment(by: 5), to: node) { outcome in
            outcomes.append(outcome.revision?.sequence ?? 0)
        }
        rig.run()
        #expect(outcomes == [] && mirror?.state.count == 0)
        mirror = nil
        rig.run()
        #expect(outcomes == [1])
    }

    @Test("C87: without the session, sent actions are unknown and waiting ones are applied")
    func lostSession() throws {
        var limits = ServerLimits()
        limits.sessionsMax = 1
        let rig = Rig(limits: limits)
        var options = ClientOptions()
        options.inFlightMax = 2
        let client = rig.client(options)
        let node = try client.open("/visits", rig)
        // A session without actions would lose nothing.
        try client.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        var outcomes: [ActionOutcome] = []
        for _ in 0..<4 {
            try client.machine.dispatch(Action.increment(by: 1), to: node) {
                outcomes.append($0)
            }
        }
        _ = client.machine.takeOutgoing()
        rig.cut(client)
        // The daemon keeps one session, so the newcomer's replaces the other.
        _ = rig.newcomer()
        rig.run()
        #expect(outcomes.prefix(2) == [.unknown(.sessionExpired), .unknown(.sessionExpired)])
        #expect(outcomes.dropFirst(2).compactMap { $0.revision?.sequence } == [2, 3])
        #expect(try rig.count(at: "/visits") == 3)
    }

    @Test("C86: a session that never had an action is resumed, and the sent actions are applied")
    func blankSession() throws {
        var limits = ServerLimits()
        limits.sessionsMax = 1
        let rig = Rig(limits: limits)
        let client = rig.client()
        let node = try client.open("/visits", rig)
        var outcome: ActionOutcome?
        try client.machine.dispatch(Action.increment(by: 1), to: node) { outcome = $0 }
        _ = client.machine.takeOutgoing()
        rig.cut(client)
        _ = rig.newcomer()
        rig.run()
        #expect(outcome?.revision?.sequence == 1)
        #expect(try rig.count(at: "/visits") == 1)
    }

    /// The pauses before the first attempts to connect, when no daemon ever accepts.
    private func pauses(
        _ options: ClientOptions, attempts: Int, _ random: @escaping () -> UInt64
    ) -> [UInt64] {
        let machine = ClientMachine(options, random: random)
        machine.start()
        var pauses: [UInt64] = []
        for _ in 0..<attempts {
            _ = machine.takeOutputs()
            machine.connectFailed([])
            for case .setTimer(let pause) in machine.takeOutputs() { pauses.append(pause) }
            machine.timerFired()
        }
        return pauses
    }

    @Test("C84: pauses are drawn between pauseMin and pauseMax", arguments: 0..<20 as Range<UInt64>)
    func pauses(_ seed: UInt64) {
        var options = ClientOptions()
        options.keepsTrying = true
        var random = Seed(seed)
        let pauses = pauses(options, attempts: 100) { random.next() }
        #expect(pauses.count == 100)
        #expect(pauses.allSatisfy { options.pauseMin...options.pauseMax ~= $0 })
        #expect(Set(pauses).count > 90)
        // Full jitter fills the whole range once the longest pause is reached.
        let late = pauses.dropFirst(10)
        #expect(late.contains { $0 < options.pauseMax / 4 })
        #expect(late.contains { $0 > options.pauseMax / 4 * 3 })
    }

    @Test("C84: the longest pause that may be drawn doubles with every attempt, up to pauseMax")
    func longestPauses() {
        var options = ClientOptions()
        options.keepsTrying = true
        options.pauseMin = 50
        options.pauseMax = 5_000
        var attempt = 0
        let longest = pauses(options, attempts: 12) {
            attempt += 1
            // A draw of one less than the number of choices gives the longest pause.
            return min(50 << UInt64(attempt), 5_000) - 50
        }
        #expect(
            longest == [100, 200, 400, 800, 1_600, 3_200] + [UInt64](repeating: 5_000, count: 6))
    }

    @Test("C84: a thousand clients that lose their daemon at once do not reconnect at once")
    func storm() {
        var options = ClientOptions()
        options.keepsTrying = true
        let perMillisecond = (0..<1_000 as Range<UInt64>).reduce(into: [UInt64: Int]()) {
            var random = Seed($1)
            let pause = pauses(options, attempts: 1) { random.next() }[0]
            $0[pause / 1_000_000, default: 0] += 1
        }
        // 1,000 pauses over 50 milliseconds are 20 in each, and chance adds some.
        #expect(perMillisecond.count == 50 && (perMillisecond.values.max() ?? 0) < 45)
    }

    @Test("C84: options out of range still give a pause")
    func oddPauses() {
        var options = ClientOptions()
        options.keepsTrying = true
        options.pauseMin = 700
        options.pauseMax = 300
        #expect(pauses(options, attempts: 30) { .max }.allSatisfy { $0 == 300 })
        options.pauseMin = 0
        options.pauseMax = .max
        #expect(pauses(options, attempts: 80) { .max }.allSatisfy { $0 > 0 })
    }

    @Test("C84: after a live connection, pauses are short again")
    func pausesStartAnew() throws {
        let rig = Rig()
        var options = ClientOptions()
        options.pauseMin = 50
        options.pauseMax = 1 << 40
        let client = rig.client(options)
        _ = try client.open("/visits", rig)
        for _ in 0..<20 {
            rig.cut(client)
            rig.run()
            #expect(client.machine.figures.attempts <= 1)
        }
    }

    @Test("a daemon that cannot be reached the first time is an error that names the paths")
    func unreachable() {
        let machine = ClientMachine { 0 }
        var error: ClientError?
        machine.start { if case .failure(let failure) = $0 { error = failure } }
        let tried = [ClientError.Attempt(path: "/run/x.sock", reason: "no such file")]
        machine.connectFailed(tried)
        #expect(error == .unreachable(tried: tried))
    }

    /// Runs a client whose every attempt ends in `failure`; returns the pauses before it gave up,
    /// and the error.
    private func pauses(
        _ options: ClientOptions = ClientOptions(), _ failure: (ClientMachine) -> Void
    ) -> (pauses: [UInt64], error: ClientError?) {
        var draws: UInt64 = 0
        let machine = ClientMachine(options) {
            draws += 977_777_777
            return draws
        }
        var error: ClientError?
        var pauses: [UInt64] = []
        machine.start { if case .failure(let failure) = $0 { error = failure } }
        for _ in 0..<1_000 where error == nil {
            _ = machine.takeOutputs()
            failure(machine)
            for case .setTimer(let pause) in machine.takeOutputs() where error == nil {
                pauses.append(pause)
                machine.timerFired()
            }
        }
        return (pauses, error)
    }

    @Test("a client retries a daemon whose backlog is full for some seconds, then gives up")
    func busyBacklog() {
        let tried = [ClientError.Attempt(path: "/run/x.sock", reason: "try again", .busy)]
        let (pauses, error) = pauses { $0.connectFailed(tried) }
        let total = pauses.reduce(0, +)
        #expect(total >= 5_000_000_000 && total < 6_000_000_000)
        #expect(pauses.allSatisfy { $0 <= 400_000_000 })
        #expect(error == .unreachable(tried: tried))
        var impatient = ClientOptions()
        impatient.busyTimeout = 0
        #expect(self.pauses(impatient) { $0.connectFailed(tried) }.pauses.isEmpty)
    }

    @Test("a client retries a daemon that answers the first hello with BUSY, then gives up")
    func busyDaemon() {
        let frame = Frame(.closing, Closing(.busy, "too many").wireBytes())
        let (pauses, error) = pauses { machine in
            machine.connected()
            _ = machine.takeOutputs()
            machine.receive(frame.bytes.span)
        }
        #expect(pauses.reduce(0, +) >= 5_000_000_000)
        #expect(error == .closed(.busy, "too many"))
    }

    @Test("a client does not retry a socket that forbids, or a stranger's socket")
    func forbidden() {
        for obstacle in [ClientError.Attempt.Obstacle.forbidden, .untrusted, .broken, .absent] {
            let tried = [ClientError.Attempt(path: "/s", reason: "no", obstacle)]
            let (pauses, error) = pauses { $0.connectFailed(tried) }
            #expect(pauses.isEmpty && error == .unreachable(tried: tried))
        }
    }

    @Test(
        "C90: an outcome held back over a daemon's restart belongs to the history before it")
    func heldOverRestart() throws {
        let daemon = Puppet()
        daemon.welcome(epoch: 1, isResumed: false)
        var mirror: ReactorClient.Mirror<StockReactors.Counter>?
        daemon.machine.mirror(StockReactors.Counter.self, at: "/visits") { mirror = try? $0.get() }
        daemon.answer()
        daemon.say(.mark, number: 2)
        var outcome: ActionOutcome?
        daemon.machine.open("/visits") { node in
            guard let node = try? node.get() else { return }
            try? daemon.machine.dispatch(Action.increment(by: 1), to: node) { outcome = $0 }
        }
        daemon.answer()
        daemon.reconnect()
        daemon.welcome(epoch: 1, isResumed: true)
        daemon.answer()
        // A snapshot is complete only with its mark, so this outcome has to wait.
        daemon.say(
            .outcome, number: 1, Outcome.applied(sequence: 3, reply: nil, ownerEnded: false))
        #expect(outcome == nil)
        daemon.reconnect()
        daemon.welcome(epoch: 2, isResumed: false)
        #expect(outcome?.revision == Revision(epoch: 1, sequence: 3))
        #expect(mirror?.phase == .connecting)
    }
}

/// A daemon for one client that sends the frames of a test.
private final class Puppet {
    let machine: ClientMachine

    init() {
        var options = ClientOptions()
        options.keepsTrying = true
        machine = ClientMachine(options) { 0 }
        machine.start()
        _ = machine.takeOutputs()
        machine.connected()
        _ = machine.takeOutgoing()
    }

    func reconnect() {
        machine.disconnected()
        _ = machine.takeOutputs()
        machine.timerFired()
        _ = machine.takeOutputs()
        machine.connected()
        _ = machine.takeOutgoing()
    }

    func welcome(epoch: UInt64, isResumed: Bool) {
        say(
            .welcome,
            Welcome(
                version: Hello.version, daemon: "puppet", epoch: epoch, sequence: 2,
                session: [UInt8](repeating: 1, count: 16), isResumed: isResumed, client: 1,
                ordinal: isResumed ? 1 : 0,
                limits: Welcome.Limits(
                    frameBytesMax: 1 << 20, inFlightMax: 8, nodesMax: 8, subscriptionsMax: 8)))
    }

    /// Grants the client's requests: nodes, and slices that start with a snapshot.
    func answer() {
        guard let out = machine.takeOutgoing() else { return }
        let bytes = Array(out.bytes[out.range])
        var offset = 0
        while let header = try? FrameHeader.decode(
            bytes.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            offset += FrameHeader.byteCount + Int(header.length)
            switch FrameKind(rawValue: header.kind) {
            case .open:
                let opened = Opened(reactor: "Counter", fingerprint: 0, sequence: 2)
                say(.opened, id: header.id, number: header.number, opened)
            case .subscribe:
                let fingerprint = StockReactors.Counter.fingerprint
                say(
                    .subscribed, id: 5, number: header.number,
                    Subscribed(
                        start: .snapshot, reactor: "Counter", fingerprint: fingerprint, sequence: 2
                    ))
                say(.snapshot, id: 5, number: 2, StockReactors.Counter.State(count: 4))
            default: break
            }
        }
    }

    func say(_ kind: FrameKind, number: UInt64) {
        var writer = WireWriter()
        writer.header(FrameHeader(kind: kind, number: number))
        machine.receive(writer.bytes.span)
    }

    func say(_ kind: FrameKind, id: UInt32 = 0, number: UInt64 = 0, _ body: some WireCodable) {
        var writer = WireWriter()
        let frame = writer.beginFrame(kind, id: id, number: number)
        body.encode(into: &writer)
        writer.endFrame(at: frame)
        machine.receive(writer.bytes.span)
    }
}
