import ReactorWire
import Testing

/// The faults of hostile or foreign values, by their numbers.
@Suite("Hostile values")
struct WireFaultTests {
    /// The condition with which `bytes` are refused as a `Value`.
    private func refusal<Value: WireCodable>(
        _ type: Value.Type, _ bytes: [UInt8]
    ) -> WireError.Condition? {
        do throws(WireError) {
            _ = try Value(wireBytes: bytes)
            return nil
        } catch {
            return error.condition
        }
    }

    private func skipRefusal(_ bytes: [UInt8]) -> WireError.Condition? {
        do throws(WireError) {
            var cursor = WireCursor()
            try cursor.skip(in: bytes.span)
            return nil
        } catch {
            return error.condition
        }
    }

    // [WIRE-3-4]
    @Test("W10: integers beyond the type are refused with its bounds, bignums with their tag")
    func integers() throws {
        #expect(
            refusal(Int64.self, [UInt8](hex: "1b8000000000000000"))
                == .outOfRange(expected: "an integer from \(Int64.min) to \(Int64.max)"))
        #expect(
            refusal(UInt64.self, [0x20])
                == .outOfRange(expected: "an integer from 0 to \(UInt64.max)"))
        #expect(
            refusal(WireValue.self, [UInt8](hex: "c249010000000000000000")) == .unsupportedTag(2))
        #expect(refusal(Int.self, [UInt8](hex: "c349010000000000000000")) == .unsupportedTag(3))
    }

    @Test("W10: overlong heads and unsorted keys are decoded, and encoded in the one form")
    func foreignForms() throws {
        #expect(try Int(wireBytes: [UInt8](hex: "1b0000000000000005")) == 5)
        let unsorted = [UInt8](hex: "a262626203616102")
        let value = try WireValue(wireBytes: unsorted)
        #expect(value == ["a": 2, "bb": 3])
        #expect(value.wireBytes().hex == "a261610262626203")
        #expect(try [String: Int](wireBytes: unsorted) == ["a": 2, "bb": 3])
    }

    @Test(
        "W11: nesting of 65, 10,000 and 1,000,000 levels is refused, of 64 accepted",
        arguments: [
            [UInt8]([0x81]), [0x9f], [0xa1, 0x60], [0xbf, 0x60], [0xc0], [0x81, 0xc0],
        ])
    func depth(level: [UInt8]) throws {
        func nested(_ levels: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            for _ in 0..<levels { bytes += level }
            bytes.append(0x00)
            // An indefinite length needs one break per level.
            if level[0] & 0x1f == 0x1f { bytes += [UInt8](repeating: 0xff, count: levels) }
            return bytes
        }
        let levelsMax = WireLimits.depthMax
        // A tag counts as a level like an array, in any order.
        let allowed = level == [0x81, 0xc0] ? levelsMax / 2 : levelsMax
        #expect(refusal(WireValue.self, nested(allowed)) == nil)
        #expect(skipRefusal(nested(allowed)) == nil)
        for levels in [allowed + 1, 10_000, 1_000_000] {
            #expect(refusal(WireValue.self, nested(levels)) == .tooDeep)
            #expect(skipRefusal(nested(levels)) == .tooDeep)
        }
    }

    @Test("W11: the depth counts from the outermost value, also in skipped values")
    func depthOfStrangers() throws {
        var cursor = WireCursor()
        let bytes = [UInt8](repeating: 0x81, count: WireLimits.depthMax) + [0x00]
        var outer = try cursor.openArray(in: bytes.span)
        let hasElement = try cursor.nextElement(in: bytes.span, &outer)
        #expect(hasElement)
        try cursor.skip(in: bytes.span)
        #expect(cursor.offset == bytes.count)
        let deeper = [0x81] + bytes
        cursor = WireCursor()
        outer = try cursor.openArray(in: deeper.span)
        #expect(throws: WireError(.tooDeep, at: WireLimits.depthMax)) {
            try cursor.skip(in: deeper.span)
        }
    }

    // [WIRE-3-3]
    @Test("W11: tags count together with their arrays, decoded or skipped")
    func depthOfTags() throws {
        func isRefused(_ tags: Int, _ read: (Span<UInt8>, inout WireCursor) throws -> Void) -> Bool
        {
            let bytes =
                [UInt8](repeating: 0x81, count: 40 - tags)
                + [UInt8](repeating: 0xc1, count: tags) + [0x80]
            var cursor = WireCursor(action: 0)
            do {
                try read(bytes.span, &cursor)
                return false
            } catch let error as WireError {
                return error.condition == .tooDeep
            } catch {
                return false
            }
        }
        for tags in [1, 20, 38] {
            #expect(isRefused(tags) { try $1.skip(in: $0) })
            #expect(isRefused(tags) { _ = try WireValue.decode($0, &$1) })
        }
        var cursor = WireCursor(action: 0)
        // Levels are released after their container has ended.
        var flat: [UInt8] = [0x98, 200]
        for _ in 0..<200 { flat += [0xc1, 0x80] }
        try cursor.skip(in: flat.span)
        #expect(cursor.offset == flat.count && cursor.depthLeft == 40)
        cursor = WireCursor(action: 0)
        #expect(try [[Int]].decode(flat.span, &cursor).count == 200)
        #expect(cursor.depthLeft == 40)
    }

    // [WIRE-3-8]
    @Test(
        "W18: a skipped value has the same bounds as a decoded one",
        arguments: [
            "a10102", "a2616101616102", "bf616101616200616102ff", "a27f6161ff01616102", "a161ff00",
            "f0", "81f8ff", "c24101", "81a2616200616200",
        ])
    func skippedBounds(hex: String) throws {
        let value = [UInt8](hex: hex)
        let found = skipRefusal(value)
        #expect(found != nil)
        #expect(found == refusal(WireValue.self, value))
        // An unknown field with that value.
        let record = [0xa1, 0x61, 0x7a] + value
        #expect(throws: WireError.self) { try DispatchOptions(wireBytes: record) }
    }

    // [WIRE-3-8]
    @Test("W14, W18: the name of an unknown field must be valid text too")
    func strangersName() {
        #expect(refusal(DispatchOptions.self, [UInt8](hex: "a161ff00")) == .invalidText)
    }

    @Test("W12: a count of 2^40 in 20 bytes is refused from its head")
    func hugeCounts() {
        let tail = [UInt8](hex: "0000010000000000") + [UInt8](repeating: 0x60, count: 11)
        let array = [0x9b] + tail
        let map = [0xbb] + tail
        #expect(array.count == 20)
        for refused in [
            refusal(WireValue.self, array), refusal([Int].self, array),
            refusal([UInt8].self, array),
            refusal(Set<String>.self, array), refusal(Duration.self, array), skipRefusal(array),
            refusal(WireValue.self, map), refusal([String: Int].self, map),
            refusal(WireMap.self, map), skipRefusal(map),
        ] {
            #expect(refused == .countExceedsBytes(1 << 40))
        }
        for major: UInt8 in [0x5b, 0x7b] {
            #expect(refusal(WireValue.self, [major] + tail) == .truncated)
            #expect(skipRefusal([major] + tail) == .truncated)
        }
        #expect(
            refusal(WireValue.self, [UInt8](hex: "9bffffffffffffffff")) == .countExceedsBytes(.max))
        #expect(skipRefusal([UInt8](hex: "bbffffffffffffffff")) == .countExceedsBytes(.max))
    }

    // [WIRE-3-4]
    @Test("W13: tags are skipped before every kind of value, including shared references")
    func tags() throws {
        #expect(try Int(wireBytes: [UInt8](hex: "d81c05")) == 5)
        #expect(try String(wireBytes: [UInt8](hex: "d9d9f76161")) == "a")
        #expect(try [Int](wireBytes: [UInt8](hex: "c081c105")) == [5])
        #expect(try Bool(wireBytes: [UInt8](hex: "c0c1f5")) == true)
        #expect(try Int?(wireBytes: [UInt8](hex: "c1f6")) == nil)
        #expect(try [String: Int](wireBytes: [UInt8](hex: "c0a1c06161c001")) == ["a": 1])
        // A shared reference (tag 29) is never resolved: its number remains.
        #expect(try WireValue(wireBytes: [UInt8](hex: "82d81c80d81d00")) == [[], 0])
    }

    // [WIRE-3-5]
    @Test(
        "W14: invalid UTF-8 is refused as text, and accepted as bytes",
        arguments: [
            "ff", "c080", "e08080", "eda080", "edb080", "f4908080", "c3", "80", "f8888080",
        ])
    func invalidText(hex: String) throws {
        let body = [UInt8](hex: hex)
        let text = [0x60 | UInt8(body.count)] + body
        #expect(refusal(String.self, text) == .invalidText)
        #expect(refusal(WireKey.self, text) == .invalidText)
        #expect(refusal(WireValue.self, text) == .invalidText)
        #expect(refusal(WireValue.self, [0xa1] + text + [0x00]) == .invalidText)
        #expect(skipRefusal(text) == .invalidText)
        #expect(refusal(String.self, [0x7f] + text + [0xff]) == .invalidText)
        #expect(try [UInt8](wireBytes: [0x40 | UInt8(body.count)] + body) == body)
    }

    @Test("W14: each chunk of text is valid UTF-8 by itself; a NUL is ordinary text")
    func chunks() throws {
        #expect(refusal(String.self, [UInt8](hex: "7f61c361a9ff")) == .invalidText)
        #expect(skipRefusal([UInt8](hex: "7f61c361a9ff")) == .invalidText)
        #expect(try String(wireBytes: [0x61, 0x00]) == "\0")
    }

    // [WIRE-3-5]
    @Test("W15: the two Unicode forms of a key stay distinct, or are refused where they cannot")
    func unicodeKeys() throws {
        let composed = WireKey("\u{e9}")
        let decomposed = WireKey("e\u{301}")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        let bytes = [UInt8](hex: "a262c3a9016365cc8102")
        #expect(try [WireKey: Int](wireBytes: bytes) == [composed: 1, decomposed: 2])
        #expect(try [WireKey: Int](wireBytes: bytes).wireBytes() == bytes)
        let value = try WireValue(wireBytes: bytes)
        #expect(value.wireBytes() == bytes)
        #expect(value[composed] == 1)
        #expect(value[decomposed] == 2)
        #expect(WireValue.text(composed.text) != WireValue.text(decomposed.text))
        #expect(refusal([String: Int].self, bytes) == .mergedKeys("e\u{301}"))
        #expect(
            refusal(Set<String>.self, [0x82] + bytes[1...3] + bytes[5...8])
                == .mergedKeys("e\u{301}"))
        #expect(try String(wireBytes: Array(bytes[5...8])).utf8.elementsEqual([0x65, 0xcc, 0x81]))
    }

    @Test("W15: a path's component matches a key of a String dictionary only by its bytes")
    func unicodePaths() {
        var writer = WireWriter()
        let state = ["\u{e9}": 1]
        #expect(state.encode(at: [WireKey("e\u{301}")], into: &writer) == .absent)
        #expect(state.encode(at: [WireKey("\u{e9}")], into: &writer) == .found)
        #expect(writer.bytes == [0x01])
    }

    // [WIRE-3-6]
    @Test("W16: floats keep every bit, and equality is by bit pattern")
    func floats() throws {
        let patterns: [UInt64] = [
            0, 1 << 63, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0x7ff8_0000_0000_0000,
            0xfff8_0000_0000_0000, 0x7ff0_0000_0000_0001, 0x7ff8_0000_dead_beef, 1,
            0x3ff0_0000_0000_0001, 0x7fef_ffff_ffff_ffff,
        ]
        for pattern in patterns {
            let number = Double(bitPattern: pattern)
            #expect(try Double(wireBytes: number.wireBytes()).bitPattern == pattern)
            let value = WireValue.float(number)
            #expect(try WireValue(wireBytes: value.wireBytes()) == value)
            #expect(value == value)
            #expect(try WireValue(json: value.json()) == value)
        }
        for pattern: UInt32 in [0, 1 << 31, 0x7fc0_0000, 0x7f80_0001, 0xffc0_0000, 0x7fc0_beef, 1] {
            let number = Float(bitPattern: pattern)
            #expect(try Float(wireBytes: number.wireBytes()).bitPattern == pattern)
        }
        #expect(WireValue.float(0.0) != WireValue.float(-0.0))
        #expect(WireValue.float(1.0) != WireValue.integer(1))
    }

    @Test("W16: halves, and singles and doubles around their limits, decode exactly")
    func widths() throws {
        for bits in UInt16.min...UInt16.max {
            let bytes = [0xf9, UInt8(bits >> 8), UInt8(bits & 0xff)]
            let number = try Float(wireBytes: bytes)
            if number.isNaN { continue }
            #expect(number.wireBytes() == bytes)
            #expect(Double(number).wireBytes() == bytes)
        }
        #expect(try Float(wireBytes: Double(0.1).wireBytes()) == Float(0.1))
        #expect(try Float(wireBytes: [0x05]) == 5)
        #expect(refusal(Float.self, Double(1e39).wireBytes()) != nil)
        #expect(try Double(wireBytes: [UInt8](hex: "3b001fffffffffffff")) == -0x1p53)
        #expect(refusal(Double.self, [UInt8](hex: "3b0020000000000000")) != nil)
        #expect(try Double(wireBytes: [UInt8](hex: "3bffffffffffffffff")) == -0x1p64)
        #expect(refusal(Double.self, [UInt8](hex: "1b0020000000000001")) != nil)
    }

    @Test("W16: a set with NaN is refused")
    func nanSets() {
        #expect(refusal(Set<Double>.self, [UInt8](hex: "81f97e00")) != nil)
        #expect(refusal(Set<Double>.self, [UInt8](hex: "81f93c00")) == nil)
    }

    // [WIRE-3-5]
    @Test("W17: a duplicate key is refused at its second occurrence")
    func duplicates() {
        let bytes = [UInt8](hex: "a3616101616202616103")
        for error in [
            #expect(throws: WireError.self) { try WireValue(wireBytes: bytes) },
            #expect(throws: WireError.self) { try [String: Int](wireBytes: bytes) },
            #expect(throws: WireError.self) { try [WireKey: Int](wireBytes: bytes) },
        ] {
            #expect(error == WireError(.duplicateKey("a"), at: 7))
        }
        #expect(refusal(Set<Int>.self, [0x82, 0x01, 0x01]) == .duplicateKey("1"))
        #expect(refusal([Int: Int].self, [UInt8](hex: "a262303101613102")) != nil)
    }

    // [WIRE-3-9]
    @Test("W18: a duplicate unknown name is refused, and so are more than 256")
    func strangers() throws {
        func read(_ bytes: [UInt8]) throws(WireError) -> Int {
            var cursor = WireCursor()
            var map = try cursor.openMap(in: bytes.span)
            var count = 0
            while let name = try cursor.nextName(in: bytes.span, &map) {
                try cursor.skipStranger(name, in: bytes.span, &map)
                count += 1
            }
            return count
        }
        #expect(try read([UInt8](hex: "a26161016162820203")) == 2)
        #expect(throws: WireError(.duplicateKey("a"), at: 8)) {
            try read([UInt8](hex: "a3616101616202616103"))
        }
        for (count, isRead) in [(256, true), (257, false)] {
            let map = Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", 0) })
            #expect((try? read(map.wireBytes())) == (isRead ? count : nil))
        }
    }

    // [WIRE-3-7]
    @Test("W19: bytes after the value are an error with their number")
    func trailing() {
        #expect(throws: WireError(.trailingBytes(2), at: 1)) {
            try Int(wireBytes: [0x05, 0x00, 0x00])
        }
        #expect(refusal(WireValue.self, []) == .truncated)
    }
}
