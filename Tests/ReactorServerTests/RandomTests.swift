import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// A random number generator (SplitMix64) that returns the same sequence for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// A random workload, compared with a plain model of the expected results.
final class RandomRun {
    private var random: SeededGenerator
    private let harness: ServerHarness
    private var actors: [Actor] = []
    private var visits = 0
    private var other = 0
    /// The largest value, over all clients and ordinals, of the number of times an action was
    /// applied.
    private var worst = 0
    /// Whether the limits change during the run.
    private let changesLimits: Bool

    /// A client, the outcomes that it received, and those that it should have received.
    private final class Actor {
        var client: TestClient
        var mirror = PlainMirror()
        var log: OutcomeLog
        var secret: [UInt8] = []
        /// Ordinals sent, and whether each must be applied.
        var sent: [UInt64: Bool] = [:]
        var repeats: [UInt64: Int] = [:]
        var last: UInt64 = 0

        init(_ client: TestClient) throws {
            self.client = client
            log = try OutcomeLog([])
        }
    }

    init(seed: UInt64, changesLimits: Bool = false) throws {
        self.changesLimits = changesLimits
        random = SeededGenerator(seed: seed)
        harness = ServerHarness {
            $0.queueBytesMax = 6_000
            $0.undrainedBytesMax = 4_000
            $0.writeBytesMax = 3_000
            $0.ringBytesMax = 20_000
            $0.inFlightMax = 50
        }
        for _ in 0..<4 { actors.append(try Actor(harness.connect())) }
        for actor in actors { try greet(actor) }
    }

    private func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private func greet(_ actor: Actor) throws {
        actor.client.hello(Hello(session: actor.secret.isEmpty ? nil : actor.secret))
        actor.client.open("/visits")
        actor.client.open("/other", as: 1)
        actor.mirror = PlainMirror()
        actor.client.follow("/visits", in: &actor.mirror)
        actor.client.follow("/other", in: &actor.mirror)
        actor.client.follow("/visits/count", .value, in: &actor.mirror)
        actor.client.follow("/page/title", .value, in: &actor.mirror)
    }

    func step() throws {
        harness.appendsAtOnce = chance(50)
        for _ in 0..<Int.random(in: 0..<6, using: &random) {
            guard let actor = actors.randomElement(using: &random) else { return }
            act(actor)
        }
        if chance(70) { harness.turn() }
        if chance(60) { harness.append(Int.random(in: 0...3, using: &random)) }
        for actor in actors where chance(50) {
            actor.client.take(Int.random(in: 0..<2_000, using: &random))
            try hear(actor)
        }
        if chance(10) {
            harness.now += 1_000_000_000
            harness.server.tick(at: harness.now)
        }
        if chance(3), let actor = actors.randomElement(using: &random) { try reconnect(actor) }
        if changesLimits, chance(10) { changeLimits() }
        check()
    }

    /// Applies other limits, as a reload of the configuration does.
    private func changeLimits() {
        var limits = harness.server.limits
        limits.queueBytesMax = Int.random(in: 4_096...8_000, using: &random)
        limits.undrainedBytesMax = Int.random(in: 1_000...5_000, using: &random)
        limits.writeBytesMax = Int.random(in: 1_000...5_000, using: &random)
        limits.ringBytesMax = Int.random(in: 0...20_000, using: &random)
        limits.resumeBytesMax = Int.random(in: 0...20_000, using: &random)
        limits.snapshotCacheBytesMax = Int.random(in: 0...5_000, using: &random)
        limits.unreleasedBytesMax = Int.random(in: 500...20_000, using: &random)
        limits.inFlightMax = Int.random(in: 10...50, using: &random)
        limits.inFlightBytesMax = Int.random(in: 200...20_000, using: &random)
        limits.framesPerTurnMax = Int.random(in: 1...40, using: &random)
        limits.parkedRequestsMax = Int.random(in: 0...4, using: &random)
        limits.sessionsMax = Int.random(in: 8...64, using: &random)
        limits.connectionsMax = Int.random(in: 8...64, using: &random)
        limits.handshakesMax = Int.random(in: 4...8, using: &random)
        harness.server.setLimits(limits)
        var quota = UserQuota()
        if chance(50) {
            quota.actions = TokenRate(Int.random(in: 1...200, using: &random), in: 1_000_000_000)
        }
        harness.server.apply(QuotaRules([.init(to: .anyone, quota)]))
    }

