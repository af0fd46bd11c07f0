import ReactorWire

/// Bytes that compare as the values do that they were made of, one after another.
///
/// *Shape*: a value is a byte for its kind, and bytes of that kind. A missing value sorts before
/// every other, then bools, numbers, texts, and all others by their encodings. Numbers compare by
/// their values, integers and floats together; a NaN is equal to any NaN, and behind all numbers.
/// Texts compare by their bytes of UTF-8.
struct SortKey: Hashable {
    private(set) var bytes: [UInt8] = []

    /// Maximum bytes of a text, or of a value of another kind, that an order compares; children
    /// that differ behind them only are in the order of their keys.
    static let orderedBytesMax = 256

    private enum Kind {
        static let missing: UInt8 = 0
        static let bool: UInt8 = 1
        static let number: UInt8 = 2
        static let text: UInt8 = 3
        static let other: UInt8 = 4
    }

    /// Whether both are values of one kind, so that one of them can be less than the other.
    func isComparable(to other: SortKey) -> Bool {
        bytes.first == other.bytes.first && bytes.first != Kind.missing
    }
}

extension SortKey: Comparable {
    static func < (left: SortKey, right: SortKey) -> Bool {
        let (left, right) = (left.bytes.span, right.bytes.span)
        let count = min(left.count, right.count)
        for index in 0..<count where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }
}

// MARK: - Values
extension SortKey {
    mutating func appendMissing() { bytes.append(Kind.missing) }

    mutating func append(_ value: Bool) { bytes += [Kind.bool, value ? 1 : 0] }

    /// Appends an integer of at most 65 bits.
    mutating func append(_ value: Int128) {
        // The float at or below the integer, and the distance to it.
        var below = Double(value)
        if Int128(below) > value { below = below.nextDown }
        append(number: below, distance: UInt16(value - Int128(below)))
    }

    mutating func append(_ value: Double) { append(number: value, distance: 0) }

    private mutating func append(number: Double, distance: UInt16) {
        bytes.append(Kind.number)
        let pattern = (number == 0 ? 0 : number).bitPattern
        let sign: UInt64 = 1 << 63
        append(bits: number.isNaN ? .max : pattern & sign == 0 ? pattern | sign : ~pattern)
        bytes += [UInt8(distance >> 8), UInt8(distance & 0xff)]
    }

    mutating func append(_ value: Duration) {
        var (seconds, attoseconds) = value.components
        if attoseconds < 0 {
            seconds -= 1
            attoseconds += 1_000_000_000_000_000_000
        }
        bytes.append(Kind.number)
        append(bits: UInt64(bitPattern: seconds) ^ 1 << 63)
        append(bits: UInt64(bitPattern: attoseconds))
    }

    mutating func append(_ value: String, bytesMax: Int = .max) {
        bytes.append(Kind.text)
        append(value.utf8.prefix(bytesMax))
    }

    /// Appends the encoding of another value.
    mutating func append(encoding value: WireValue, bytesMax: Int = .max) {
        bytes.append(Kind.other)
        append(value.wireBytes().prefix(bytesMax))
    }

    /// Appends a value by its own kind.
    mutating func append(_ value: WireValue, bytesMax: Int = .max) {
        switch value {
        case .null: appendMissing()
        case .bool(let value): append(value)
        case .integer(let value): append(value.value)
        case .float(let value): append(value)
        case .text(let value): append(value, bytesMax: bytesMax)
        case .bytes, .array, .map: append(encoding: value, bytesMax: bytesMax)
        }
    }

    private mutating func append(bits: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
    }

    /// Appends bytes with an end that sorts before all further bytes.
    private mutating func append(_ content: some Sequence<UInt8>) {
        for byte in content {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xff) }
        }
        bytes += [0, 1]
    }

    /// Reverses the order of what was appended from `start` on.
    mutating func reverse(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    mutating func append(_ other: SortKey) { bytes += other.bytes }
}
