import ReactorCore
import Testing

@Suite("Collections of children")
struct CollectionNodeTests {
    @Test("R106: ten thousand children are created and removed without leaving a trace")
    func churn() throws {
        let tree = Tree(Shop(), epoch: 1)
        let atStart = tree.mountedCount
        var numbers: Set<UInt32> = []
        weak var last: AnyNode?
        for round in 0..<10_000 {
            let key = "room\(round % 7)"
            try tree.send(Shop.Action.open(key))
            let room = try #require(try tree.node(at: SlicePath("/rooms/\(key)")))
            #expect(numbers.insert(room.number).inserted)
            last = room
            try tree.send(Shop.Action.close(key))
            if round % 100 == 99 { tree.turn.begin() }
        }
        tree.turn.begin()
        #expect(last == nil)
        #expect(tree.mountedCount == atStart)
        #expect(tree.turn.complaints.isEmpty)
        #expect(tree.revision.sequence == 20_000)
    }

    @Test("a collection refuses actions with an error")
    func noActions() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(WireValue.null, to: "/rooms") == "rejected NOT_FOUND")
    }

    @Test("an unused key is absent in a collection; an unknown field is impossible elsewhere")
    func reach() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.reach("/rooms/later") == .absent)
        #expect(try tree.reach("/rooms/later/chairs") == .absent)
        #expect(try tree.reach("/nothing") == .impossible)
        try tree.send(Shop.Action.open("later"))
        #expect(try tree.json("/rooms/later/chairs") == "0")
    }

    @Test("an empty key is refused together with the rest of the decision")
    func emptyKey() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(Shop.Action.open("")) == "rejected PATH")
        #expect(try tree.state(of: Shop.self) == Shop.State())
    }

    @Test("creation and removal are structural deltas of the collection")
    func structure() throws {
        let tree = Tree(Shop(), epoch: 1)
        let rooms = try #require(try tree.node(at: SlicePath("/rooms")))
        rooms.isReplicated = true
        try tree.send(Shop.Action.open("a"))
        let room = try #require(try tree.node(at: SlicePath("/rooms/a")))
        try tree.send(Shop.Action.close("a"))
        let changes = try tree.turn.changes.map { change in
            try tree.turn.withDeltas { bytes throws(WireError) in
                let frame = bytes.extracting(change.start..<change.end)
                var cursor = WireCursor(offset: FrameHeader.byteCount)
                _ = try Origin.decode(frame, &cursor)
                return try StructuralChange.decode(frame, &cursor)
            }
        }
        let guests = NumberedPath(number: room.number + 1, path: SlicePath(["guests"]))
        #expect(
            changes == [
                .create(key: "a", number: room.number, parts: [guests]), .remove(key: "a"),
            ])
    }

    @Test("F20: a group contains reactors that are known only at run time")
    func group() throws {
        let tree = Tree(
            ReactorGroup([("b", Tally()), ("a", Echo()), ("c", ReactorGroup([]))]), epoch: 1)
        #expect(try tree.send(Tally.Action.add(2), to: "/b") == "applied 1")
        #expect(
            try tree.json()
                == #"{"a":{"heard":"nothing"},"b":{"sum":2,"history":[2]},"c":{}}"#)
        #expect(try tree.send(WireValue.null) == "not an action")
    }

    @Test("a replica of a collection starts from its keys, and its value remains the children's")
    func replica() throws {
        let tree = Tree(Shop(), epoch: 1)
        let rooms = try #require(try tree.node(at: SlicePath("/rooms")))
        func replica() throws -> String {
            var writer = WireWriter()
            rooms.encodeReplica(into: &writer)
            return try WireValue(wireBytes: writer.bytes).json()
        }
        #expect(try replica() == #"{"keys":[]}"#)
        for key in ["bb", "c", "a"] { try tree.send(Shop.Action.open(key)) }
        try tree.send(Shop.Action.close("c"))
        #expect(try replica() == #"{"keys":["a","bb"]}"#)
        #expect(try tree.json("/rooms/keys") == nil)
        try tree.send(Shop.Action.close("a"))
        try tree.send(Shop.Action.close("bb"))
        #expect(try tree.json("/rooms") == "{}")
    }

    @Test("a node reports the sequence of its creation, and so do nodes created with it")
    func birth() throws {
        let tree = Tree(Shop(), epoch: 1)
        func birth(_ path: String) throws -> UInt64? {
            tree.node(at: try SlicePath(path))?.birthSequence
        }
        try tree.send(Shop.Action.open("a"))
        try tree.send(Shop.Action.close("a"))
        try tree.send(Shop.Action.open("a"))
        #expect(try birth("/rooms/a") == 3 && birth("/rooms/a/guests") == 3)
        #expect(try birth("/") == 0 && birth("/visits") == 0 && birth("/rooms") == 0)
    }
}
