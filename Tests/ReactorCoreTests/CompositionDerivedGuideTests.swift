import ReactorCore
import Testing

@Suite("guide: derived values")
struct CompositionDerivedGuideTests {
    private typealias Action = Stockroom.Action

    @Test("values follow the bins, and a decision reads them")
    func values() throws {
        let tree = Tree(Stockroom(), epoch: 1)
        for bin in ["nuts", "bolts"] { try tree.send(Action.open(WireKey(bin))) }
        #expect(try tree.json("/fill") == #"{"full":0,"empty":2}"#)
        try tree.send(Action.store("nuts", 400))
        #expect(try tree.json("/fill") == #"{"full":1,"empty":1}"#)
        #expect(try tree.json("/total") == "400")
        #expect(try tree.json("/label") == #""at most 1000""#)
        try tree.send(Action.store("bolts", 700))
        #expect(try tree.json("/isFull") == "true")
        #expect(try tree.send(Action.store("bolts", 1)) == "rejected full")
    }

    @Test("a decision is random, and its mutation contains the result")
    func audit() throws {
        let tree = Tree(
            Stockroom(), epoch: 1,
            environment: TreeEnvironment(
                post: { _ in }, random: TreeRandom(SeededGenerator(seed: 3))))
        for bin in ["nuts", "bolts"] { try tree.send(Action.open(WireKey(bin))) }
        for _ in 0..<20 { try tree.send(Action.audit) }
        #expect(try Set(tree.state(of: Stockroom.self).audited) == ["nuts", "bolts"])
    }
}
