import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The changes of a value, for followers that have the value before them.
@Suite("Patches of values")
struct PatchTests {
    private func writer(_ harness: ServerHarness) -> TestClient {
        let client = harness.client()
        client.open("/ledger", as: 0)
        client.open("/house", as: 1)
        harness.turn()
        _ = client.frames()
        return client
    }

    private func value(_ harness: ServerHarness, _ path: String) throws -> WireValue {
        try WireValue(wireBytes: harness.value(path))
    }

    // [WIRE-8-5]
    @Test("F54, F58: a subscriber that asks for patches gets only the changed fields and keys")
    func fieldsAndKeys() throws {
        let harness = ServerHarness.ledger(20)
        let writer = writer(harness)
        var watcher = try PatchedWatcher(harness, "/ledger")
        #expect(watcher.patches == 0 && watcher.sizes.count == 1)
        writer.dispatch(Ledger.Action.put(key: "key3", value: "three"))
        writer.dispatch(Ledger.Action.drop(key: "key4"))
        writer.dispatch(Ledger.Action.title("books"))
        harness.settle()
        try watcher.look()
        let expected: [WireValue] = [
            [["entries", "key3"], "three"], [["entries", "key4"]], [["title"], "books"],
        ]
        #expect(watcher.patches == 1)
        #expect(watcher.sizes == [expected.flatMap { $0.wireBytes() }.count])
        #expect(try watcher.value == value(harness, "/ledger"))
    }

    @Test("F54: a field set to an equal value, or not transmitted, is not sent")
    func unchanged() throws {
        let harness = ServerHarness.ledger(3)
        let writer = writer(harness)
        var patched = try PatchedWatcher(harness, "/ledger")
        var whole = try PatchedWatcher(harness, "/ledger", patches: false)
        for action in [Ledger.Action.leaf(0), .title(""), .cache] {
            writer.dispatch(action)
            harness.settle()
        }
        try patched.look()
        try whole.look()
        #expect(patched.sizes.isEmpty && whole.sizes.isEmpty)
    }

    @Test("F54, F58: of a tracked state in another, only the changed fields are sent")
    func nestedFields() throws {
        let harness = ServerHarness.ledger(3)
        let writer = writer(harness)
        let paths = ["/ledger", "/ledger/style", "/ledger/style/color", "/ledger/style/fonts"]
        var watchers = try paths.map { try PatchedWatcher(harness, $0) }
        writer.dispatch(Ledger.Action.margin(7))
        writer.dispatch(Ledger.Action.color("black"))
        harness.settle()
        for index in watchers.indices { try watchers[index].look() }
        let patch = ([["style", "margin"], 7] as WireValue).wireBytes().count
        #expect(watchers.map(\.patches) == [1, 1, 0, 0])
        #expect(watchers[0].sizes == [patch])
        #expect(watchers[2].sizes.isEmpty && watchers[3].sizes.isEmpty)
        writer.dispatch(Ledger.Action.color("red"))
        harness.settle()
        writer.dispatch(Ledger.Action.plain)
        harness.settle()
        for index in watchers.indices {
            try watchers[index].look()
            #expect(try watchers[index].value == value(harness, paths[index]))
        }
    }

    @Test("F54: a key set to an equal value, or removed where there is none, is not sent")
    func unchangedKeys() throws {
        let harness = ServerHarness.ledger(3, value: { ["name": .text("n\($0)"), "size": 4] })
        let writer = writer(harness)
        var watchers = try ["/ledger", "/ledger/entries", "/ledger/entries/key1"].map {
            try PatchedWatcher(harness, $0)
        }
        for action in [
            Ledger.Action.put(key: "key1", value: ["name": "n1", "size": 4]), .drop(key: "gone"),
        ] {
            writer.dispatch(action)
            harness.settle()
        }
        let encoded = harness.server.statistics
        for index in watchers.indices {
            try watchers[index].look()
            #expect(watchers[index].sizes.isEmpty)
        }
        writer.dispatch(Ledger.Action.put(key: "key1", value: ["name": "n1", "size": 5]))
        harness.settle()
        for (index, path) in ["/ledger", "/ledger/entries", "/ledger/entries/key1"].enumerated() {
            try watchers[index].look()
            #expect(watchers[index].sizes.count == 1)
            #expect(try watchers[index].value == value(harness, path))
        }
        #expect(encoded.patchesEncoded == 0)
    }

