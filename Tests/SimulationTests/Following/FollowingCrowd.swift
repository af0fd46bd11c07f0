import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorClient

/// Clients of a leading server and of its followers, which mirror, watch and act while leaders
/// change, and the invariants.
final class FollowingCrowd {
    let cluster: ServerCluster
    private(set) var members: [Member] = []
    private var forwarders: [Forwarder] = []
    private var random: SeededRandom
    private var lastToken = 0
    /// Values appended to the list, by the outcome that their clients got.
    private(set) var tokens = Tokens()
    private(set) var counts = Counts()
    private var isStormy = true

    /// A client with its mirrors.
    struct Member {
        var client: SimulatedClient
        /// Index of its world.
        let world: Int
        /// Whether its actions reach the leading server from every world.
        let isCarried: Bool
        var nodes: [String: NodeID] = [:]
        /// Functions that return the encoded states of mirrors, by path.
        var readers: [String: () -> [UInt8]?] = [:]
        var feeds: [String: WatchFeed] = [:]
        var shown = Revision(epoch: 0, sequence: 0)
        var lockTokens: [UInt64] = []
        var waits = 0
    }

    /// Values appended to the list, by the outcome that their clients got.
    struct Tokens {
        var applied: Set<Int> = []
        var refused: Set<Int> = []
        var unknown: Set<Int> = []
        /// Worlds of the clients with an unknown outcome.
        var unknownWorlds: Set<Int> = []
    }

    /// How often something happened.
    struct Counts {
        var applied = 0
        /// Outcomes that came from a following server.
        var appliedElsewhere = 0
        var referred = 0
        var compared = 0
    }

    static let paths = [
        "/left", "/right", "/map", "/list", "/jobs", "/lock", "/here", "/nest", "/gallery",
        "/gallery/doors/a", "/gallery/doors/b", "/nest/cells/a", "/nest/rooms/x",
    ]

    /// Makes two clients in each world. With `carriesActions`, the actions of the second reach the
    /// leading server from every world, as they will once daemons forward actions.
    init(seed: UInt64, fault: FollowingFault? = nil, carriesActions: Bool = false) {
        random = SeededRandom(seed: seed &* 0x9e37_79b9_7f4a_7c15)
        cluster = ServerCluster(seed: seed, fault: fault)
        cluster.run(for: 1_000_000)
        for world in cluster.worlds.indices {
            forwarders.append(
                Forwarder(of: world, in: cluster) { [unowned self] id in
                    members.contains {
                        $0.isCarried && $0.world == world && $0.client.connection == id
                    }
                })
        }
        for world in cluster.worlds.indices {
            join(world, isCarried: false)
            join(world, isCarried: carriesActions)
        }
        cluster.onChange = { [unowned self] in
            for forwarder in forwarders { forwarder.reset() }
            for member in members where member.isCarried {
                cluster.worlds[member.world].cut(member.client)
            }
        }
        changeLater()
    }

    private func join(_ world: Int, isCarried: Bool) {
        var options = ClientOptions(program: "client")
        options.pauseMin = 500_000
        options.pauseMax = 5_000_000
        let client = cluster.worlds[world].client(options)
        let index = members.count
        members.append(Member(client: client, world: world, isCarried: isCarried))
        client.act { machine in
            for path in Self.paths { open(path, machine, index) }
            for path in ["/gallery", "/gallery/passed", "/nest", "/list"] {
                watch(path, machine, index)
            }
        }
        mirror(Counter(), "/left", index)
        mirror(List(), "/list", index)
        mirror(Nest(), "/nest", index)
        mirror(Lock(), "/lock", index)
        client.onChange = { [unowned self] in look(index) }
        work(index)
    }

    private func open(_ path: String, _ machine: ClientMachine, _ index: Int) {
        machine.open(path) { [unowned self] in members[index].nodes[path] = try? $0.get() }
    }

    private func watch(_ path: String, _ machine: ClientMachine, _ index: Int) {
        let feed = WatchFeed {}
        members[index].feeds[path] = feed
        machine.follow(path, .value, WatchSink(UInt64(index), feed))
    }

    private func mirror<R: Reactor>(_ reactor: R, _ path: String, _ index: Int) {
        members[index].client.act { machine in
            machine.mirror(reactor, at: path) { [unowned self] in
                guard let mirror = try? $0.get() else { return }
                members[index].readers[path] = {
                    mirror.phase == .live ? mirror.state.wireBytes() : nil
                }
            }
        }
    }

