import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// The numbers by which a client's connections know nodes, against a server.
@Suite("Numbers of nodes")
struct NodeNumberTests {
    private typealias Counting = StockReactors.Counter.Action

    private func rig(
        _ reactor: some Reactor, nodesMax: Int = 4_096
    ) -> Rig {
        var limits = ServerLimits()
        limits.nodesPerConnectionMax = nodesMax
        return Rig(limits: limits, tree: Tree(reactor, epoch: 7))
    }

    /// Sends an action to the node at `path` and returns its outcome.
    private func count(
        _ path: String, _ client: Rig.Joined, _ rig: Rig
    ) throws -> ActionOutcome? {
        var outcome: ActionOutcome?
        client.machine.open(path) { result in
            guard let node = try? result.get() else { return }
            try? client.machine.dispatch(Counting.increment(by: 1), to: node) {
                outcome = $0
                client.machine.release(node)
            }
        }
        rig.run()
        return outcome
    }

    private static func group(_ names: [String]) -> ReactorGroup {
        ReactorGroup(names.map { (name: WireKey($0), reactor: StockReactors.Counter()) })
    }

    private func decide(_ action: Guesthouse.Action, _ client: Rig.Joined, _ rig: Rig) throws {
        try client.machine.dispatch(action, to: try client.open("/", rig))
        rig.run()
    }

    @Test("a client that found its node removed finds the child that replaced it")
    func reborn() throws {
        let rig = rig(Guesthouse())
        let client = rig.client()
        try decide(.open("a"), client, rig)
        #expect(try count("/halls/a", client, rig)?.revision != nil)
        try decide(.close("a"), client, rig)
        try decide(.open("a"), client, rig)
        // No client followed the node, so the first action learns of its end.
        guard case .rejected(let rejection) = try count("/halls/a", client, rig) else {
            Issue.record("the first action was not rejected")
            return
        }
        #expect(rejection.code == FaultCode.notFound.rawValue)
        #expect(try count("/halls/a", client, rig)?.revision != nil)
        #expect(try rig.count(at: "/halls/a") == 1 && client.connectCount == 1)
    }

    @Test("a client that learned of its node's removal finds the child that replaced it")
    func told() throws {
        let rig = rig(Guesthouse())
        let client = rig.client()
        try decide(.open("a"), client, rig)
        let mirror = try client.mirror("/halls/a", rig)
        #expect(try count("/halls/a", client, rig)?.revision != nil)
        try decide(.close("a"), client, rig)
        #expect(mirror.phase == .failed(.gone(path: "/halls/a")))
        try decide(.open("a"), client, rig)
        #expect(try count("/halls/a", client, rig)?.revision != nil)
    }

    @Test("a node that a new connection did not find is requested again, not taken for open")
    func refusedAgain() throws {
        let rig = rig(Guesthouse())
        let client = rig.client()
        try decide(.open("a"), client, rig)
        let node = try client.open("/halls/a", rig)
        let other = rig.client()
        try other.machine.dispatch(Guesthouse.Action.close("a"), to: try other.open("/", rig))
        rig.cut(client)
        rig.run()
        try decide(.open("a"), other, rig)
        #expect(try count("/halls/a", client, rig)?.revision != nil)
        #expect(try client.open("/halls/a", rig) == node)
    }

    @Test("the nodes of a batch that found none of them are requested again")
    func batch() throws {
        let rig = rig(Guesthouse())
        let client = rig.client()
        try decide(.open("a"), client, rig)
        let node = try client.open("/halls/a", rig)
        try decide(.close("a"), client, rig)
        try decide(.open("a"), client, rig)
        var isLost = false
        let batch = OutgoingAction(batch: [(node, WireEmbedded(Counting.increment(by: 1)))])
        try client.machine.submit(batch) { if case .rejected = $0 { isLost = true } }
        rig.run()
        #expect(isLost)
        #expect(try count("/halls/a", client, rig)?.revision != nil)
    }

    @Test("a client opens more paths than a daemon accepts, on one connection or many")
    func manyPaths() throws {
        let names = (0..<20).map { "n\($0)" }
        let rig = rig(
            Self.group(names), nodesMax: 4)
        let client = rig.client()
        let held = try client.open("/n0", rig)
        for name in names.dropFirst() {
            #expect(try count("/\(name)", client, rig)?.revision != nil, "\(name)")
        }
        rig.cut(client)
        rig.run()
        for name in names.dropFirst() {
            #expect(try count("/\(name)", client, rig)?.revision != nil, "\(name)")
            #expect(try rig.count(at: "/\(name)") == 2)
        }
        try client.machine.dispatch(Counting.increment(by: 7), to: held)
        rig.run()
        #expect(try rig.count(at: "/n0") == 7)
    }

    @Test("a client opens more paths than a daemon accepts, together with mirrors")
    func manyMirrors() async throws {
        let names = (0..<9).map { "n\($0)" }
        var limits = ServerLimits()
        limits.nodesPerConnectionMax = 3
        let server = try LiveServer(
            limits: limits, Self.group(names))
        let client = try await Client.connect(to: server.path)
        for name in names {
            let mirror = try await client.mirror(StockReactors.Counter.self, at: "/\(name)")
            #expect(await mirror.dispatch(.increment(by: 2)).revision != nil)
            let outcome = try await client.dispatch("/\(name)", Counting.increment(by: 1))
            #expect(outcome.revision != nil && mirror.count == 3)
        }
        client.close()
    }
}
