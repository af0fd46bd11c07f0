import Testing

@testable import ReactorClient

@Suite("NodeTable")
struct NodeTableTests {
    /// Opens a path and releases it, so that it has no holder.
    private func visit(_ path: String, _ table: inout NodeTable, countMax: Int) -> UInt32 {
        let index = table.index(of: path) ?? table.add(path, countMax: countMax)
        table.hold(index)
        table[index]?.state = .open
        table.giveBack(index)
        return index
    }

    @Test("once all numbers are in use, a new path takes that of the path that was idle longest")
    func recycles() {
        var table = NodeTable()
        let first = (0..<3).map { visit("/\($0)", &table, countMax: 3) }
        #expect(first == [0, 1, 2])
        #expect(visit("/0", &table, countMax: 3) == 0)
        #expect(visit("/new", &table, countMax: 3) == 1)
        #expect(table.index(of: "/1") == nil && table.index(of: "/0") == 0)
    }

    @Test("a held number is not given to another path")
    func holds() {
        var table = NodeTable()
        let held = table.add("/held", countMax: 2)
        table.hold(held)
        table.hold(held)
        table.giveBack(held)
        let numbers = (0..<5).map { visit("/\($0)", &table, countMax: 2) }
        #expect(numbers == [1, 1, 1, 1, 1])
        #expect(table[held]?.path == "/held")
        table.giveBack(held)
        table.giveBack(held)
        #expect(visit("/a", &table, countMax: 2) == 1 && visit("/b", &table, countMax: 2) == 0)
    }

    @Test("a number that no caller received is free at once")
    func frees() {
        var table = NodeTable()
        let refused = table.add("/refused", countMax: 9)
        table.remove(refused)
        #expect(table.add("/next", countMax: 9) == refused && table.indices == [refused])
    }

    @Test("the removal of a node marks the nodes below it as gone, and no others")
    func invalidates() {
        var table = NodeTable()
        let paths = ["/a", "/a/b", "/ab", "/"]
        for path in paths { _ = visit(path, &table, countMax: 9) }
        table.invalidate(from: "/a")
        let stale = table.indices.filter { table[$0]?.state == .stale }
        #expect(stale.compactMap { table[$0]?.path } == ["/a", "/a/b"])
        table.invalidate(from: "/")
        #expect(table.indices.allSatisfy { table[$0]?.state == .stale })
    }

    @Test("a number beyond the daemon's limit does not keep an idle number from another path")
    func tooLarge() {
        var table = NodeTable()
        let held = (0..<3).map { table.add("/\($0)", countMax: 3) }
        for index in held { table.hold(index) }
        let refused = table.add("/more", countMax: 3)
        #expect(refused == 3)
        table.remove(refused)
        table.giveBack(held[1])
        #expect(table.add("/other", countMax: 3) == held[1])
    }
}