    /// Replaces the leading server after a random time, again and again.
    private func changeLater() {
        let pause = UInt64.random(in: 3_000_000...20_000_000, using: &random)
        cluster.worlds[0].timeline.after(pause) { [unowned self] in
            guard isStormy else { return }
            cluster.change(to: Int.random(in: 0..<3, using: &random))
            changeLater()
        }
    }
}

// MARK: - Work
extension FollowingCrowd {
    private func work(_ index: Int) {
        let pause = UInt64.random(in: 50_000...2_000_000, using: &random)
        cluster.worlds[members[index].world].timeline.after(pause) { [unowned self] in
            guard isStormy, cluster.violations.isEmpty else { return }
            for _ in 0..<Int.random(in: 1...4, using: &random) { act(index) }
            work(index)
        }
    }

    private func act(_ index: Int) {
        let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
        let amount = Int64.random(in: -3...3, using: &random)
        members[index].client.act { machine in
            switch Int.random(in: 0..<16, using: &random) {
            case 0, 1, 2: append(index, machine)
            case 3: send(Counter.Action.increment(by: amount), "/left", index, machine)
            case 4: send(Gallery.Action.open(name: name), "/gallery", index, machine)
            case 5: send(Gallery.Action.close(name: name), "/gallery", index, machine)
            case 6: send(Gallery.Action.ring, "/gallery", index, machine)
            case 7: send(Counter.Action.increment(by: amount), "/gallery/doors/a", index, machine)
            case 8: open("/gallery/doors/\(name)", machine, index)
            case 9: send(Nest.Action.hatch(name: name), "/nest", index, machine)
            case 10: send(Nest.Action.stirAll(by: amount), "/nest", index, machine)
            case 11: send(Nest.Action.swap(name: name), "/nest", index, machine)
            case 12: send(Nest.Action.take, "/nest", index, machine)
            case 13: useLock(index, machine)
            case 14: send(Nest.Action.plan(token: 1, after: 5), "/nest", index, machine)
            default: batch(index, machine, amount)
            }
        }
    }

    private func send(
        _ action: some WireCodable, _ path: String, _ index: Int, _ machine: ClientMachine,
        then: @escaping (ActionOutcome) -> Void = { _ in }
    ) {
        guard let node = members[index].nodes[path] else { return }
        try? machine.submit(OutgoingAction(action, to: node), then: told(index, then))
    }

    private func batch(_ index: Int, _ machine: ClientMachine, _ amount: Int64) {
        guard let left = members[index].nodes["/left"], let right = members[index].nodes["/right"]
        else { return }
        let add = WireEmbedded(Counter.Action.increment(by: amount))
        try? machine.submit(
            OutgoingAction(batch: [(left, add), (right, add)]), then: told(index) { _ in })
    }

    /// Checks that a client with the outcome of an action shows the action's effect.
    private func told(
        _ index: Int, _ then: @escaping (ActionOutcome) -> Void
    ) -> (ActionOutcome) -> Void {
        { [unowned self] outcome in
            let machine = members[index].client.machine
            if let revision = outcome.revision {
                counts.applied += 1
                if members[index].world != cluster.leader { counts.appliedElsewhere += 1 }
                let shows = machine.revision.sequence >= revision.sequence
                world(index).expect(
                    shows || machine.phase != .live || members[index].readers.isEmpty,
                    "client \(index) has outcome \(revision) while it shows \(machine.revision)")
            }
            if case .rejected(let rejection) = outcome,
                rejection.code == FaultCode.elsewhere.rawValue
            {
                counts.referred += 1
            }
            then(outcome)
        }
    }

    private func world(_ index: Int) -> SimulatedWorld { cluster.worlds[members[index].world] }

    private func append(_ index: Int, _ machine: ClientMachine) {
        lastToken += 1
        let token = lastToken
        let value = WireValue.integer(WireInteger(exactly: token) ?? 0)
        send(List.Action.append(value: value), "/list", index, machine) { [unowned self] outcome in
            if outcome.revision != nil {
                tokens.applied.insert(token)
            } else if outcome.isUnknown {
                tokens.unknown.insert(token)
                tokens.unknownWorlds.insert(members[index].world)
            } else {
                tokens.refused.insert(token)
            }
        }
    }

