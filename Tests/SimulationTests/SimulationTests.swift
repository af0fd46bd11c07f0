import FoundationEssentials
import ReactorClient
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors
import Testing

/// Clients that write and mirror, and what must hold at every moment and in the end.
private final class Crowd {
    let world: Simulation
    private var members: [Member] = []
    /// Values that were appended to the list, by what became of them.
    private var applied: Set<Int> = []
    private var refused: Set<Int> = []
    private var unknown: Set<Int> = []
    private var sent = 0
    private var added: Int64 = 0
    private var addedUnknown: Int64 = 0

    private struct Member {
        var client: SimulatedClient
        var nodes: [String: NodeID] = [:]
        var left: ReactorClient.Mirror<Counter>?
        var right: ReactorClient.Mirror<Counter>?
        var map: ReactorClient.Mirror<Map>?
        var list: ReactorClient.Mirror<List>?
        var shown: UInt64 = 0
    }

    static let paths = ["/left", "/right", "/map", "/list"]

    init(seed: UInt64, clients: Int) {
        var limits = ServerLimits()
        limits.queueBytesMax = 8_000
        limits.undrainedBytesMax = 4_000
        limits.writeBytesMax = 4_000
        limits.ringBytesMax = 30_000
        limits.inFlightMax = 40
        let tree = Tree(
            Group([
                ("left", Counter()), ("right", Counter()), ("map", Map()),
                ("list", List(capacity: 100_000)),
            ]), epoch: seed | 1)
        world = Simulation(seed: seed, tree, limits: limits)
        for index in 0..<clients { join(index) }
    }

    private func join(_ index: Int) {
        var options = ClientOptions(program: "client \(index)")
        options.pauseMin = 5_000_000
        options.pauseMax = 100_000_000
        let client = world.client(options)
        members.append(Member(client: client))
        client.act { machine in
            for path in Self.paths {
                machine.open(path) { [unowned self] in
                    members[index].nodes[path] = try? $0.get()
                }
            }
            machine.mirror(Counter.self, at: "/left") { [unowned self] in
                members[index].left = try? $0.get()
            }
            machine.mirror(Counter.self, at: "/right") { [unowned self] in
                members[index].right = try? $0.get()
            }
            machine.mirror(Map.self, at: "/map") { [unowned self] in
                members[index].map = try? $0.get()
            }
            machine.mirror(List(), at: "/list") { [unowned self] in
                members[index].list = try? $0.get()
            }
        }
        client.onChange = { [unowned self] in look(index) }
        work(index)
    }

    /// What every reader may rely on at every moment.
    private func look(_ index: Int) {
        let member = members[index]
        let revision = member.client.machine.revision
        world.expect(
            revision.sequence >= member.shown, "client \(index) went back to \(revision)")
        members[index].shown = revision.sequence
        guard let left = member.left?.state.count, let right = member.right?.state.count else {
            return
        }
        world.expect(left == right, "client \(index) shows \(left) and \(right) at \(revision)")
    }

    // MARK: Work

    private func work(_ index: Int) {
        let pause = UInt64.random(in: 100_000...10_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.isStormy else { return }
            for _ in 0..<Int.random(in: 1...8, using: &world.random) { act(index) }
            work(index)
        }
    }

    private func act(_ index: Int) {
        let member = members[index]
        guard let left = member.nodes["/left"], let right = member.nodes["/right"],
            let map = member.nodes["/map"], let list = member.nodes["/list"]
        else { return }
        let amount = Int64.random(in: 1...9, using: &world.random)
        sent += 1
        let token = sent
        member.client.act { machine in
            switch Int.random(in: 0..<7, using: &world.random) {
            case 0, 1:
                let add = WireEmbedded(Counter.Action.increment(by: amount))
                try? machine.batch([(left, add), (right, add)]) { [unowned self] in
                    note($0, index, then: { added += amount }, unknown: { addedUnknown += amount })
                }
            case 2:
                let text = String(repeating: "x", count: Int(amount) * 40)
                try? machine.dispatch(
                    Map.Action.set(key: WireKey("\(amount)"), value: .text(text)), to: map)
            case 3:
                try? machine.dispatch(WireValue.text("no such action"), to: map)
            case 4: letGoOrMirror(index, machine)
            default:
                try? machine.dispatch(
                    List.Action.append(value: .integer(WireInteger(exactly: token) ?? 0)), to: list
                ) { [unowned self] in
                    if case .rejected = $0 { refused.insert(token) }
                    note(
                        $0, index, then: { applied.insert(token) },
                        unknown: { unknown.insert(token) })
                }
            }
        }
    }

