import Testing

@testable import ReactorCore

@Suite("OwnershipTable")
struct OwnershipTableTests {
    private func table(_ changes: OwnershipFact...) -> OwnershipTable {
        var table = OwnershipTable()
        for change in changes { table.apply(change) }
        return table
    }

    @Test("owned keys are listed by node, in the order in which they were acquired")
    func order() {
        var table = table(
            .own(node: 9, key: "b", connection: 1), .own(node: 2, key: "z", connection: 1),
            .own(node: 9, key: "a", connection: 1), .own(node: 9, key: "b", connection: 1),
            .own(node: 9, key: "x", connection: 2))
        let taken = table.take(connection: 1)
        #expect(taken.map(\.node) == [9, 2])
        #expect(taken.map(\.keys) == [["b", "a"], ["z"]])
        #expect(table.take(connection: 1).isEmpty)
        #expect(table.count == 1)
    }

    @Test("the keys of one connection at one node are listed without being taken")
    func keys() {
        let table = table(
            .own(node: 9, key: "b", connection: 1), .own(node: 2, key: "z", connection: 1),
            .own(node: 9, key: "a", connection: 1), .own(node: 9, key: "x", connection: 2))
        #expect(table.keys(of: 1, at: 9) == ["b", "a"])
        #expect(table.keys(of: 2, at: 2).isEmpty && table.keys(of: 3, at: 9).isEmpty)
        #expect(table.count == 4)
    }

    @Test("disowned keys and removed nodes leave no trace")
    func empties() {
        var table = table(
            .own(node: 1, key: "a", connection: 1), .own(node: 1, key: "b", connection: 1),
            .disown(node: 1, key: "a", connection: 1), .disown(node: 1, key: "z", connection: 7),
            .own(node: 2, key: "a", connection: 1), .own(node: 2, key: "a", connection: 2))
        #expect(table.count == 3)
        table.forget(node: 2)
        #expect(table.count == 1)
        #expect(table.take(connection: 1).map(\.keys) == [["b"]])
        #expect(table.take(connection: 2).isEmpty)
    }

    @Test("a node that is created again can be owned again")
    func ownedAgain() {
        var table = table(
            .own(node: 1, key: "a", connection: 1), .own(node: 1, key: "a", connection: 2))
        #expect(table.take(connection: 2).count == 1)
        table.forget(node: 1)
        table.forget(node: 1)
        #expect(table.count == 0)
        table.apply(.own(node: 1, key: "b", connection: 2))
        #expect(table.take(connection: 2).map(\.keys) == [["b"]])
        #expect(table.take(connection: 1).isEmpty)
    }

    @Test("the daemon owns nothing")
    func daemon() { #expect(table(.own(node: 1, key: "a", connection: 0)).count == 0) }

    @Test("a node lists a connection as owner exactly while it owns a key of it")
    func invariants() {
        var table = table(.own(node: 1, key: "a", connection: 4))
        #expect(table.invariants(at: 1, 4) && table.nodes.contains(1))
        table.apply(.disown(node: 1, key: "a", connection: 4))
        #expect(table.invariants(at: 1, 4) && !table.nodes.contains(1))
    }
}
