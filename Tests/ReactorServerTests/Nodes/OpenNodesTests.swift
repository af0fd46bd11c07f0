import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Nodes by the numbers of clients, tested without a server.
struct OpenNodesTests {
    @Test("a node is opened at its number, and another can take its place")
    func places() throws {
        let bench = try OrganBench()
        bench.open("/visits", as: 3)
        #expect(bench.connection.node(3)?.path.description == "/visits")
        #expect(bench.connection.node(2) == nil && bench.connection.node(9) == nil)
        bench.open("/page", as: 3)
        #expect(bench.connection.node(3)?.path.description == "/page")
        #expect(bench.endTurn().map(\.kind) == [.opened, .opened])
        bench.openNodes.leave(bench.connection)
        #expect(bench.connection.node(3) == nil && bench.openNodes.count == 0)
    }

    @Test("a number beyond the limit, a field and a path without a node are refused")
    func refused() throws {
        let bench = try OrganBench { $0.nodesPerConnectionMax = 4 }
        bench.open("/visits", as: 4)
        bench.open("/visits/count")
        bench.open("/visit")
        let refusals = try bench.endTurn().map { try $0.decode(Refusal.self) }
        #expect(refusals.map(\.code) == [.quota, .notFound, .notFound])
        #expect(refusals[2].nearest == "/visits")
    }
}
