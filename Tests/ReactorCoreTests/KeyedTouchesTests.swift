import ReactorCore
import Testing

@Suite("KeyedTouches")
struct KeyedTouchesTests {
    @Test("a collection that nobody asked before says that any key may be new")
    func first() throws {
        var keyed: Keyed<WireKey, Int> = ["a": 1]
        #expect(keyed.drainTouched() == .all)
        #expect(keyed.drainTouched() == .keys([]))
        var decoded = try Keyed<WireKey, Int>(wireBytes: keyed.wireBytes())
        #expect(decoded.drainTouched() == .all)
    }

    @Test("touched keys come once each, in the order of their first touch")
    func order() {
        var keyed: Keyed<WireKey, Int> = ["a": 1]
        _ = keyed.drainTouched()
        keyed["b"] = 1
        keyed["a"]? += 1
        keyed["b"] = nil
        keyed["c", default: 0] += 1
        keyed.removeValue(forKey: "d")
        _ = keyed["z"]
        #expect(keyed.drainTouched() == .keys(["b", "a", "c", "d"]))
        #expect(keyed.drainTouched() == .keys([]))
    }

    @Test("past its ceiling the log says all, and starts anew when it was read")
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

    @Test("the log is no part of equality, hashing or coding")
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
