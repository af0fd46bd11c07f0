import ClusterSimulation
import ReactorCluster
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorClient

/// Three nodes with real servers, memberships and clients over one simulated log, in virtual time.
///
/// Clients act on whichever node they are connected to: one that leads applies the action, one that
/// follows passes it on, or in some worlds refuses it. Administrators look at every node. Engines
/// lose requests, answers and events; nodes are cut off, restarted and lose their power; leaders
/// step down.
final class MemberCluster {
    let timeline = Timeline()
    let book: MemberBook
    private(set) var nodes: [MemberNode] = []
    private let sky: SimulatedSky
    private let log = SimulatedLog()
    private var clients: [Client] = []
    private var random: SeededRandom
    private var lastToken = 0
    private(set) var tokens = Tokens()
    private var isStormy = true
    private let fault: MembershipFault?
    private var peers: PeerNetwork?

    /// A client, and the numbers of the nodes that it has opened.
    private struct Client {
        let client: SimulatedClient
        let node: Int
        var opened: [String: NodeID] = [:]
        /// What it holds of the lock, and the connections that own that.
        var holds: [(token: UInt64, connection: UInt64)] = []
        /// Returns the encoded state of its mirror of the list, if that is live.
        var shown: () -> [UInt8]? = { nil }
        /// The action whose effect it awaits, and whether it has heard that the effect was lost.
        var awaited: (token: Int, isLost: Bool)?
    }

    /// Values appended to the list, by the outcome that their clients got.
    struct Tokens {
        var applied: Set<Int> = []
        var refused: Set<Int> = []
        var unknown: Set<Int> = []
        /// Nodes of the clients with an unknown outcome.
        var unknownNodes: Set<Int> = []
        /// Actions whose clients have heard that all their effects have ended, and not that one was
        /// lost.
        var done: Set<Int> = []
    }

    private static let paths = ["/left", "/list", "/lock", "/here", "/jobs", "/works"]

    init(seed: UInt64, fault: MembershipFault? = nil) {
        random = SeededRandom(seed: seed &* 0x9e37_79b9_7f4a_7c15)
        self.fault = fault
        book = MemberBook(timeline)
        sky = SimulatedSky(seed: seed)
        sky.staleLooks = seed % 3 == 1 ? 30 : 0
        sky.hasStaleConfirms = fault == .staleConfirms
        let ids = (1...3).map { ClusterNode(UInt8($0)) }
        let shared = MemberNode.Shared(
            log: log, timeline: timeline, sky: sky, book: book, nodes: ids, epoch: seed | 1,
            fault: fault, forwards: seed % 4 != 3
        ) { [unowned self] action in
            nodes.first(where: \.isLeading)?.perform(action)
        }
        nodes = ids.map { MemberNode($0, seed: seed &* 3 &+ UInt64($0.index), in: shared) }
        log.onChange = { [unowned self] change in
            if case .entry(let entry) = change { book.take(entry) }
            for node in nodes { node.notice(change) }
        }
        sky.turnStormy()
        if shared.forwards {
            let peers = PeerNetwork(timeline, sky, fault, book) { [unowned self] in nodes }
            peers.start()
            self.peers = peers
        }
        for node in nodes.indices {
            join(node)
            timeline.after(sky.between(0, 5_000_000_000)) { [unowned self] in join(node) }
        }
        visit()
        strike()
    }

    private func join(_ node: Int) {
        var options = ClientOptions(program: "client")
        options.pauseMin = 2_000_000
        options.pauseMax = 50_000_000
        let client = nodes[node].world.client(options)
        let index = clients.count
        clients.append(Client(client: client, node: node))
        client.act { machine in
            machine.onNotice = { [unowned self] _, notice in
                guard notice.code == FaultCode.effectsLost.rawValue, fault != .hidesLosses else {
                    return
                }
                clients[index].awaited?.isLost = true
            }
            for path in Self.paths {
                machine.open(path) { [unowned self] in
                    clients[index].opened[path] = try? $0.get()
                }
            }
            machine.mirror(MemberNode.list, at: "/list") { [unowned self] in
                guard let mirror = try? $0.get() else { return }
                clients[index].shown = { mirror.phase == .live ? mirror.state.wireBytes() : nil }
            }
        }
        work(index)
    }

