// Numbers, bools and null.

extension WireCursor {
    /// Reads an integer as sign and magnitude: `value` or `-1 - value`.
    @inlinable
    public mutating func integer(
        in bytes: Span<UInt8>
    ) throws(WireError) -> (isNegative: Bool, magnitude: UInt64) {
        let start = offset
        let head = try head(in: bytes)
        guard head.major <= 1 else { throw mismatch("an integer", head, at: start) }
        return (head.major == 1, head.argument)
    }

    /// Reads an integer from 0 on.
    @inlinable
    public mutating func unsigned(in bytes: Span<UInt8>) throws(WireError) -> UInt64 {
        let start = offset
        let (isNegative, magnitude) = try integer(in: bytes)
        guard !isNegative else {
            throw WireError(.outOfRange(expected: "an integer from 0"), at: start)
        }
        return magnitude
    }

    /// Reads `true` or `false`.
    @inlinable
    public mutating func bool(in bytes: Span<UInt8>) throws(WireError) -> Bool {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 7, head.info == 20 || head.info == 21 else {
            throw mismatch("a bool", head, at: start)
        }
        return head.info == 21
    }

    /// Reads a null (or `undefined`) if one is next, and says whether it did.
    @inlinable
    public mutating func takeNull(in bytes: Span<UInt8>) throws(WireError) -> Bool {
        guard offset >= 0, offset < bytes.count else { throw WireError(.truncated, at: offset) }
        let first = bytes[offset]
        if first &>> 5 == 6 { return try takeTaggedNull(in: bytes) }
        guard first == 0xf6 || first == 0xf7 else { return false }
        offset &+= 1
        return true
    }

    @usableFromInline
    mutating func takeTaggedNull(in bytes: Span<UInt8>) throws(WireError) -> Bool {
        var copy = self
        let head = try copy.head(in: bytes)
        guard head.major == 7, head.info == 22 || head.info == 23 else { return false }
        self = copy
        return true
    }

    /// Reads a number: a float of any width, or an integer that a `Double` holds exactly.
    public mutating func double(in bytes: Span<UInt8>) throws(WireError) -> Double {
        let start = offset
        return try double(try head(in: bytes), at: start)
    }

    /// The number whose `head` stood at `start`.
    func double(_ head: WireHead, at start: Int) throws(WireError) -> Double {
        switch (head.major, head.info) {
        case (7, 25): return Self.widened(HalfFloat.value(UInt16(head.argument)))
        case (7, 26): return Self.widened(Float(bitPattern: UInt32(head.argument)))
        case (7, 27): return Double(bitPattern: head.argument)
        case (0, _):
            if let number = Double(exactly: head.argument) { return number }
            throw WireError(.outOfRange(expected: "a number that a double holds"), at: start)
        case (1, _):
            // because the number is -1 - argument, which overflows for the largest argument
            if head.argument == .max { return -0x1p64 }
            if let number = Double(exactly: head.argument + 1) { return -number }
            throw WireError(.outOfRange(expected: "a number that a double holds"), at: start)
        default: throw mismatch("a number", head, at: start)
        }
    }

    /// Reads a number as ``double(in:)`` does, rounded to the nearest `Float`; a finite number
    /// beyond the type's range is refused.
    public mutating func float(in bytes: Span<UInt8>) throws(WireError) -> Float {
        let start = offset
        let head = try peek(in: bytes)
        if head.major == 7, head.info == 25 || head.info == 26 {
            _ = try self.head(in: bytes)
            return head.info == 25
                ? HalfFloat.value(UInt16(head.argument))
                : Float(bitPattern: UInt32(head.argument))
        }
        let number = try double(in: bytes)
        guard !number.isNaN else { return Self.narrowed(number) }
        let value = Float(number)
        guard value.isFinite || number.isInfinite else {
            throw WireError(.outOfRange(expected: "a number that a float holds"), at: start)
        }
        return value
    }

    /// The NaN `value` as a `Float`: sign and upper payload are kept, and a NaN it stays.
    private static func narrowed(_ value: Double) -> Float {
        let pattern = value.bitPattern
        let sign = UInt32(truncatingIfNeeded: pattern >> 32) & 0x8000_0000
        let payload = UInt32(truncatingIfNeeded: pattern >> 29) & 0x7f_ffff
        return Float(bitPattern: sign | 0x7f80_0000 | (payload == 0 ? 0x40_0000 : payload))
    }

    /// `value` as a `Double`, with the payload of a NaN kept.
    private static func widened(_ value: Float) -> Double {
        guard value.isNaN else { return Double(value) }
        let pattern = value.bitPattern
        let sign = UInt64(pattern & 0x8000_0000) << 32
        return Double(bitPattern: sign | 0x7ff0_0000_0000_0000 | UInt64(pattern & 0x7f_ffff) << 29)
    }
}