    private func useLock(_ index: Int, _ machine: ClientMachine) {
        if let token = members[index].lockTokens.popLast() {
            return send(Lock.Action.release(token: token), "/lock", index, machine)
        }
        let waits = members[index].waits < 2 && random.chance(60)
        if waits { members[index].waits += 1 }
        send(Lock.Action.acquire(wait: waits), "/lock", index, machine) {
            [unowned self] outcome in
            if waits { members[index].waits -= 1 }
            guard case .applied(_, let reply) = outcome,
                let reply: Lock.Reply = try? reply?.decode()
            else { return }
            members[index].lockTokens.append(reply.token)
        }
    }
}

// MARK: - Checks
extension FollowingCrowd {
    /// Checks that a client never goes back, and that its mirrors and values are those of a row.
    private func look(_ index: Int) {
        let machine = members[index].client.machine
        let (revision, before) = (machine.revision, members[index].shown)
        guard revision != before else { return }
        members[index].shown = revision
        world(index).expect(
            before.epoch == 0
                || revision.epoch == before.epoch
                    && revision.sequence > before.sequence,
            "client \(index) went back from \(before) to \(revision)")
        guard let states = cluster.states[revision.sequence] else { return }
        for (path, read) in members[index].readers.sorted(by: { $0.key < $1.key }) {
            guard let shown = read() else { continue }
            counts.compared += 1
            world(index).expect(
                shown == states[path], "client \(index) shows another \(path) at \(revision)")
        }
    }

    /// Runs through the storm and until all work is done, and compares the final states.
    func finish(storm: UInt64 = 60_000_000) {
        cluster.run(for: storm)
        isStormy = false
        for world in cluster.worlds { world.heal() }
        for _ in 0..<100 where cluster.violations.isEmpty && !isAtRest {
            giveBack()
            cluster.run(for: 50_000_000, slice: 1_000_000)
        }
        guard cluster.violations.isEmpty else { return }
        if !isAtRest { cluster.fail("the clients do not come to rest: \(unrest)") }
        cluster.compareWithRecovery()
        compareTokens()
        compareFeeds()
    }

    /// Releases what clients wait for, through a client of the leading server.
    private func giveBack() {
        for index in members.indices {
            members[index].client.act { machine in
                for token in members[index].lockTokens {
                    send(Lock.Action.release(token: token), "/lock", index, machine)
                }
                members[index].lockTokens = []
            }
        }
    }

    private var unrest: [String] {
        members.indices.compactMap { index in
            let machine = members[index].client.machine
            let now = cluster.leading.server.tree.revision
            if machine.phase == .live, machine.pendingCount == 0, machine.revision == now {
                return nil
            }
            return "client \(index) of world \(members[index].world + 1) is \(machine.phase) at "
                + "\(machine.revision) of \(now), \(machine.pendingCount) wait"
        }
    }

    private var isAtRest: Bool { cluster.isCaughtUp && unrest.isEmpty }

    private func compareTokens() {
        guard let path = try? SlicePath("/list"),
            let list = cluster.leading.server.tree.node(at: path) as? Node<List>
        else { return }
        let items = list.state.items.compactMap(\.intValue)
        let once = Set(items)
        let world = cluster.leading
        world.expect(once.count == items.count, "an action was applied twice")
        world.expect(tokens.applied.isSubset(of: once), "an applied action left no trace")
        world.expect(tokens.refused.isDisjoint(with: once), "a refused action was applied")
        // A leader that is deposed may take a new session with it, before a row has that.
        world.expect(
            tokens.unknownWorlds.isSubset(of: cluster.deposed),
            "\(tokens.unknown.count) outcomes are unknown, in a world that was never deposed")
    }

    private func compareFeeds() {
        for (index, member) in members.enumerated() {
            let tree = world(index).server.tree
            for (path, feed) in member.feeds where !feed.hasFailed {
                guard let place = try? SlicePath(path) else { continue }
                let (node, field) = tree.resolve(place)
                var writer = WireWriter()
                let isThere = node.encodeValue(at: field, into: &writer) == .found
                world(index).expect(
                    feed.bytes == (isThere ? writer.bytes : nil),
                    "client \(index) watches another \(path)")
            }
        }
    }
}