    /// Lets the mirror of the map go, or makes it anew where that was done before.
    private func letGoOrMirror(_ index: Int, _ machine: ClientMachine) {
        guard members[index].map == nil else {
            members[index].map = nil
            return
        }
        machine.mirror(Map.self, at: "/map") { [unowned self] in
            members[index].map = try? $0.get()
        }
    }

    private func note(
        _ outcome: ActionOutcome, _ index: Int, then applied: () -> Void, unknown: () -> Void
    ) {
        switch outcome {
        case .applied(let revision, _), .ownerEnded(let revision, _):
            applied()
            let shown = members[index].client.machine.revision
            world.expect(
                members[index].left?.phase != .live || shown.sequence >= revision.sequence,
                "client \(index) is told \(revision) while it shows \(shown)")
        case .unknown: unknown()
        case .rejected, .failed: break
        }
    }

    // MARK: The end

    func finish() throws {
        world.run(for: 400_000_000)
        world.heal()
        for (index, member) in members.enumerated() where member.map == nil {
            member.client.act { letGoOrMirror(index, $0) }
        }
        world.run(for: 30_000_000_000)
        let tree = world.server.tree
        for (index, member) in members.enumerated() {
            world.expect(member.client.machine.phase == .live, "client \(index) is not live")
            world.expect(
                member.client.machine.pendingCount == 0,
                "client \(index) waits for \(member.client.machine.pendingCount) outcomes")
            world.expect(
                try state(tree, "/left", Counter.self) == member.left?.state,
                "client \(index) shows another /left")
            world.expect(
                try state(tree, "/map", Map.self) == member.map?.state,
                "client \(index) shows another /map")
            world.expect(
                try state(tree, "/list", List.self) == member.list?.state,
                "client \(index) shows another /list")
        }
        let items = try state(tree, "/list", List.self).items.compactMap(\.intValue)
        let once = Set(items)
        world.expect(once.count == items.count, "an action was applied twice")
        world.expect(applied.isSubset(of: once), "an applied action left no trace")
        world.expect(refused.isDisjoint(with: once), "a refused action was applied")
        world.expect(once.isSubset(of: applied.union(unknown)), "an action without an outcome")
        let count = try state(tree, "/left", Counter.self).count
        world.expect(
            count >= added && count <= added + addedUnknown,
            "\(count) was counted, \(added) were told, \(addedUnknown) are unknown")
        world.expect(applied.count > 20, "only \(applied.count) actions were applied")
    }

    private func state<R: Reactor>(_ tree: Tree, _ path: String, _ type: R.Type) throws -> R.State {
        let node = try #require(tree.node(at: try SlicePath(path)) as? Node<R>)
        return node.state
    }
}

struct SimulationTests {
    /// Seeds of the run: one alone, where `REACTORD_SEED` says which.
    static let seeds: [UInt64] = {
        if let text = ProcessInfo.processInfo.environment["REACTORD_SEED"],
            let seed = UInt64(text)
        {
            return [seed]
        }
        return Array(0..<20)
    }()

    @Test(
        "through any storm: mirrors move together, end at the state, and no action counts twice",
        arguments: seeds)
    func storm(_ seed: UInt64) throws {
        let crowd = Crowd(seed: seed, clients: 4)
        try crowd.finish()
        #expect(crowd.world.violations == [], "run again with REACTORD_SEED=\(seed)")
    }
}
