import ReactorCore
import Testing

@Suite("Keyed")
struct KeyedTests {
    @Test("values are set, changed in place and removed by key")
    func values() {
        var keyed: Keyed<WireKey, [Int]> = ["a": [1]]
        keyed["a"]?.append(2)
        keyed["b"] = [3]
        keyed["c", default: []].append(4)
        #expect(keyed.count == 3)
        #expect(keyed["a"] == [1, 2] && keyed["c"] == [4])
        #expect(keyed["d", default: [9]] == [9])
        #expect(!keyed.contains("d"))
        #expect(keyed.removeValue(forKey: "b") == [3])
        #expect(keyed.removeValue(forKey: "b") == nil)
        keyed["a"] = nil
        #expect(Set(keyed.keys) == ["c"])
        #expect(Array(keyed.values) == [[4]])
        #expect(keyed.map(\.key) == ["c"])
        keyed.removeAll()
        #expect(keyed.isEmpty)
    }

    @Test("two Unicode forms of a text are two keys")
    func exactKeys() {
        var keyed: Keyed<WireKey, Int> = [:]
        keyed["\u{e9}"] = 1
        keyed["e\u{301}"] = 2
        #expect(keyed.count == 2)
        #expect(keyed["\u{e9}"] == 1)
    }

    @Test("two Unicode forms of a String are one key, and a history with both is refused")
    func equalTexts() throws {
        var keyed: Keyed<String, Int> = [:]
        keyed["\u{e9}"] = 1
        keyed["e\u{301}"] = 2
        #expect(keyed.count == 1 && keyed["\u{e9}"] == 2)
        let both: Keyed<WireKey, Int> = ["\u{e9}": 1, "e\u{301}": 2]
        #expect(throws: WireError(.mergedKeys("e\u{301}"), at: 5)) {
            try Keyed<String, Int>(wireBytes: both.wireBytes())
        }
        let twice: [UInt8] = [0xa2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02]
        #expect(throws: WireError(.duplicateKey("a"), at: 4)) {
            try Keyed<String, Int>(wireBytes: twice)
        }
        let one: Keyed<String, Int> = ["\u{e9}": 1]
        var writer = WireWriter()
        #expect(one.encode(at: ["e\u{301}"], into: &writer) == .absent)
        #expect(one.encode(at: ["\u{e9}"], into: &writer) == .found)
    }

    @Test("a Keyed is a map on the wire, in ascending order of the encoded keys")
    func coding() throws {
        let keyed: Keyed<WireKey, Int> = ["bb": 2, "a": 1, "c": 3, "": 0]
        let same: [String: Int] = ["bb": 2, "a": 1, "c": 3, "": 0]
        #expect(keyed.wireBytes() == same.wireBytes())
        #expect(try Keyed<WireKey, Int>(wireBytes: keyed.wireBytes()) == keyed)
        let numbers: Keyed<UInt64, Int> = [10: 1, 9: 2]
        #expect(try WireValue(wireBytes: numbers.wireBytes()).json() == #"{"9":2,"10":1}"#)
        #expect(try Keyed<UInt64, Int>(wireBytes: numbers.wireBytes()) == numbers)
        #expect(Keyed<WireKey, Int>.wireSchema == .map(Int.wireSchema))
    }

    @Test("a duplicate key and an invalid key are refused with their place")
    func refused() throws {
        // {"a": 1, "a": 2}
        let twice: [UInt8] = [0xa2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02]
        #expect(throws: WireError(.duplicateKey("a"), at: 4)) {
            try Keyed<WireKey, Int>(wireBytes: twice)
        }
        #expect(throws: WireError.self) { try Keyed<UInt64, Int>(wireBytes: twice) }
        let mistyped = ["a": "text"].wireBytes()
        do {
            _ = try Keyed<WireKey, Int>(wireBytes: mistyped)
            Issue.record("text was read as an integer")
        } catch {
            #expect(error.path == ["a"])
        }
    }

    @Test("a path reaches one value without encoding the others")
    func reach() {
        let keyed: Keyed<UInt64, Trap> = [1: Trap(isSafe: false), 2: Trap(isSafe: true)]
        var writer = WireWriter()
        #expect(keyed.encode(at: ["2"], into: &writer) == .found)
        #expect(writer.bytes == [0xf5])
        #expect(keyed.encode(at: ["3"], into: &writer) == .absent)
        #expect(keyed.encode(at: ["03"], into: &writer) == .impossible)
        #expect(keyed.encode(at: ["2", "x"], into: &writer) == .impossible)
    }

    /// A value whose encoding fails the test, unless the value is safe.
    struct Trap: WireCodable, Equatable {
        var isSafe: Bool

        func encode(into writer: inout WireWriter) {
            #expect(isSafe)
            isSafe.encode(into: &writer)
        }

        static func decode(
            _ bytes: Span<UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Trap {
            Trap(isSafe: try Bool.decode(bytes, &cursor))
        }

        static var wireSchema: WireSchema { .bool }
    }

    @Test("with a hundred thousand keys and a copy, a set changes only its own entry")
    func many() {
        var keyed: Keyed<UInt64, Int> = [:]
        for key in 0..<100_000 as Range<UInt64> { keyed[key] = 1 }
        let copy = keyed
        // A copy of all entries per set would take a quarter of an hour.
        for key in 0..<10_000 as Range<UInt64> {
            let before = keyed
            keyed[key * 7] = 2
            if before[key * 7] != 1 { Issue.record("the copy changed at \(key)") }
        }
        #expect(keyed.count == 100_000)
        #expect(copy[7] == 1 && keyed[7] == 2)
    }
}
