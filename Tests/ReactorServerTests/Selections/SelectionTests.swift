import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Selections of children, as clients follow them: ``SelectedChildren``.
@Suite("selections of children")
struct SelectionTests {
    private func compare(
        _ field: WireKey..., by comparison: FieldComparison, _ value: WireValue
    ) -> SelectionCondition { .compare(field: field, by: comparison, with: value) }

    private func order(_ field: WireKey..., descending: Bool = false) -> SelectionOrder {
        SelectionOrder(field: field, descending: descending)
    }

    private func keys(_ value: WireValue?) -> [String] {
        value?["order"]?.arrayValue?.compactMap(\.textValue)
            ?? value?.mapValue?.map(\.key.text) ?? []
    }

    // MARK: Values

    // [WIRE-8-13]
    @Test("a filter shows the children that meet it, in the shape of the collection's value")
    func filter() throws {
        let (harness, admiral) = ServerHarness.fleet(["1", "2", "10"])
        admiral.order("/ships/2", .cargo(5))
        let selection = Selection(filter: compare("cargo", by: .greater, 3))
        var watcher = try PatchedWatcher(harness, "/ships", selecting: selection)
        let whole = try WireValue(wireBytes: harness.value("/ships"))
        #expect(watcher.value?.mapValue?.count == 1 && watcher.value?["2"] == whole["2"])
        admiral.order("/ships/10", .cargo(4))
        admiral.order("/ships/2", .cargo(3))
        try watcher.look()
        #expect(keys(watcher.value) == ["10"] && watcher.patches == 2)
        admiral.change(sunk: ["10"])
        try watcher.look()
        #expect(watcher.value == [:])
    }

    // [WIRE-8-14]
    @Test("an order shows the first children, and a child that leaves has its successor follow")
    func leaderboard() throws {
        let (harness, admiral) = ServerHarness.fleet((1...6).map(String.init))
        for number in 1...6 { admiral.order("/ships/\(number)", .cargo(number)) }
        let selection = Selection(order: [order("cargo", descending: true)], first: 3)
        var patched = try PatchedWatcher(harness, "/ships", selecting: selection)
        var whole = try PatchedWatcher(harness, "/ships", patches: false, selecting: selection)
        func check(_ expected: [String]) throws {
            try patched.look()
            try whole.look()
            #expect(keys(patched.value) == expected && patched.value == whole.value)
            #expect(patched.value?["children"]?.mapValue?.count == expected.count)
        }
        try check(["6", "5", "4"])
        admiral.order("/ships/1", .cargo(9))
        try check(["1", "6", "5"])
        admiral.change(sunk: ["6"])
        try check(["1", "5", "4"])
        admiral.order("/ships/1", .cargo(-1))
        try check(["5", "4", "3"])
        admiral.change(sunk: ["5", "4", "3", "2"])
        try check(["1"])
        admiral.change(sunk: ["1"], launched: ["1", "7"])
        try check(["1", "7"])
    }

    @Test("a turn without an effect on the shown children sends nothing, and looks at no field")
    func outside() throws {
        let (harness, admiral) = ServerHarness.fleet((1...6).map(String.init))
        for number in 1...6 { admiral.order("/ships/\(number)", .cargo(number)) }
        let selection = Selection(order: [order("cargo")], first: 2)
        var watcher = try PatchedWatcher(harness, "/ships", selecting: selection)
        for action in [Ship.Action.cargo(50), .name("far"), .painted("red")] {
            admiral.order("/ships/5", action)
        }
        admiral.change(launched: ["9"])
        admiral.order("/ships/9", .cargo(40))
        try watcher.look()
        // The new ship came first, with no cargo, and left.
        #expect(watcher.patches == 2 && keys(watcher.value) == ["1", "2"])
        admiral.order("/ships/2", .name("near"))
        try watcher.look()
        let patch: WireValue = [["children", "2", "name"], "near"]
        #expect(watcher.sizes == [patch.wireBytes().count])
    }