    /// Runs through the storm and until all nodes and clients agree.
    func finish(storm: UInt64 = 8_000_000_000) {
        // Waiting events hold the nodes.
        defer { timeline.removeAll() }
        advance(by: storm)
        isStormy = false
        sky.turn(.calm)
        for node in nodes {
            node.setCut(false)
            node.world.heal()
            node.freeDisk()
        }
        let limit = timeline.now + 20_000_000_000
        while isSound, timeline.now < limit, !unrest.isEmpty {
            advance(by: 100_000_000)
        }
        guard isSound else { return }
        if !unrest.isEmpty { return book.fail("no rest after 20 calm seconds: \(unrest)") }
        compare()
    }

    /// What went wrong.
    var violations: [String] { book.violations + nodes.flatMap(\.world.violations) }

    private var isSound: Bool {
        for node in nodes where !node.world.violations.isEmpty { return false }
        return book.violations.isEmpty
    }

    /// When the next effect of any node goes on.
    private var nextEffect: UInt64 {
        var due = UInt64.max
        for node in nodes { due = min(due, node.nextDue ?? .max) }
        return due
    }

    private func advance(by span: UInt64) {
        let end = timeline.now + span
        while isSound {
            let effectDue = nextEffect
            guard let due = timeline.nextDue, min(due, effectDue) <= end else { break }
            // At equal times an effect goes on first, since it has waited longer.
            if effectDue <= due {
                timeline.advance(to: max(effectDue, timeline.now))
            } else {
                timeline.runNext()
            }
            for node in nodes { node.runEffects() }
        }
        if isSound { timeline.advance(to: end) }
    }

    /// What keeps the cluster from agreeing; empty if nothing does.
    private var unrest: [String] {
        guard let leader = nodes.first(where: \.isLeading) else { return ["no node leads"] }
        guard leader.server.tree.copyTasks()().isEmpty else { return ["durable effects run"] }
        let revision = leader.server.tree.revision
        var found = nodes.compactMap { node in
            node.server.tree.revision == revision && !node.server.isCut
                ? nil : "node \(node.id.index) is at \(node.server.tree.revision) of \(revision)"
        }
        for (index, client) in clients.enumerated() {
            let machine = client.client.machine
            if machine.phase == .live, machine.pendingCount == 0, machine.revision == revision,
                client.shown() != nil
            {
                continue
            }
            found.append(
                "client \(index) of node \(client.node + 1) is \(machine.phase) at "
                    + "\(machine.revision) of \(revision), \(machine.pendingCount) wait")
        }
        return found
    }

    private func compare() {
        let digests = nodes.map { TreeDigest($0.server.tree) }
        for digest in digests where digest != digests[0] {
            book.fail("the nodes have different trees: \(digests[0].differences(from: digest))")
        }
        guard let path = try? SlicePath("/list"),
            let list = nodes[0].server.tree.node(at: path) as? Node<List>
        else { return book.fail("there is no list") }
        for (index, client) in clients.enumerated()
        where client.shown() != list.state.wireBytes() {
            book.fail("client \(index) of node \(client.node + 1) shows another list")
        }
        let items = list.state.items.compactMap(\.intValue)
        let once = Set(items)
        if once.count != items.count { book.fail("an action was applied twice") }
        let lost = tokens.applied.subtracting(once)
        if !lost.isEmpty { book.fail("applied actions left no trace: \(lost)") }
        let ghosts = tokens.refused.intersection(once)
        if !ghosts.isEmpty { book.fail("refused actions were applied: \(ghosts)") }
        compareWorks()
        for node in tokens.unknownNodes where !nodes[node].hasLost {
            book.fail("outcomes are unknown at node \(node + 1), which has always gone on")
        }
    }
}