    @Test("F54: a field changed in place to an equal value is sent once, and not again")
    func unchangedPatches() throws {
        let harness = ServerHarness.ledger(3)
        let writer = writer(harness)
        var watcher = try PatchedWatcher(harness, "/ledger")
        for _ in 0..<3 {
            writer.dispatch(Ledger.Action.blob(byteCount: 10))
            harness.settle()
        }
        try watcher.look()
        #expect(watcher.sizes.count == 1 && watcher.patches == 1)
        // Two equal updates may have another one between them.
        for byteCount in [11, 10, 10, 11] {
            writer.dispatch(Ledger.Action.blob(byteCount: byteCount))
            harness.settle()
        }
        try watcher.look()
        #expect(watcher.sizes.count == 3)
        #expect(try watcher.value == value(harness, "/ledger"))
    }

    @Test("F54: a follower that missed an update between two equal patches catches up")
    func patchesAroundASnapshot() throws {
        let harness = ServerHarness.ledger(3, change: { $0.queueBytesMax = 2_000 })
        let writer = writer(harness)
        var watcher = try PatchedWatcher(harness, "/ledger")
        func blob(_ byteCount: Int) {
            writer.dispatch(Ledger.Action.blob(byteCount: byteCount))
            harness.settle()
        }
        blob(10)
        watcher.client.socket.room = 0
        for round in 0..<200 { blob(500 + round) }
        #expect(harness.server.statistics.conflations == 1)
        blob(20)
        for _ in 0..<3 {
            watcher.client.take()
            harness.settle()
        }
        blob(10)
        watcher.client.take()
        harness.settle()
        try watcher.look()
        #expect(try watcher.value == value(harness, "/ledger"))
    }

    @Test("a client without patches gets whole values, beside one with patches")
    func mixed() throws {
        let harness = ServerHarness.ledger(20)
        let writer = writer(harness)
        var patched = try PatchedWatcher(harness, "/ledger")
        var whole = try PatchedWatcher(harness, "/ledger", patches: false)
        writer.dispatch(Ledger.Action.leaf(5))
        harness.settle()
        try patched.look()
        try whole.look()
        #expect(patched.patches == 1 && whole.patches == 0 && whole.sizes.count == 1)
        #expect(try whole.value == value(harness, "/ledger") && patched.value == whole.value)
    }

    @Test("all subscribers of a slice share one encoding a turn")
    func shared() throws {
        let harness = ServerHarness.ledger(20)
        let writer = writer(harness)
        var watchers = try (0..<5).map { _ in try PatchedWatcher(harness, "/ledger") }
        let before = harness.server.statistics
        writer.dispatch(Ledger.Action.leaf(5))
        harness.settle()
        for index in watchers.indices {
            try watchers[index].look()
            #expect(try watchers[index].value == value(harness, "/ledger"))
        }
        let after = harness.server.statistics
        #expect(after.patchesEncoded == before.patchesEncoded + 1)
        #expect(after.valuesEncoded == before.valuesEncoded)
        #expect(after.valueBytesEncoded - before.valueBytesEncoded == UInt64(watchers[0].sizes[0]))
    }

    @Test("R107: of a state of 100 MiB with one changed leaf, only the leaf is encoded and sent")
    func huge() throws {
        let block = WireValue.bytes([UInt8](repeating: 1, count: 1 << 20))
        let harness = ServerHarness.ledger(100, value: { _ in block })
        let writer = writer(harness)
        let reader = harness.client()
        reader.subscribe("/ledger", .value, patches: true)
        harness.settle()
        #expect(reader.socket.received.count > 100 << 20)
        let before = harness.server.statistics
        let received = reader.socket.received.count
        writer.dispatch(Ledger.Action.leaf(1))
        harness.settle()
        writer.dispatch(Ledger.Action.put(key: "key7", value: "small"))
        harness.settle()
        let after = harness.server.statistics
        #expect(after.valuesEncoded == before.valuesEncoded)
        #expect(after.snapshotsEncoded == before.snapshotsEncoded)
        #expect(after.valueBytesEncoded - before.valueBytesEncoded < 64)
        #expect(reader.socket.received.count - received < 256)
        #expect(reader.socket.received.count > received)
    }

