import ReactorWire
import Testing

@Suite("Patches")
struct PatchWriterTests {
    private let value: WireValue = [
        "count": 1, "entries": ["a": 1, "b": ["x": 2]], "rooms": ["hall": ["chairs": 4]],
    ]

    private func patch(_ changes: [(path: [WireKey], value: WireValue?)]) -> [UInt8] {
        var patch = PatchWriter()
        for change in changes {
            patch.append(change.path[...]) { writer in
                guard let value = change.value else { return .absent }
                value.encode(into: &writer)
                return .found
            }
        }
        return patch.bytes
    }

    @Test("changes are applied one after another, at any depth")
    func applied() throws {
        let bytes = patch([
            (["count"], 2), (["entries", "a"], nil), (["entries", "c"], [1]),
            (["entries", "b", "x"], "deep"), (["rooms", "cellar"], [:]),
            (["rooms", "cellar", "chairs"], 0), (["entries", "never"], nil),
        ])
        var patched = value
        #expect(try patched.apply(patch: bytes.span))
        #expect(
            patched == [
                "count": 2, "entries": ["b": ["x": "deep"], "c": [1]],
                "rooms": ["hall": ["chairs": 4], "cellar": ["chairs": 0]],
            ])
    }

    @Test("a patch to the current value changes nothing")
    func same() throws {
        var patched = value
        let bytes = patch([(["count"], 1), (["entries", "b"], ["x": 2]), (["entries", "z"], nil)])
        #expect(try !patched.apply(patch: bytes.span) && patched == value)
        #expect(try !patched.apply(patch: [UInt8]().span))
    }

    @Test("a change at an index inserts before that element, or removes it")
    func positions() throws {
        var list: WireValue = ["order": ["a", "b"], "count": 2]
        let bytes = patch([
            (["order", "0"], nil), (["order", "1"], "c"), (["order", "0"], "d"), (["count"], 3),
        ])
        #expect(try list.apply(patch: bytes.span))
        #expect(list == ["order": ["d", "b", "c"], "count": 3])
        for changes: [(path: [WireKey], value: WireValue?)] in [
            [(["order", "3"], nil)], [(["order", "4"], "x")], [(["order", "x"], "x")],
            [(["order", "01"], "x")], [(["order", "0", "0"], "x")],
        ] {
            #expect(throws: WireError.self) { try list.apply(patch: patch(changes).span) }
        }
        #expect(list == ["order": ["d", "b", "c"], "count": 3])
    }

    @Test("an impossible path gives no change")
    func impossible() {
        var patch = PatchWriter()
        patch.append(["cache"]) { writer in
            writer.null()
            return .impossible
        }
        #expect(patch.isEmpty && patch.bytes.isEmpty)
    }

    @Test("C94: a patch of a missing value, or an invalid patch, is refused with its place")
    func refused() {
        for changes: [(path: [WireKey], value: WireValue?)] in [
            [(["missing", "a"], 1)], [(["count", "a"], 1)], [([], 1)],
            [(["entries", "a", "b"], nil)],
        ] {
            var patched = value
            #expect(throws: WireError.self) {
                _ = try patched.apply(patch: patch(changes).span)
            }
        }
        for item: WireValue in [1, [], [[1]], [["a"], 1, 2], ["a", 1]] {
            var patched = value
            #expect(throws: WireError.self) {
                _ = try patched.apply(patch: item.wireBytes().span)
            }
        }
    }

    @Test("W1: a prefix of a patch is refused, unless it ends between two changes")
    func prefixes() {
        let first = patch([(["entries", "a"], "long enough")])
        let bytes = first + patch([(["count"], 3)])
        for count in 1..<bytes.count where count != first.count {
            var patched = value
            #expect(throws: WireError.self) {
                _ = try patched.apply(patch: Array(bytes[..<count]).span)
            }
        }
    }
}