    @Test("a move in the order sends positions and the changed field, and no other child")
    func moves() throws {
        let (harness, admiral) = ServerHarness.fleet((1...9).map(String.init))
        for number in 1...9 { admiral.order("/ships/\(number)", .cargo(10 * number)) }
        let selection = Selection(order: [order("cargo")])
        var watcher = try PatchedWatcher(harness, "/ships", selecting: selection)
        admiral.order("/ships/2", .cargo(65))
        try watcher.look()
        let patch: [WireValue] = [
            [["children", "2", "cargo"], 65], [["order", "1"]], [["order", "5"], "2"],
        ]
        #expect(watcher.sizes == [patch.flatMap { $0.wireBytes() }.count])
        #expect(keys(watcher.value) == ["1", "3", "4", "5", "6", "2", "7", "8", "9"])
        // Between its neighbours, it needs no new position.
        admiral.order("/ships/2", .cargo(66))
        try watcher.look()
        #expect(watcher.sizes == [patch[0].wireBytes().count])
    }

    @Test(
        "a change costs the same bytes with 10 children and with 10,000, and one field's encoding")
    func bytes() throws {
        var sizes: [[Int]] = []
        for count in [10, 10_000] {
            let (harness, admiral) = ServerHarness.fleet((0..<count).map { "\($0 + 1_000_000)" })
            let selection = Selection(
                filter: compare("cargo", by: .greaterOrEqual, 0), order: [order("cargo")], first: 5)
            var watcher = try PatchedWatcher(harness, "/ships", selecting: selection)
            var found: [Int] = []
            let encoded = harness.server.statistics.valuesEncoded
            for cargo in [1, 2, 0, -1, 1, 1] {
                admiral.order("/ships/1000003", .cargo(cargo))
                try watcher.look()
                found += watcher.sizes
            }
            sizes.append(found)
            #expect(harness.server.statistics.valuesEncoded == encoded)
        }
        #expect(sizes[0] == sizes[1] && sizes[0].allSatisfy { $0 < 600 } && sizes[0].count == 3)
    }

    @Test("equal selections of many clients share one evaluation and one encoding")
    func shared() throws {
        let (harness, admiral) = ServerHarness.fleet(["1", "2", "3"])
        let selection = Selection(order: [order("cargo", descending: true)], first: 2)
        var watchers = try (0..<4).map { _ in
            try PatchedWatcher(harness, "/ships", selecting: selection)
        }
        #expect(harness.server.memory.slices == 1)
        let before = harness.server.statistics.patchesEncoded
        admiral.order("/ships/3", .cargo(3))
        for index in watchers.indices {
            try watchers[index].look()
            #expect(keys(watchers[index].value) == ["3", "1"])
        }
        #expect(harness.server.statistics.patchesEncoded == before + 1)
        #expect(harness.server.memory.selectedBytes > 0)
        for watcher in watchers { watcher.client.disconnect() }
        #expect(harness.server.memory.slices == 0 && harness.server.memory.selectedBytes == 0)
    }

    // MARK: Keys

    @Test("integer keys compare by their values, texts by their bytes, both bounds included")
    func keyRanges() throws {
        let (harness, _) = ServerHarness.fleet(["-3", "2", "9", "10", "11", "100"])
        func shown(
            _ path: String, _ from: WireKey?, _ through: WireKey?, _ selection: Selection? = nil
        ) throws -> [String] {
            var selection = selection ?? Selection()
            selection.keys = KeyBounds(from: from, through: through)
            return keys(try PatchedWatcher(harness, path, selecting: selection).value)
        }
        #expect(try shown("/ships", "2", "10") == ["2", "9", "10"])
        #expect(try shown("/ships", nil, "2") == ["2", "-3"])
        #expect(try shown("/boats", "10", "2") == ["2", "10", "11", "100"])
        #expect(try shown("/boats", "10", "100") == ["10", "100"])
        let last = Selection(order: [order(descending: true)], first: 2)
        #expect(try shown("/ships", nil, nil, last) == ["100", "11"])
        #expect(try shown("/boats", nil, nil, last) == ["9", "2"])
        #expect(try shown("/ships", nil, nil, Selection(first: 2)) == ["2", "-3"])
    }

    // MARK: Connections

