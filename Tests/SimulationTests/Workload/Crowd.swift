import ReactorCore
import ReactorServer
import ReactorTesting
import StockReactors

@testable import ReactorClient

/// Clients that write and mirror, with the invariants at every moment and at the end.
final class Crowd {
    let world: SimulatedWorld
    var members: [Member] = []
    /// The outcomes of the actions, by epoch.
    var ledgers: [UInt64: Ledger] = [:]
    /// Actions with unknown outcomes, of any epoch.
    var unknown = Unknown()
    /// The last value given to an action; each is used once.
    var lastToken = 0
    /// Reactors with objects owned by connections, and the time of the last check.
    private var owned: Owned?

    /// A client with its mirrors.
    struct Member {
        var client: SimulatedClient
        var nodes: [String: NodeID] = [:]
        var left: ReactorClient.Mirror<Counter>?
        var right: ReactorClient.Mirror<Counter>?
        var map: ReactorClient.Mirror<Map>?
        var list: ReactorClient.Mirror<List>?
        var jobs: ReactorClient.Mirror<Queue>?
        var lock: ReactorClient.Mirror<Lock>?
        var here: ReactorClient.Mirror<Presence>?
        var house: ReactorClient.Mirror<House>?
        /// Mirrors of rooms by name; mirrors of removed rooms have failed.
        var rooms: [String: ReactorClient.Mirror<Counter>] = [:]
        /// Composed values, by path.
        var values: [String: WatchFeed] = [:]
        var shown = Revision(epoch: 0, sequence: 0)
        var shownValues: [String: Revision] = [:]
        /// Tokens of the lock and claimed jobs that the client has not released.
        var tokens: [UInt64] = []
        var claims: [UInt64] = []
        /// Number of its pending waits for the lock.
        var waits = 0
    }

    /// The nodes of one tree with objects owned by connections.
    private struct Owned {
        var tree: Tree
        var here: Node<Presence>
        var lock: Node<Lock>
        var jobs: Node<Queue>
        /// Sequence of the tree and number of ended links at the last check.
        var seen: (sequence: UInt64, ended: Int)?
    }

    /// The outcomes of one history's actions, as their senders received them.
    struct Ledger {
        /// Values appended to the list.
        var appended: Set<Int> = []
        var added: Int64 = 0
        var pushed: Set<Int> = []
        /// Jobs that were finished.
        var finished: [UInt64] = []
        /// Grants of the lock: token by sequence.
        var grants: [UInt64: UInt64] = [:]
    }

    /// Actions whose outcome is unknown: they may have been applied.
    struct Unknown {
        var appended: Set<Int> = []
        var added: Int64 = 0
        var pushed: Set<Int> = []
        var finishCount = 0
    }

    static let paths = [
        "/left", "/right", "/map", "/list", "/jobs", "/lock", "/here", "/house",
        "/house/rooms/a", "/house/rooms/b",
    ]
    static let roomNames = ["a", "b", "c"]
    static let valuePaths = ["/house", "/jobs", "/house/rooms/b"]

    static func tree(epoch: UInt64) -> Tree {
        Tree(
            ReactorGroup([
                ("left", Counter()), ("right", Counter()), ("map", Map()),
                ("list", List(capacity: 100_000)), ("jobs", Queue()), ("lock", Lock()),
                ("here", Presence()), ("house", House()),
            ]), epoch: epoch)
    }