    @Test(
        "a watcher of a value with 40,000 keys costs writers their changes, not the value")
    func manyKeys() throws {
        let harness = ServerHarness.ledger(40_000)
        let writer = writer(harness)
        var node = try PatchedWatcher(harness, "/ledger")
        var field = try PatchedWatcher(harness, "/ledger/entries")
        let before = harness.server.statistics
        for round in 0..<50 {
            writer.dispatch(
                Ledger.Action.put(key: WireKey("key\(round * 700)"), value: "round"))
            harness.settle()
        }
        let after = harness.server.statistics
        try node.look()
        try field.look()
        #expect(node.patches == 50 && field.patches == 50)
        #expect(after.valuesEncoded == before.valuesEncoded)
        #expect(after.valueBytesEncoded - before.valueBytesEncoded < 100 * 40)
        #expect(try node.value == value(harness, "/ledger"))
        #expect(try field.value == value(harness, "/ledger/entries"))
    }

    @Test("a stopped reader of a large value costs no encoding")
    func stopped() throws {
        for patches in [false, true] {
            let harness = ServerHarness.ledger(2_000, change: { $0.queueBytesMax = 64 << 10 })
            let writer = writer(harness)
            var watcher = try PatchedWatcher(harness, "/ledger", patches: patches)
            watcher.client.socket.room = 0
            var rounds = 0
            while harness.server.statistics.conflations == 0, rounds < 1_000 {
                rounds += 1
                writer.dispatch(
                    Ledger.Action.put(
                        key: "key1", value: .text(String(repeating: "x", count: 500 + rounds))))
                harness.settle()
            }
            let before = harness.server.statistics
            #expect(before.conflations == 1)
            for round in 0..<100 {
                writer.dispatch(Ledger.Action.leaf(round))
                harness.settle()
            }
            let after = harness.server.statistics
            #expect(after.valueBytesEncoded == before.valueBytesEncoded)
            #expect(after.valuesEncoded == before.valuesEncoded)
            watcher.client.take()
            harness.settle()
            watcher.client.take()
            try watcher.look()
            #expect(try watcher.value == value(harness, "/ledger"), "patches: \(patches)")
        }
    }

    @Test("F54: a change of one key costs the watchers of another nothing, and sends nothing")
    func keys() throws {
        let harness = ServerHarness.ledger(10)
        let writer = writer(harness)
        var watchers = try (0..<10).map {
            try PatchedWatcher(harness, "/ledger/entries/key\($0)", patches: $0 % 2 == 0)
        }
        let before = harness.server.statistics
        writer.dispatch(Ledger.Action.put(key: "key3", value: "new"))
        writer.dispatch(Ledger.Action.leaf(2))
        harness.settle()
        let after = harness.server.statistics
        #expect(after.valuesEncoded == before.valuesEncoded + 1)
        for index in watchers.indices {
            try watchers[index].look()
            #expect(watchers[index].sizes.isEmpty == (index != 3))
            #expect(watchers[index].patches == 0)
        }
        #expect(watchers[3].value == "new")
        writer.dispatch(Ledger.Action.drop(key: "key4"))
        harness.settle()
        try watchers[4].look()
        #expect(watchers[4].value == nil && watchers[4].sizes == [0])
    }