    @Test("a slow client gets one whole value, and then patches again")
    func slow() throws {
        let (harness, admiral) = ServerHarness.fleet(["1", "2", "3"]) { $0.queueBytesMax = 2_000 }
        let selection = Selection(order: [order("name")], first: 2)
        var watcher = try PatchedWatcher(harness, "/ships", selecting: selection)
        watcher.client.socket.room = 0
        for round in 0..<60 {
            let name = "\(999 - round) \(String(repeating: "x", count: 50))"
            admiral.order("/ships/\(round % 3 + 1)", .name(name))
        }
        #expect(harness.server.statistics.conflations == 1)
        for _ in 0..<3 {
            watcher.client.take()
            harness.settle()
        }
        try watcher.look()
        #expect(keys(watcher.value) == ["3", "2"])
        admiral.order("/ships/1", .name("0"))
        try watcher.look()
        #expect(keys(watcher.value) == ["1", "3"] && watcher.patches == 1)
    }

    @Test("a subscription that resumes gets nothing if no child changed, else a whole value")
    func resumes() throws {
        let (harness, admiral) = ServerHarness.fleet(["1", "2"])
        let selection = Selection(order: [order("cargo")], first: 1)
        func resume(from sequence: UInt64) throws -> [String] {
            let client = harness.client()
            let from = Revision(epoch: 7, sequence: sequence)
            client.subscribe("/ships", from: from, patches: true, selecting: selection)
            harness.settle()
            let frames = client.frames()
            let granted = try #require(frames.first { $0.kind == .subscribed })
            let start = try granted.decode(Subscribed.self).start
            return ["\(start)", "\(frames.count { $0.kind == .value })"]
        }
        let sequence = harness.server.tree.turn.sequence
        #expect(try resume(from: sequence) == ["unchanged", "0"])
        admiral.order("/ships/2", .cargo(-1))
        #expect(try resume(from: sequence) == ["snapshot", "1"])
    }

    @Test("a child that is created and removed in the turn of the subscription is not shown")
    func sameTurn() throws {
        let (harness, admiral) = ServerHarness.fleet(["1"])
        admiral.change(launched: ["2"], settles: false)
        let client = harness.client()
        client.subscribe("/ships", patches: true, selecting: Selection(first: 5))
        admiral.change(sunk: ["2"])
        let value = try #require(client.frames(.value).last)
        #expect(keys(try WireValue(wireBytes: value.body)) == ["1"])
    }

    @Test("a selection ends with its collection")
    func gone() throws {
        let harness = ServerHarness(Tree(Docks(), epoch: 7))
        let writer = harness.client()
        writer.open("/", as: 0)
        writer.dispatch(Docks.Action.open("a"))
        harness.settle()
        let client = harness.client()
        client.subscribe(
            "/fleets/a/ships", patches: true, selecting: Selection(order: [order("cargo")]))
        harness.settle()
        #expect(client.frames(.value).count == 1)
        writer.dispatch(Docks.Action.close("a"))
        harness.settle()
        #expect(client.frames(.gone).count == 1 && harness.server.memory.slices == 0)
    }

    // MARK: Questions

    // [WIRE-11-8]
    @Test("a question for a selection is answered with the value of its slice")
    func question() throws {
        let (harness, admiral) = ServerHarness.fleet((1...5).map(String.init))
        for number in 1...5 { admiral.order("/ships/\(number)", .cargo(number % 3)) }
        let selection = Selection(
            filter: compare("cargo", by: .less, 2), order: [order("cargo", descending: true)],
            first: 2)
        let watcher = try PatchedWatcher(harness, "/ships", selecting: selection)
        #expect(keys(watcher.value) == ["1", "4"])
        #expect(try answer(harness, selection) == watcher.value)
        // An encoding of its own, outside the loop.
        let (small, _) = ServerHarness.fleet(["1"]) { $0.answerBytesPerTurnMax = 1 }
        let expected = try PatchedWatcher(small, "/ships", selecting: selection).value
        #expect(try answer(small, selection) == expected && keys(expected) == ["1"])
    }

    private func answer(_ harness: ServerHarness, _ selection: Selection) throws -> WireValue? {
        let client = harness.client()
        client.ask(.select(path: "/ships", selection: selection))
        harness.settle()
        let answer = try #require(client.frames(.answer).first)
        return try WireValue(wireBytes: answer.body)[2]
    }
}

/// A root whose fleets come and go.
@Reactor
struct Docks {
    @Children var fleets = { (_: WireKey) in Fleet() }

    enum Action: Sendable {
        case open(String)
        case close(String)
    }
    enum Mutation: Sendable { case noted }
    struct State: Sendable { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let key): Mutations(.noted).creating($fleets, WireKey(key))
        case .close(let key): Mutations(.noted).removing($fleets, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}
