import Testing

@testable import ReactorCore

@Suite("TreeSnapshot")
struct TreeSnapshotTests {
    @Test("every node is in a snapshot once, whatever nodes are created and removed")
    func once() throws {
        let tree = Tree(Shop(), epoch: 7)
        for index in 0..<10 { try tree.send(Shop.Action.open("r\(index)")) }
        var expected: Set<UInt32> = []
        tree.forEachNode { expected.insert($0.number) }
        let snapshot = tree.beginSnapshot()
        var saved: [UInt32] = []
        while !snapshot.isComplete {
            snapshot.gather(2)
            saved += snapshot.take().map(\.head.number)
            try tree.send(Shop.Action.close("r\(saved.count % 10)"))
            try tree.send(Shop.Action.open("n\(saved.count)"))
        }
        saved += snapshot.take().map(\.head.number)
        #expect(saved.count == Set(saved).count)
        #expect(Set(saved) == expected)
    }

    @Test("a cancelled snapshot leaves no trace; another may begin")
    func cancelled() throws {
        let tree = Tree(Shop(), epoch: 7)
        let snapshot = tree.beginSnapshot()
        #expect(!tree.turn.isShort(for: tree.root))
        snapshot.cancel()
        #expect(tree.turn.isShort(for: tree.root))
        #expect(snapshot.isComplete)
        try tree.send(Shop.Action.visit(1))
        #expect(snapshot.waitingCount == 0)
        let next = tree.beginSnapshot()
        next.gather(.max)
        #expect(next.take().count == tree.mountedCount)
        #expect(next.sequence == 1)
    }

    @Test("a refused batch leaves the snapshot unchanged")
    func rolledBack() throws {
        let tree = Tree(Shop(), epoch: 7)
        try tree.send(Shop.Action.open("a"))
        let snapshot = tree.beginSnapshot()
        _ = try tree.sendTogether([
            ("/", Shop.Action.close("a")), ("/", Shop.Action.open("b")),
            ("/", Shop.Action.refuseAfterLooking),
        ])
        snapshot.gather(.max)
        #expect(snapshot.take().count == tree.mountedCount)
        #expect(snapshot.isComplete)
    }
}
