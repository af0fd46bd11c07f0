import ReactorWire

/// Random values, and random well-formed encodings of them.
struct RandomValue {
    var seed: Seed

    init(_ start: UInt64) { seed = Seed(start) }

    /// A value with at most `depth` levels.
    mutating func value(depth: Int) -> WireValue {
        switch seed.below(depth > 0 ? 10 : 7) {
        case 0: .null
        case 1: .bool(seed.oneIn(2))
        case 2, 3: .integer(integer())
        case 4: .float(float())
        case 5: .bytes((0..<seed.below(30)).map { _ in UInt8(truncatingIfNeeded: seed.next()) })
        case 6: .text(text())
        case 7, 8: .array((0..<seed.below(5)).map { _ in value(depth: depth - 1) })
        default: .map(map(depth: depth - 1))
        }
    }

    mutating func integer() -> WireInteger {
        // Any number of bits, since mistakes occur at the edges between the encodings.
        let bits = seed.next() >> UInt64(seed.below(64))
        return WireInteger(isNegative: seed.oneIn(2), magnitude: seed.oneIn(8) ? .max : bits)
    }

    mutating func float() -> Double {
        switch seed.below(6) {
        case 0: Double(bitPattern: seed.next())
        case 1: Double(Int64(truncatingIfNeeded: seed.next()) >> Int64(seed.below(64)))
        case 2: Double(Float(bitPattern: UInt32(truncatingIfNeeded: seed.next())))
        case 3: [0.0, -0.0, .infinity, -.infinity, .nan, 0x1p-24, 65504, 0.1][seed.below(8)]
        case 4:
            Double(bitPattern: 0x7ff0_0000_0000_0000 | seed.next() >> UInt64(12 + seed.below(52)))
        default: Double(seed.below(2000)) / 8
        }
    }

    mutating func text() -> String {
        let pieces = [
            "a", "Z", "9", "\u{e9}", "e\u{301}", "水", "𐅑", "\"", "\\", "/", "\n", "\0", "\u{7f}",
            "\u{9b}", "\u{202e}", "\u{feff}", "\u{ffff}", "👩‍👩‍👧", " ", "$bytes", "\u{1b}[31m",
        ]
        return (0..<seed.below(6)).map { _ in pieces[seed.below(pieces.count)] }.joined()
    }

    mutating func map(depth: Int) -> WireMap {
        var map = WireMap()
        if seed.oneIn(3) {
            map[["$bytes", "$float", "$map"][seed.below(3)]] = value(depth: depth)
            if seed.oneIn(2) { return map }
        }
        for _ in 0..<seed.below(5) { map[WireKey(text())] = value(depth: depth) }
        return map
    }
}

// MARK: - Encodings
extension RandomValue {
    /// Bytes that decode to `value`, in forms that only other encoders use: longer heads,
    /// indefinite lengths, wider floats, tags, keys in any order.
    mutating func bytes(of value: WireValue) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    private mutating func append(_ value: WireValue, to bytes: inout [UInt8]) {
        if seed.oneIn(8) { head(6, UInt64([0, 1, 4, 24, 55799, 1 << 40][seed.below(6)]), &bytes) }
        switch value {
        case .null: bytes.append(seed.oneIn(3) ? 0xf7 : 0xf6)
        case .bool(let value): bytes.append(value ? 0xf5 : 0xf4)
        case .integer(let value): head(value.isNegative ? 1 : 0, value.magnitude, &bytes)
        case .float(let value):
            if seed.oneIn(2) {
                bytes.append(0xfb)
                bytes.append(contentsOf: bigEndian(value.bitPattern, byteCount: 8))
            } else {
                bytes.append(contentsOf: WireValue.float(value).wireBytes())
            }
        case .bytes(let value): string(2, [value], &bytes)
        case .text(let value):
            string(3, value.unicodeScalars.map { Array(String($0).utf8) }, &bytes)
        case .array(let elements):
            container(4, elements.count, &bytes) { random, bytes in
                for element in elements { random.append(element, to: &bytes) }
            }
        case .map(let map):
            container(5, map.count, &bytes) { random, bytes in
                for pair in map.shuffled(using: &random.seed) {
                    random.append(.text(pair.key.text), to: &bytes)
                    random.append(pair.value, to: &bytes)
                }
            }
        }
    }

    private mutating func container(
        _ major: UInt8, _ count: Int, _ bytes: inout [UInt8],
        _ body: (inout RandomValue, inout [UInt8]) -> Void
    ) {
        let isIndefinite = seed.oneIn(3)
        if isIndefinite {
            bytes.append(major << 5 | 31)
        } else {
            head(major, UInt64(count), &bytes)
        }
        body(&self, &bytes)
        if isIndefinite { bytes.append(0xff) }
    }

    /// A string whose chunks end only between `pieces`.
    private mutating func string(_ major: UInt8, _ pieces: [[UInt8]], _ bytes: inout [UInt8]) {
        guard seed.oneIn(3) else {
            let whole = Array(pieces.joined())
            head(major, UInt64(whole.count), &bytes)
            bytes.append(contentsOf: whole)
            return
        }
        bytes.append(major << 5 | 31)
        for piece in pieces {
            head(major, UInt64(piece.count), &bytes)
            bytes.append(contentsOf: piece)
        }
        bytes.append(0xff)
    }

    /// A head in one of the forms that can hold `argument`.
    private mutating func head(_ major: UInt8, _ argument: UInt64, _ bytes: inout [UInt8]) {
        let widths: [(info: UInt8, byteCount: Int, max: UInt64)] = [
            (24, 1, 0xff), (25, 2, 0xffff), (26, 4, 0xffff_ffff), (27, 8, .max),
        ]
        if argument < 24, !seed.oneIn(4) { return bytes.append(major << 5 | UInt8(argument)) }
        let fitting = widths.filter { argument <= $0.max }
        let width = fitting[seed.oneIn(4) ? seed.below(fitting.count) : 0]
        bytes.append(major << 5 | width.info)
        bytes.append(contentsOf: bigEndian(argument, byteCount: width.byteCount))
    }

    private func bigEndian(_ value: UInt64, byteCount: Int) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
}
