import ReactorCore
import Testing

/// Drives ``KeyedLog`` through the collection.
@Suite("KeyedTouches")
struct KeyedTouchesTests {
    @Test("a collection that was never drained reports that any key may be new")
    func first() throws {
        var keyed: Keyed<WireKey, Int> = ["a": 1]
        #expect(keyed.drainTouched() == .all)
        #expect(keyed.drainTouched() == .keys([]))
        var decoded = try Keyed<WireKey, Int>(wireBytes: keyed.wireBytes())
        #expect(decoded.drainTouched() == .all)
    }

    @Test("touched keys are listed once each, in the order of their first touch")
    func order() {
        var keyed: Keyed<WireKey, Int> = ["a": 1]
        _ = keyed.drainTouched()
        keyed["b"] = 1
        keyed["a"]? += 1
        keyed["b"] = nil
        keyed["c", default: 0] += 1
        keyed["d"] = 4
        keyed.removeValue(forKey: "d")
        _ = keyed["z"]
        #expect(keyed.drainTouched() == .keys(["b", "a", "c", "d"]))
        #expect(keyed.drainTouched() == .keys([]))
    }

    @Test("F54: a key set to an equal value, or a missing key removed, is not touched")
    func equal() {
        var keyed: Keyed<WireKey, Memo> = ["a": Memo(count: 1, limit: 9)]
        _ = keyed.drainTouched()
        keyed["a"] = Memo(count: 1, limit: 9)
        keyed["b"] = nil
        keyed.removeValue(forKey: "c")
        #expect(keyed.drainTouched() == .keys([]))
        keyed["a"] = Memo(count: 2, limit: 9)
        #expect(keyed.drainTouched() == .keys(["a"]))
        keyed["a"]?.count += 0
        #expect(keyed.drainTouched() == .keys(["a"]))
    }

    @Test(
        "F54: a value equal to its author but not by bytes is touched; an incomparable one is too")
    func equalButOther() {
        var texts: Keyed<WireKey, String> = ["a": "\u{e9}"]
        _ = texts.drainTouched()
        texts["a"] = "e\u{301}"
        #expect(texts.drainTouched() == .keys(["a"]))
        #expect(texts["a"]?.utf8.count == 3)
        var memos: Keyed<WireKey, Memo> = ["a": Memo(count: 1, limit: 9)]
        _ = memos.drainTouched()
        var other = Memo(count: 1, limit: 9)
        other.cache = [1: "kept"]
        memos["a"] = other
        #expect(memos["a"]?.cache == [1: "kept"])
        // Values that cannot be compared may differ.
        var functions: Keyed<WireKey, () -> Int> = ["a": { 1 }]
        _ = functions.drainTouched()
        functions["a"] = { 1 }
        #expect(functions.drainTouched() == .keys(["a"]))
    }

    @Test("a String key that is set, changed or removed under another form touches all keys")
    func otherForm() {
        let changes: [(inout Keyed<String, Int>) -> Void] = [
            { $0["e\u{301}"] = 2 }, { $0["e\u{301}"] = 1 }, { $0["e\u{301}"]? += 1 },
            { $0["e\u{301}", default: 0] += 1 }, { $0.removeValue(forKey: "e\u{301}") },
            { $0["e\u{301}"] = nil },
            {
                $0["\u{e9}"] = nil
                $0["e\u{301}"] = 1
            },
        ]
        for (index, change) in changes.enumerated() {
            var keyed: Keyed<String, Int> = ["\u{e9}": 1, "a": 1]
            _ = keyed.drainTouched()
            change(&keyed)
            #expect(keyed.drainTouched() == .all, "change \(index)")
            keyed["a"] = 3
            #expect(keyed.drainTouched() == .keys(["a"]))
        }
    }

    @Test("beyond its limit the log reports all keys, and starts again after a drain")
    func ceiling() {
        var keyed: Keyed<UInt64, Int> = [:]
        _ = keyed.drainTouched()
        for key in 1...UInt64(KeyedLimits.touchesMax) { keyed[key] = 1 }
        #expect(keyed.drainTouched() == .keys(Array(1...UInt64(KeyedLimits.touchesMax))))
        for key in 0...UInt64(KeyedLimits.touchesMax) { keyed[key] = 2 }
        #expect(keyed.drainTouched() == .all)
        keyed[5] = 3
        #expect(keyed.drainTouched() == .keys([5]))
        keyed.removeAll()
        #expect(keyed.drainTouched() == .all)
    }

    @Test("the log is not part of equality, hashing and coding")
    func invisible() {
        var drained: Keyed<WireKey, Int> = ["a": 1]
        let fresh = drained
        _ = drained.drainTouched()
        drained["a"] = 1
        #expect(drained == fresh)
        #expect(drained.hashValue == fresh.hashValue)
        #expect(drained.wireBytes() == fresh.wireBytes())
    }
}
