import Testing

@testable import ReactorClient

@Suite("NodeHold")
struct NodeHoldTests {
    @Test("a number is returned once, with its last holder")
    func returns() {
        var table = NodeTable()
        let node = NodeID(rawValue: table.add("/a", countMax: 1))
        let returns = NodeReturns()
        var holds = [NodeHold(node, returns)]
        holds.append(holds[0])
        holds.removeFirst()
        #expect(returns.take() == [])
        holds.removeFirst()
        #expect(returns.take() == [node] && returns.take() == [])
    }
}
