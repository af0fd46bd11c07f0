import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorClient

/// A collection whose state records nothing about its children.
@Reactor
struct Hall {
    @Children var rooms = { (_: WireKey) in Counter() }

    enum Action: Equatable, Sendable {
        case build(name: String)
        case tear(name: String)
    }

    enum Mutation: Equatable, Sendable { case changed }

    struct State: Equatable, Sendable { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .build(let name): Mutations(.changed).creating($rooms, WireKey(name))
        case .tear(let name): Mutations(.changed).removing($rooms, WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A world with an owner that works below hidden nodes, and a stranger that may not see these.
///
/// Two worlds of one seed and different variants differ in what the owner does there, and in nothing
/// else: a script draws what the clients do, and a separate seed draws the delays of the stranger's
/// bytes.
final class SecretWorld {
    let world: SimulatedWorld
    /// What the daemon wrote to the stranger, in order.
    private(set) var written: [Written] = []
    /// Number of the owner's actions below hidden nodes.
    private(set) var hiddenCount = 0
    private let seed: UInt64
    private let variant: Variant
    private let rules: AccessRules
    private let owner: SimulatedClient
    private let stranger: SimulatedClient
    private var script: SeededRandom
    private var ownNodes: [String: NodeID] = [:]
    private var strangerNodes: [String: NodeID] = [:]
    private var feeds: [String: WatchFeed] = [:]
    private var left: ReactorClient.Mirror<Counter>?
    private var isBuilt = false

    /// What differs between the worlds.
    enum Variant: Equatable {
        /// The owner's actions have other contents and sizes: there are as many transactions.
        case contents(Int)
        /// The owner acts below hidden nodes, or does not: other events happen at once.
        case acts(Bool)
    }

    /// A write of the daemon to a connection.
    struct Written: Equatable {
        var connection: ConnectionID
        var time: UInt64
        var bytes: [UInt8]
    }

    private static let strangerUID: UInt32 = 2_000
    private static let paths = [
        "/", "/left", "/left/count", "/map", "/map/entries", "/hall", "/hall/rooms",
        "/hall/rooms/open", "/hall/rooms/x", "/hall/rooms/t0", "/secret", "/secret/count",
        "/vault", "/vault/entries", "/vault/entries/k1", "/nothing", "/secre",
    ]
    private static let ownPaths = [
        "/left", "/map", "/vault", "/secret", "/hall", "/hall/rooms/x",
    ]
    /// The rooms that exist in some of the worlds.
    private static let rooms = ["t0", "t1"]
    /// How long the clients work, in nanoseconds.
    private static let duration: UInt64 = 250_000_000

    /// The rules; with `shows`, the stranger may see one of the hidden nodes, by mistake.
    private static func rules(shows: Bool) throws -> AccessRules {
        let hidden = ["/vault", "/hall/rooms/x", "/hall/rooms/t0", "/hall/rooms/t1"]
        return AccessRules(
            try (hidden + (shows ? [] : ["/secret"])).map {
                AccessRules.Rule(try SlicePath($0), to: .uid(strangerUID), may: .none)
            }, fallback: .use)
    }

    private static func tree(epoch: UInt64) -> Tree {
        Tree(
            ReactorGroup([
                ("left", Counter()), ("map", Map()), ("hall", Hall()), ("secret", Counter()),
                ("vault", Map()),
            ]), epoch: epoch)
    }

    init(seed: UInt64, _ variant: Variant, shows: Bool = false) throws {
        self.seed = seed
        self.variant = variant
        rules = try Self.rules(shows: shows)
        script = SeededRandom(seed: seed &* 31 &+ 7)
        let isCalm = if case .acts = variant { true } else { false }
        var limits = Crowd.limits
        limits.ringBytesMax = ServerLimits().ringBytesMax
        var habits = SimulatedHabits()
        // How much all clients change decides when rows are removed, and a client that reconnects
        // gets a snapshot in their place.
        if isCalm { habits.snapshotPercent = 0 }
        let journal = SimulatedJournal(seed: seed, epoch: seed | 1, habits: habits)
        world = SimulatedWorld(
            seed: seed, Self.tree(epoch: seed | 1), in: journal, limits: limits, isCalm: isCalm,
            weather: SimulatedWeather())
        world.server.apply(rules, ownerUID: 1_000)
        var options = ClientOptions(program: "owner")
        options.pauseMin = 5_000_000
        options.pauseMax = 100_000_000
        owner = world.client(options, chance: SimulatedChance(seed: seed, isCalm: true))
        options.program = "stranger"
        stranger = world.client(
            options, uid: Self.strangerUID, chance: SimulatedChance(seed: ~seed, isCalm: isCalm))
        world.hooks.onWrite = { [unowned self] connection, bytes in
            guard connection == stranger.connection else { return }
            written.append(
                Written(connection: connection, time: world.timeline.now, bytes: bytes))
        }
        begin()
    }

    private func begin() {
        owner.act { machine in
            for path in Self.ownPaths {
                machine.open(path) { [unowned self] in ownNodes[path] = try? $0.get() }
            }
        }
        stranger.act { machine in
            machine.mirror(Counter(), at: "/left") { [unowned self] in left = try? $0.get() }
            for path in Self.paths {
                machine.open(path) { [unowned self] in strangerNodes[path] = try? $0.get() }
            }
        }
        world.timeline.after(1_000_000) { [unowned self] in
            for name in ["open", "x"] { send(Hall.Action.build(name: name), "/hall") }
            work()
        }
        guard script.chance(50) else { return }
        let pause = UInt64.random(in: 50_000_000...200_000_000, using: &script)
        world.timeline.after(pause) { [unowned self] in
            world.crash(Self.tree(epoch: seed | 1))
            world.server.apply(rules, ownerUID: 1_000)
        }
    }

    /// Ends the disturbances, and runs until all work is done.
    func finish() {
        world.run(for: Self.duration)
        world.heal()
        world.run(for: 3_000_000_000)
    }

    private func work() {
        let pause = UInt64.random(in: 100_000...3_000_000, using: &script)
        world.timeline.after(pause) { [unowned self] in
            guard world.timeline.now < Self.duration else { return }
            step()
            work()
        }
    }

    private func step() {
        let amount = Int64.random(in: 1...9, using: &script)
        let path = Self.paths.randomElement(using: &script) ?? "/"
        switch Int.random(in: 0..<16, using: &script) {
        case 0, 1: send(Counter.Action.increment(by: amount), "/left")
        case 2:
            let text = WireValue.text("value \(amount)")
            send(Map.Action.set(key: WireKey("v\(amount)"), value: text), "/map")
        case 3, 4: hide { set(amount, $0) }
        case 5:
            hide { send(Counter.Action.increment(by: $0 == 0 ? amount : 100 * amount), "/secret") }
        case 6:
            hide {
                send(Counter.Action.increment(by: amount + Int64($0)), "/hall/rooms/x")
            }
        case 7:
            // The state of the hall counts its changes, and is not hidden.
            guard case .contents(let number) = variant else { return }
            isBuilt.toggle()
            hiddenCount += 1
            buildOrTear(Self.rooms[number])
        case 8: both(amount)
        case 9, 10: act(amount)
        case 11, 12: ask(path)
        default: follow(path)
        }
    }

    /// Runs one of the owner's steps below a hidden node, unless the variant has none of them.
    private func hide(_ body: (_ variant: Int) -> Void) {
        switch variant {
        case .contents(let number): body(number)
        case .acts(let isActing): if isActing { body(0) } else { return }
        }
        hiddenCount += 1
    }

    private func set(_ amount: Int64, _ variant: Int) {
        let text = String(repeating: variant == 0 ? "x" : "yyyyy", count: Int(amount) * 20)
        let key = variant == 0 ? "k\(amount)" : "other"
        send(Map.Action.set(key: WireKey(key), value: .text(text)), "/vault")
    }

    private func buildOrTear(_ name: String) {
        send(isBuilt ? Hall.Action.build(name: name) : .tear(name: name), "/hall")
    }

    /// A batch of a visible and a hidden change.
    private func both(_ amount: Int64) {
        guard case .contents(let number) = variant, let left = ownNodes["/left"],
            let secret = ownNodes["/secret"]
        else { return }
        hiddenCount += 1
        let seen = WireEmbedded(Counter.Action.increment(by: amount))
        let unseen = WireEmbedded(Counter.Action.increment(by: amount * Int64(number * 7 + 1)))
        owner.act { try? $0.submit(OutgoingAction(batch: [(left, seen), (secret, unseen)])) }
    }

    private func send(_ action: some WireCodable, _ path: String) {
        guard let node = ownNodes[path] else { return }
        owner.act { try? $0.submit(OutgoingAction(action, to: node)) }
    }

    // MARK: The stranger

    private func act(_ amount: Int64) {
        guard let node = strangerNodes["/left"] else { return }
        stranger.act {
            try? $0.submit(OutgoingAction(Counter.Action.increment(by: amount), to: node))
        }
    }

    private func ask(_ path: String) {
        // Answers have the sequence, which counts hidden transactions.
        guard case .contents = variant else { return }
        let asks: [Question] = [
            .get(path: path), .describe(path: path), .types(path: path), .tree,
            .checksum(path: path, mode: .value), .checksum(path: path, mode: .replica),
            .select(path: path, selection: Selection()),
        ]
        guard let ask = asks.randomElement(using: &script) else { return }
        stranger.act { $0.ask(ask) { _ in } }
    }

    private func follow(_ path: String) {
        if feeds.count > 8 { feeds.removeAll() }
        let feed = WatchFeed {}
        feeds[path] = feed
        stranger.act { $0.follow(path, .value, WatchSink(UInt64(feeds.count), feed)) }
    }
}

extension SecretWorld {
    /// The frames that the stranger received, without what counts transactions: marks and sequences.
    var frames: [Frame] {
        get throws {
            var frames: [Frame] = []
            for write in written {
                var offset = 0
                while offset < write.bytes.count {
                    guard
                        let header = try FrameHeader.decode(
                            write.bytes.span, at: offset, frameBytesMax: Int(UInt32.max))
                    else { throw Incomplete() }
                    let start = offset + FrameHeader.byteCount
                    offset = start + Int(header.length)
                    let frame = Frame(
                        header: header,
                        body: Array(write.bytes[start..<min(offset, write.bytes.count)]))
                    if header.kind != FrameKind.mark.rawValue { frames.append(try frame.plain) }
                }
            }
            return frames
        }
    }

    /// A frame to the stranger.
    struct Frame: Equatable {
        var header: FrameHeader
        var body: [UInt8]

        /// The frame without sequences.
        var plain: Frame {
            get throws {
                var frame = self
                switch FrameKind(rawValue: header.kind) {
                case .delta:
                    // The origin has the number of the client's action.
                    var cursor = WireCursor()
                    let origin = try Origin.decode(body.span, &cursor)
                    frame.header.number = 0
                    frame.body = origin.client.wireBytes() + body[cursor.offset...]
                case .snapshot, .value, .gone, .lag:
                    frame.header.number = 0
                case .applied: frame.body = []
                case .welcome:
                    var welcome = try Welcome(wireBytes: body)
                    welcome.sequence = 0
                    frame.body = welcome.wireBytes()
                case .opened:
                    var opened = try Opened(wireBytes: body)
                    opened.sequence = 0
                    frame.body = opened.wireBytes()
                case .subscribed:
                    var subscribed = try Subscribed(wireBytes: body)
                    subscribed.sequence = 0
                    frame.body = subscribed.wireBytes()
                default: break
                }
                // Sequences have different lengths.
                frame.header.length = 0
                return frame
            }
        }
    }
}

/// A write of the daemon that ends within a frame.
private struct Incomplete: Error {}