// MARK: - Effects
extension MemberCluster {
    private func compareWorks() {
        guard let works = nodes[0].works else { return book.fail("there are no works") }
        if Set(works.worked).count != works.worked.count {
            book.fail("what an effect emitted was applied twice")
        }
        let missing = tokens.done.subtracting(works.worked)
        if !missing.isEmpty {
            book.fail("effects that have not ended are reported as done: \(missing)")
        }
        let promised = Set(works.promised)
        guard works.kept.count == promised.count, Set(works.kept) == promised else {
            return book.fail("\(works.promised) are promised, and \(works.kept) have ended")
        }
        for (token, id) in zip(works.kept, works.ids) where book.ids[token] != [id] {
            book.fail("durable effect \(token) has ended as \(id): \(book.ids[token] ?? [])")
        }
        let begun = Set(book.ids.keys).subtracting(promised)
        if !begun.isEmpty { book.fail("effects began that the log does not promise: \(begun)") }
    }

    /// Begins an effect that ends with its leader, and awaits its end; or promises one.
    private func begin(_ index: Int, _ machine: ClientMachine) {
        guard let node = clients[index].opened["/works"] else { return }
        lastToken += 1
        let token = lastToken
        guard clients[index].awaited == nil else {
            return send(Works.Action.promise(token: token), "/works", index, machine)
        }
        clients[index].awaited = (token, false)
        var action = OutgoingAction(Works.Action.work(token: token), to: node)
        action.awaitsEffects = true
        let isSent: Void? = try? machine.submit(action) { [unowned self] outcome in
            let isLost = clients[index].awaited?.isLost ?? false
            clients[index].awaited = nil
            guard outcome.revision != nil else { return }
            if isLost {
                book.counts.lost += 1
            } else {
                book.counts.done += 1
                tokens.done.insert(token)
            }
        }
        if isSent == nil { clients[index].awaited = nil }
    }
}

// MARK: - Work
extension MemberCluster {
    /// Administrators connect, and get a client's number, also where no other client is served.
    private func visit() {
        let pause = UInt64.random(in: 5_000_000...200_000_000, using: &random)
        timeline.after(pause) { [unowned self] in
            guard isStormy, isSound else { return }
            let node = nodes[Int.random(in: nodes.indices, using: &random)]
            let stay = UInt64.random(in: 0...60_000_000, using: &random)
            node.world.knock(SimulatedWorld.hello, uid: 0, isAtAdminSocket: true, for: stay)
            book.counts.visits += 1
            visit()
        }
    }

    private func work(_ index: Int) {
        let pause = UInt64.random(in: 5_000_000...80_000_000, using: &random)
        timeline.after(pause) { [unowned self] in
            guard isStormy, isSound else { return }
            for _ in 0..<Int.random(in: 1...3, using: &random) { act(index) }
            work(index)
        }
    }

    private func act(_ index: Int) {
        clients[index].client.act { machine in
            switch Int.random(in: 0..<10, using: &random) {
            case 9: sync(index, machine)
            case 8: begin(index, machine)
            case 0: send(Counter.Action.increment(by: 1), "/left", index, machine)
            case 1: own(index, machine)
            default: append(index, machine)
            }
        }
    }

    private func send(
        _ action: some WireCodable, _ path: String, _ index: Int, _ machine: ClientMachine,
        then: @escaping (ActionOutcome) -> Void = { _ in }
    ) {
        guard let node = clients[index].opened[path] else { return }
        try? machine.submit(OutgoingAction(action, to: node)) { [unowned self] outcome in
            if let revision = outcome.revision, machine.phase == .live,
                machine.revision.sequence < revision.sequence
            {
                book.fail(
                    "client \(index) has outcome \(revision) while it shows \(machine.revision)")
            }
            if let revision = outcome.revision { book.tells(revision) }
            then(outcome)
        }
    }