    static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.queueBytesMax = 8_000
        limits.undrainedBytesMax = 4_000
        limits.writeBytesMax = 4_000
        limits.ringBytesMax = 30_000
        limits.snapshotCacheBytesMax = 20_000
        limits.inFlightMax = 40
        limits.sessionsMax = 12
        limits.handshakesMax = 2
        limits.framesPerTurnMax = 30
        limits.stateBytesMax = .bytes(1 << 20)
        return limits
    }

    init(seed: UInt64, clients: Int, fault: PlantedFault? = nil, audit: MemoryAudit? = nil) {
        world = SimulatedWorld(
            seed: seed, Self.tree(epoch: seed | 1), limits: Self.limits,
            faults: fault.map { Saboteur($0) })
        world.hooks.check(
            audit ?? MemoryAudit(Self.limits, stateBytesMax: 32_000, turnBytesMax: 16_000))
        // A slow journal leaves more rows for a crash to lose.
        if seed % 3 == 1 { world.appends.limit(to: 30_000_000) }
        world.hooks.onStep = { [unowned self] in lookAtOwners() }
        for index in 0..<clients { join(index) }
        knock()
        // Half of the histories run without a restart.
        if seed % 2 == 0 { restartLater() }
    }

    private func join(_ index: Int) {
        var options = ClientOptions(program: "client \(index)")
        options.pauseMin = 5_000_000
        options.pauseMax = 100_000_000
        let client = world.client(options)
        members.append(Member(client: client))
        client.act { machine in
            for path in Self.paths { open(path, machine, index) }
            for path in Self.valuePaths { watch(path, machine, index) }
            machine.mirror(Counter(), at: "/left") { [unowned self] in
                members[index].left = try? $0.get()
            }
            machine.mirror(Counter(), at: "/right") { [unowned self] in
                members[index].right = try? $0.get()
            }
            machine.mirror(Map(), at: "/map") { [unowned self] in
                members[index].map = try? $0.get()
            }
            machine.mirror(List(), at: "/list") { [unowned self] in
                members[index].list = try? $0.get()
            }
            machine.mirror(Queue(), at: "/jobs") { [unowned self] in
                members[index].jobs = try? $0.get()
            }
            machine.mirror(Lock(), at: "/lock") { [unowned self] in
                members[index].lock = try? $0.get()
            }
            machine.mirror(Presence(), at: "/here") { [unowned self] in
                members[index].here = try? $0.get()
            }
            machine.mirror(House(), at: "/house") { [unowned self] in
                members[index].house = try? $0.get()
            }
        }
        client.onChange = { [unowned self] in look(index) }
        work(index)
    }

    /// Releases the mirror of the map, or creates it again if it was released.
    func letGoOrMirror(_ index: Int, _ machine: ClientMachine) {
        guard members[index].map == nil else {
            members[index].map = nil
            return
        }
        machine.mirror(Map.self, at: "/map") { [unowned self] in
            members[index].map = try? $0.get()
        }
    }

    /// Opens a node for a client as soon as it exists.
    func open(_ path: String, _ machine: ClientMachine, _ index: Int) {
        machine.open(path) { [unowned self] in members[index].nodes[path] = try? $0.get() }
    }

    /// Makes a client follow the value at a path.
    func watch(_ path: String, _ machine: ClientMachine, _ index: Int) {
        let feed = WatchFeed {}
        members[index].values[path] = feed
        machine.follow(path, .value, WatchSink(UInt64(index), feed))
    }

    /// Simulates other clients that connect, send HELLO, nothing or garbage, and disconnect.
    private func knock() {
        let pause = UInt64.random(in: 1_000_000...40_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.chance.isStormy else { return }
            let stay = UInt64.random(in: 0...60_000_000, using: &world.random)
            switch Int.random(in: 0..<4, using: &world.random) {
            case 0: world.knock([], uid: 2_000, for: stay)
            case 1: world.knock(Array("GET / HTTP/1.1\r\n".utf8), uid: 2_001, for: stay)
            default: world.knock(SimulatedWorld.hello, uid: 2_002, for: stay)
            }
            knock()
        }
    }

    private func restartLater() {
        let pause = UInt64.random(in: 80_000_000...320_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            world.restart(Self.tree(epoch: world.newEpoch()))
        }
    }
}

// MARK: - Checks at every moment
extension Crowd {
    /// Checks the invariants of every reader.
    private func look(_ index: Int) {
        let member = members[index]
        let revision = member.client.machine.revision
        world.expect(
            revision.epoch != member.shown.epoch || revision.sequence >= member.shown.sequence,
            "client \(index) went back from \(member.shown) to \(revision)")
        members[index].shown = revision
        for (path, feed) in member.values {
            guard let revision = feed.revision else { continue }
            let before = member.shownValues[path]
            world.expect(
                before?.epoch != revision.epoch || revision.sequence >= before?.sequence ?? 0,
                "client \(index) shows \(path) of \(revision) after \(String(describing: before))")
            members[index].shownValues[path] = revision
        }
        guard let left = member.left?.state.count, let right = member.right?.state.count else {
            return
        }
        world.expect(left == right, "client \(index) shows \(left) and \(right) at \(revision)")
    }

    /// Checks that only open connections own objects.
    private func lookAtOwners() {
        if owned?.tree !== world.server.tree { owned = nodes(of: world.server.tree) }
        guard let owned else { return }
        let now = (owned.tree.revision.sequence, world.counts.endedLinks)
        if let seen = owned.seen, seen == now { return }
        self.owned?.seen = now
        var owners = owned.here.state.members.map(\.key)
        owners += owned.lock.state.waiters.map(\.client.connection)
        if let holder = owned.lock.state.holder { owners.append(holder.client.connection) }
        owners += owned.jobs.state.claimed.map(\.value.client.connection)
        for connection in owners {
            world.expect(
                world.isOpen(connection), "connection \(connection) owns something and has ended")
        }
    }

    private func nodes(of tree: Tree) -> Owned? {
        guard let here = node(tree, "/here", Presence.self),
            let lock = node(tree, "/lock", Lock.self), let jobs = node(tree, "/jobs", Queue.self)
        else { return nil }
        return Owned(tree: tree, here: here, lock: lock, jobs: jobs)
    }

    func node<R: Reactor>(_ tree: Tree, _ path: String, _ type: R.Type) -> Node<R>? {
        (try? SlicePath(path)).flatMap { tree.node(at: $0) } as? Node<R>
    }

    func state<R: Reactor>(_ tree: Tree, _ path: String, _ type: R.Type) -> R.State? {
        node(tree, path, type)?.state
    }
}