    private func act(_ actor: Actor) {
        // The shell stops reading when the server tells it to.
        guard !actor.client.socket.isPaused else { return }
        for _ in 0..<Int.random(in: 1..<12, using: &random) {
            if chance(15), let ordinal = actor.sent.keys.sorted().randomElement(using: &random) {
                actor.repeats[ordinal, default: 0] += 1
                actor.client.dispatch(Tally.Action.add(by: 1_000), ordinal: ordinal)
                continue
            }
            actor.last += chance(10) ? 2 : 1
            let (amount, id) = (Int.random(in: 1..<10, using: &random), chance(50))
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                actor.sent[actor.last] = false
                actor.client.dispatch(Tally.Action.refuse(text: "no"), ordinal: actor.last)
            case 1:
                actor.sent[actor.last] = true
                actor.client.dispatch(Tally.Action.ask, ordinal: actor.last)
            default:
                actor.sent[actor.last] = true
                actor.client.dispatch(
                    Tally.Action.add(by: amount), ordinal: actor.last, to: id ? 0 : 1)
                if id { visits += amount } else { other += amount }
            }
        }
    }

    private func hear(_ actor: Actor) throws {
        let frames = actor.client.frames()
        for frame in frames {
            try actor.log.note(frame)
            if frame.kind == .welcome { actor.secret = try frame.decode(Welcome.self).session }
            #expect(frame.kind != .closing)
        }
        try actor.mirror.take(frames)
    }

    private func reconnect(_ actor: Actor) throws {
        try hear(actor)
        guard !actor.secret.isEmpty, !actor.client.socket.isPaused else { return }
        actor.client.disconnect()
        actor.client = harness.connect()
        try greet(actor)
        // The daemon may have the actions in flight: they are sent again, and must not run twice.
        for ordinal in actor.sent.keys.sorted() where actor.log[ordinal] == nil {
            actor.repeats[ordinal, default: 0] += 1
            actor.client.dispatch(Tally.Action.add(by: 1_000), ordinal: ordinal)
        }
    }

    private func check() {
        for connection in harness.server.connections.values {
            worst = max(worst, connection.outlet.value.updateByteCount)
            #expect(connection.outlet.value.inFlight.count >= 0)
            #expect(connection.outlet.value.updateByteCount < 30_000)
        }
        #expect(harness.server.memory.ringBytes <= 20_000)
    }

    /// Lets all frames arrive, and compares.
    func finish() throws {
        harness.appendsAtOnce = true
        harness.server.apply(QuotaRules())
        for _ in 0..<200 {
            harness.append()
            for actor in actors {
                actor.client.take()
                try hear(actor)
            }
            harness.now += 1_000_000_000
            harness.server.tick(at: harness.now)
            harness.turn()
        }
        for actor in actors {
            try hear(actor)
            #expect(try actor.mirror.tally("/visits") == harness.tally("/visits"))
            #expect(try actor.mirror.tally("/other") == harness.tally("/other"))
            #expect(try actor.mirror.value("/visits/count") == harness.value("/visits/count"))
            #expect(actor.mirror.markedSequence == harness.server.tree.revision.sequence)
            for (ordinal, isApplied) in actor.sent {
                let got = actor.log.outcomes[ordinal] ?? []
                #expect(!got.isEmpty, "ordinal \(ordinal) has no outcome")
                #expect(got.count <= 1 + (actor.repeats[ordinal] ?? 0))
                #expect(got.allSatisfy { $0.isApplied == isApplied })
                #expect(Set(got.map { "\($0.sequence ?? 0)" }).count == 1)
            }
        }
        #expect(try harness.tally("/visits").count == visits)
        #expect(try harness.tally("/other").count == other)
        #expect(harness.unappended.isEmpty)
    }
}

extension Outcome {
    var sequence: UInt64? {
        if case .applied(let sequence, _, _) = self { sequence } else { nil }
    }
}

struct RandomTests {
    @Test(
        "in any split of clients' bytes, mirrors equal the state and each action counts once",
        arguments: 0..<60 as Range<UInt64>)
    func workload(_ seed: UInt64) throws {
        let run = try RandomRun(seed: seed)
        for _ in 0..<150 { try run.step() }
        try run.finish()
    }

    @Test(
        "the same holds while the limits and quotas change", arguments: 100..<140 as Range<UInt64>)
    func changingLimits(_ seed: UInt64) throws {
        let run = try RandomRun(seed: seed, changesLimits: true)
        for _ in 0..<150 { try run.step() }
        try run.finish()
    }
}
