import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Two daemons that differ below hidden nodes only, and a client that may not see these.
struct AccessSecrecyTests {
    /// A daemon with an owner that writes below hidden nodes, and a stranger.
    private final class World {
        let harness = ServerHarness()
        let owner: TestClient
        private(set) var stranger: TestClient

        /// Makes the world in which the hidden room `room` exists.
        init(_ room: String) throws {
            let rules = AccessRules(
                [
                    .init(try SlicePath("/visits"), to: .uid(2_000), may: .none),
                    .init(try SlicePath("/house/rooms/s1"), to: .uid(2_000), may: .none),
                    .init(try SlicePath("/house/rooms/s2"), to: .anyone, may: .none),
                    .init(try SlicePath("/house/rooms/s3"), to: .anyone, may: .none),
                    .init(
                        try SlicePath("/page"), to: .uid(2_000),
                        may: AccessRights([.see, .act])),
                ], fallback: .use)
            harness.server.apply(rules, ownerUID: 1_000)
            owner = harness.start()
            owner.dispatch(House.Action.build(name: "open"), to: 3)
            owner.dispatch(House.Action.build(name: "s1"), to: 3)
            owner.dispatch(House.Action.build(name: room), to: 3)
            owner.open("/house/rooms/s1", as: 4)
            harness.settle()
            stranger = harness.client(uid: 2_000)
        }

        /// Connects the stranger again.
        func reconnect() {
            stranger.disconnect()
            stranger = harness.client(uid: 2_000)
        }
    }

    private static let paths = [
        "/", "/visits", "/visits/count", "/page", "/page/title", "/house", "/house/built",
        "/house/rooms", "/house/rooms/s1", "/house/rooms/s1/count", "/house/rooms/s2",
        "/house/rooms/s3",
        "/house/rooms/none", "/house/rooms/open", "/other", "/nothing", "/visit",
    ]

    /// The requests of a stranger, as random numbers determine them.
    private func ask(_ random: inout Draw, of client: TestClient) {
        let path = Self.paths[random.below(Self.paths.count)]
        switch random.below(14) {
        case 0: client.open(path, as: UInt32(random.below(3)))
        case 1: client.subscribe(path)
        case 2: client.subscribe(path, .value)
        case 3: client.subscribe(path, .value, patches: true)
        case 4: client.subscribe(path, selecting: Selection())
        case 5:
            let sequence = UInt64(random.below(40))
            client.subscribe(
                path, random.below(2) == 0 ? .value : .replica,
                from: Revision(epoch: 7, sequence: sequence))
        case 6: client.ask(.get(path: path))
        case 7: client.ask(.describe(path: path))
        case 8: client.ask(.types(path: path))
        case 9: client.ask(.tree)
        case 10:
            client.ask(.checksum(path: path, mode: random.below(2) == 0 ? .value : .replica))
        case 11: client.add(1, to: UInt32(random.below(3)))
        case 12:
            let expected = Revision(epoch: 7, sequence: UInt64(random.below(40)))
            client.dispatch(
                House.Action.build(name: "x"), to: UInt32(random.below(3)),
                options: DispatchOptions(expected: expected))
        default: client.ask(.select(path: path, selection: Selection()))
        }
    }

    /// One of the owner's writes, which differ between two worlds: equally many transactions.
    private func write(_ draw: Int, _ amount: Int, isFirst: Bool, of world: World) {
        switch draw {
        case 0: world.owner.add(isFirst ? amount : 2 * amount + 1)
        case 1: world.owner.add(isFirst ? 1 : amount, to: 4)
        // Only in one of the worlds does a state change.
        case 2: world.owner.dispatch(isFirst ? Tally.Action.nothing : .add(by: amount), to: 0)
        case 3: world.owner.dispatch(isFirst ? Tally.Action.add(by: 1) : .nothing, to: 4)
        case 4: world.owner.add(amount, to: isFirst ? 0 : 4)
        default: world.owner.add(amount, to: 1)
        }
    }

    @Test(
        "X112: worlds that differ below hidden nodes give a client that may not see these equal bytes"
    )
    func secrecy() throws {
        var generator = SystemRandomNumberGenerator()
        let first = generator.next()
        for seed in first..<first &+ 150 {
            let worlds = [try World("s2"), try World("s3")]
            var random = Draw(seed: seed)
            for step in 0..<50 {
                let (draw, amount, count) = (random.below(6), random.below(9), random.below(4))
                let start = random
                for (index, world) in worlds.enumerated() {
                    random = start
                    write(draw, amount, isFirst: index == 0, of: world)
                    if count == 3 { world.harness.turn() }
                    for _ in 0..<count { ask(&random, of: world.stranger) }
                    world.harness.settle()
                }
                let received = worlds.map(\.stranger.socket.received)
                guard received[0] == received[1] else {
                    let frames = worlds.map { $0.stranger.frames() }
                    let different = zip(frames[0], frames[1]).first { $0 != $1 }
                    Issue.record(
                        "seed \(seed), step \(step): \(String(describing: different))")
                    return
                }
                if random.below(12) == 0 {
                    for world in worlds { world.reconnect() }
                }
            }
        }
    }
}

/// Random numbers of a seed.
private struct Draw {
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    mutating func below(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}
