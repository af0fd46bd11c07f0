import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The nodes that probes sum, tested without a server.
struct TurnProbesTests {
    private let minute = ProbeSchedule.interval

    private func start(_ tree: Tree) throws -> TurnProbes {
        let recovery = Recovery(of: tree, limits: ServerLimits())
        let probes = TurnProbes(
            try recovery.finish(epoch: 7, sequence: 0), keepsHistory: true)
        tree.open()
        tree.turn.begin()
        return probes
    }

    /// Applies an action in a turn of its own, and collects its change.
    private func change(
        _ path: String, of tree: Tree, _ probes: inout TurnProbes
    ) throws -> UInt32 {
        let node = try #require(tree.node(at: try SlicePath(path)))
        let action = Tally.Action.add(by: 1).wireBytes()
        _ = tree.dispatch(to: node, action.span, by: .daemon, ordinal: 0)
        probes.collect(behind: 10, at: 0)
        tree.turn.begin()
        return node.number
    }

    /// Reports the sums of a probe, and takes them for a row.
    private func sum(_ probe: StateProbe, _ probes: inout TurnProbes) -> Bool {
        let (sums, byteCount) = probe.sums()
        probes.finish(sums, byteCount: byteCount)
        return probes.takeSums() == sums
    }

    @Test("J70: a probe sums the nodes that any turn since the last probe has changed")
    func nodes() throws {
        let tree = TestTree.make()
        var probes = try start(tree)
        let visits = try change("/visits", of: tree, &probes)
        let other = try change("/other", of: tree, &probes)
        let early = probes.take(at: 5)
        #expect(early?.nodes == nil)
        let probeTaken = probes.take(at: minute)
        let probe = try #require(probeTaken)
        #expect(probe.nodes.map(\.number) == [visits, other])
        let isSummed = sum(probe, &probes)
        #expect(isSummed)
        // Everything is covered, so the end of the server adds nothing.
        let rest = probes.takeLast()
        #expect(rest?.nodes == nil)
        _ = try change("/other", of: tree, &probes)
        let nextTaken = probes.take(at: 3 * minute)
        let next = try #require(nextTaken)
        #expect(next.nodes.map(\.number) == [other])
    }

    @Test("the last probe sums what earlier ones left out, or whose sums have not arrived")
    func last() throws {
        let count = 2 * ChangedNodes.countMax
        let tree = Tree(
            ReactorGroup((0..<count).map { (name: WireKey("n\($0)"), reactor: Tally()) }), epoch: 7,
            environment: .inert)
        var probes = try start(tree)
        for index in 0..<count { _ = try change("/n\(index)", of: tree, &probes) }
        let firstTaken = probes.take(at: minute)
        let first = try #require(firstTaken)
        #expect(first.nodes.count == ChangedNodes.countMax)
        let isSummed = sum(first, &probes)
        #expect(isSummed)
        let lastTaken = probes.takeLast()
        let last = try #require(lastTaken)
        #expect(Set(last.nodes.map(\.number)).count >= count)
        let rest = probes.takeLast()
        #expect(rest?.nodes == nil)
        let late = try change("/n1", of: tree, &probes)
        let lateTaken = probes.takeLast()
        #expect(lateTaken?.nodes.contains { $0.number == late } ?? false)
    }
}