    @Test("children that are created, changed and removed are keys of their parent's value")
    func children() throws {
        let harness = ServerHarness.ledger(3)
        let writer = writer(harness)
        var root = try PatchedWatcher(harness, "/")
        var room = try PatchedWatcher(harness, "/house/rooms/a/count")
        func check() throws {
            harness.settle()
            try root.look()
            try room.look()
            #expect(try root.value == value(harness, "/"))
            #expect(root.patches == 1 && root.sizes.count == 1)
        }
        writer.dispatch(House.Action.build(name: "a"), to: 1)
        writer.dispatch(House.Action.build(name: "b"), to: 1)
        try check()
        #expect(room.value == 0)
        writer.open("/house/rooms/a", as: 2)
        writer.add(4, to: 2)
        writer.dispatch(Ledger.Action.title("x"))
        try check()
        #expect(room.value == 4)
        writer.dispatch(House.Action.tear(name: "a"), to: 1)
        writer.dispatch(House.Action.build(name: "a"), to: 1)
        try check()
        writer.dispatch(House.Action.tear(name: "b"), to: 1)
        writer.dispatch(House.Action.build(name: "c"), to: 1)
        writer.dispatch(House.Action.tear(name: "c"), to: 1)
        try check()
        #expect(root.value?["house"]?["rooms"]?.mapValue?.keys.map(\.text) == ["a"])
    }

    @Test("a slice without known changes, or with a lost past, is sent whole")
    func unknown() throws {
        let harness = ServerHarness.ledger(3)
        let writer = writer(harness)
        var watcher = try PatchedWatcher(harness, "/ledger")
        writer.dispatch(Ledger.Action.reset)
        harness.settle()
        try watcher.look()
        #expect(watcher.patches == 0 && watcher.sizes.count == 1)
        #expect(try watcher.value == value(harness, "/ledger"))
        writer.dispatch(Ledger.Action.put(key: "a", value: 1))
        harness.settle()
        try watcher.look()
        #expect(try watcher.patches == 1 && watcher.value == value(harness, "/ledger"))
    }

    @Test("a patch above 64 KiB comes in parts, each of which is marked as a patch")
    func parts() throws {
        let harness = ServerHarness.ledger(3)
        let writer = writer(harness)
        var watcher = try PatchedWatcher(harness, "/ledger")
        writer.dispatch(Ledger.Action.blob(byteCount: 200_000))
        harness.settle()
        try watcher.look()
        #expect(watcher.patches == 1 && watcher.sizes[0] > 200_000)
        #expect(try watcher.value == value(harness, "/ledger"))
    }

    @Test("over random actions, pauses and new watchers, patched values equal the daemon's")
    func random() throws {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            let harness = ServerHarness.ledger(30, change: { $0.queueBytesMax = 2_000 })
            let writer = writer(harness)
            var watchers = try ["/", "/ledger", "/ledger/entries", "/house"].map {
                try PatchedWatcher(harness, $0)
            }
            for _ in 0..<200 {
                let key = WireKey("key\(Int.random(in: 0..<40, using: &random))")
                let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                switch Int.random(in: 0..<12, using: &random) {
                case 0...2: writer.dispatch(Ledger.Action.put(key: key, value: .text(key.text)))
                case 3: writer.dispatch(Ledger.Action.drop(key: key))
                case 4: writer.dispatch(Ledger.Action.title(key.text))
                case 5: writer.dispatch(House.Action.build(name: name), to: 1)
                case 6: writer.dispatch(House.Action.tear(name: name), to: 1)
                case 7: writer.dispatch(Ledger.Action.margin(Int.random(in: 0..<3, using: &random)))
                case 8: writer.dispatch(Ledger.Action.color(name))
                case 9: writer.dispatch(Ledger.Action.plain)
                case 10:
                    let index = Int.random(in: 0..<watchers.count, using: &random)
                    watchers[index].client.take(Bool.random(using: &random) ? 0 : 5_000)
                default: harness.settle()
                }
            }
            harness.settle()
            for (index, path) in ["/", "/ledger", "/ledger/entries", "/house"].enumerated() {
                for _ in 0..<3 {
                    watchers[index].client.take()
                    harness.settle()
                }
                try watchers[index].look()
                #expect(try watchers[index].value == value(harness, path), "seed \(seed) \(path)")
            }
        }
    }
}
