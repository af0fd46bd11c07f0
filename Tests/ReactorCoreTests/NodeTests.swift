import ReactorCore
import Testing

@Suite("Node: one action, one transaction")
struct NodeTests {
    @Test("R96: a rejected action changes neither state nor revision, in the node and below")
    func rejection() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(Shop.Action.visit(3)) == "applied 1")
        let before = try tree.json()
        #expect(try tree.send(Shop.Action.refuseAfterLooking) == "rejected refused")
        #expect(try tree.send(Tally.Action.refuse, to: "/visits") == "rejected refused")
        #expect(try tree.json() == before)
        #expect(tree.revision.sequence == 1)
        #expect(tree.deltas == ["0@1", "1@1"])
    }

    @Test("a rejection's code and message reach the caller")
    func message() throws {
        let tree = Tree(Tally(), epoch: 1)
        let bytes = Tally.Action.refuse.wireBytes()
        let result = tree.dispatch(to: tree.root, bytes.span, by: .daemon, ordinal: 1)
        guard case .failed(.rejected(let rejection)) = result else {
            Issue.record("expected a rejection, got \(result)")
            return
        }
        #expect(rejection == Rejection("refused", "the sum 0 stays"))
    }

    @Test(
        "R97: an action may have 4,096 mutations; one more is refused before the first is applied")
    func mutationsMax() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(
            try tree.send(Tally.Action.flood(CoreLimits.mutationsMax + 1)) == "rejected TOO_LARGE")
        #expect(try tree.state(of: Tally.self) == Tally.State())
        #expect(tree.revision.sequence == 0)
        #expect(try tree.send(Tally.Action.flood(CoreLimits.mutationsMax)) == "applied 1")
        #expect(try tree.state(of: Tally.self).sum == CoreLimits.mutationsMax)
    }

    @Test("R97: a too large mutation is refused before it is applied")
    func deltaBytesMax() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(
            try tree.send(Tally.Action.swell(CoreLimits.deltaBytesMax)) == "rejected TOO_LARGE")
        #expect(try tree.state(of: Tally.self) == Tally.State())
        #expect(tree.turn.deltaByteCount == 0)
    }

    @Test("R96: a child's too large mutation also refuses the parent's")
    func elsewhereBytesMax() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(
            try tree.send(Shop.Action.overfill(CoreLimits.deltaBytesMax)) == "rejected TOO_LARGE")
        #expect(try tree.state(of: Shop.self) == Shop.State())
        #expect(tree.turn.deltaByteCount == 0)
        #expect(tree.turn.complaints.isEmpty)
        #expect(try tree.send(Shop.Action.overfill(10)) == "applied 1")
    }

    @Test("applied sequences have no gaps, and a node keeps the sequence of its last change")
    func sequences() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(Shop.Action.open("a")) == "applied 1")
        #expect(try tree.send(Shop.Action.refuseAfterLooking) == "rejected refused")
        #expect(try tree.send(Tally.Action.add(1), to: "/visits") == "applied 2")
        #expect(try tree.send(Room.Action.place(1), to: "/rooms/a") == "applied 3")
        #expect(try tree.send(Tally.Action.nothing, to: "/visits") == "applied 4")
        func sequence(_ path: String) throws -> UInt64? {
            tree.node(at: try SlicePath(path))?.sequence
        }
        #expect(try sequence("/") == 3)
        #expect(try sequence("/visits") == 2)
        #expect(try sequence("/rooms") == 3)
        #expect(try sequence("/rooms/a") == 3)
        #expect(try sequence("/rooms/a/guests") == 0)
    }

    @Test("an action with trailing bytes is invalid")
    func trailing() throws {
        let tree = Tree(Tally(), epoch: 1)
        let bytes = Tally.Action.add(1).wireBytes() + [0x00]
        let result = tree.dispatch(to: tree.root, bytes.span, by: .daemon, ordinal: 1)
        #expect(try result.text == "not an action")
        #expect(try tree.state(of: Tally.self).sum == 0)
    }

    @Test("a reactor describes itself")
    func description() {
        let root = Tree(Tally(), epoch: 1).root
        #expect(root.reactorName == "Tally")
        #expect(root.documentation.hasPrefix("Sums what it is given"))
        #expect(root.fingerprint == Tally.fingerprint)
        #expect(root.actionSchema == Tally.Action.wireSchema)
        #expect(root.mutationSchema == Tally.Mutation.wireSchema)
        #expect(root.stateSchema == Tally.State.wireSchema)
    }
}