    /// Waits for a state with everything that any client was told, and reads it.
    private func sync(_ index: Int, _ machine: ClientMachine) {
        let told = book.toldSequence
        let epoch = machine.welcome?.epoch ?? 0
        let consistency: ReadConsistency =
            Bool.random(using: &random)
            ? .linearizable : .atLeast(Revision(epoch: epoch, sequence: told))
        machine.sync(consistency, within: .seconds(2)) { [unowned self] in
            guard let revision = try? $0.get() else { return }
            book.counts.synced += 1
            if revision.sequence < told {
                book.fail(
                    "client \(index) syncs to \(revision), and \(told) was told before "
                        + "(\(consistency))")
            }
        }
    }

    private func append(_ index: Int, _ machine: ClientMachine) {
        lastToken += 1
        let token = lastToken
        let value = WireValue.integer(WireInteger(exactly: token) ?? 0)
        send(List.Action.append(value: value), "/list", index, machine) { [unowned self] outcome in
            if outcome.revision != nil {
                tokens.applied.insert(token)
                if !nodes[clients[index].node].isLeading { book.counts.forwarded += 1 }
            } else if outcome.isUnknown {
                tokens.unknown.insert(token)
                tokens.unknownNodes.insert(clients[index].node)
            } else {
                tokens.refused.insert(token)
            }
        }
    }

    /// Has the client join the members, or take the lock or release it.
    private func own(_ index: Int, _ machine: ClientMachine) {
        if Bool.random(using: &random) { return useLock(index, machine) }
        send(Presence.Action.join(), "/here", index, machine)
    }

    private func useLock(_ index: Int, _ machine: ClientMachine) {
        if let hold = clients[index].holds.popLast() {
            return send(Lock.Action.release(token: hold.token), "/lock", index, machine)
        }
        send(Lock.Action.acquire(wait: false), "/lock", index, machine) { [unowned self] outcome in
            guard case .applied(_, let reply) = outcome,
                let reply: Lock.Reply = try? reply?.decode()
            else { return }
            grant(reply.token, to: index, machine)
        }
    }

    /// A client has the lock: no other client has it on a connection that its node serves.
    private func grant(_ token: UInt64, to index: Int, _ machine: ClientMachine) {
        guard let connection = machine.welcome?.connection else { return }
        for (other, client) in clients.enumerated() where other != index {
            let open = Set(nodes[client.node].server.clients.map(\.connection))
            for hold in client.holds where open.contains(hold.connection) && hold.token < token {
                book.fail(
                    "client \(index) gets the lock as \(token), and client \(other) has it as "
                        + "\(hold.token)")
            }
        }
        clients[index].holds.append((token, connection))
    }
}

// MARK: - Storms
extension MemberCluster {
    private func strike() {
        timeline.after(sky.between(50_000_000, 1_500_000_000)) { [unowned self] in
            guard isStormy, isSound else { return }
            let leader = nodes.first(where: \.isLeading)
            let target = sky.chance(60) ? leader ?? sky.pick(nodes) : sky.pick(nodes)
            switch sky.between(0, 14) {
            case 0...3: cut(target)
            case 12, 13:
                guard let place = nodes.firstIndex(where: { $0.id == sky.pick(nodes).id }) else {
                    break
                }
                peers?.cut(place, for: sky.between(20_000_000, 3_000_000_000))
            case 4, 5: target.restart(isPowerCut: sky.chance(50))
            case 6: for node in nodes where sky.chance(60) { node.restart(isPowerCut: true) }
            case 14: target.fillDisk(for: sky.between(50_000_000, 3_000_000_000))
            case 7, 8: leader?.stepDown(to: sky.chance(70) ? sky.pick(nodes).id : nil)
            case 9: sky.stall(until: timeline.now + sky.between(100_000_000, 1_500_000_000))
            default: sky.turnStormy()
            }
            strike()
        }
    }

    private func cut(_ node: MemberNode) {
        node.setCut(true)
        let time =
            sky.chance(50)
            ? sky.between(50_000_000, 1_500_000_000) : sky.between(1_500_000_000, 4_000_000_000)
        timeline.after(time) { node.setCut(false) }
    }
}
