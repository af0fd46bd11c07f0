/// An integer of CBOR's full range, -2^64 to 2^64 - 1.
public struct WireInteger: Hashable, Sendable {
    /// Whether the number is `-1 - magnitude` instead of `magnitude`.
    @usableFromInline package let isNegative: Bool
    /// The number if it is not negative; else `-1 - number`.
    @usableFromInline package let magnitude: UInt64

    /// Makes `magnitude`, or `-1 - magnitude` if `isNegative`.
    @inlinable
    package init(isNegative: Bool, magnitude: UInt64) {
        self.isNegative = isNegative
        self.magnitude = magnitude
    }

    /// Makes the integer equal to `value`; `nil` beyond the range.
    @inlinable
    public init?(exactly value: some BinaryInteger) {
        if value >= 0 {
            guard let magnitude = UInt64(exactly: value) else { return nil }
            self.init(isNegative: false, magnitude: magnitude)
        } else {
            // `~value` equals `-1 - value`, and does not overflow.
            guard let magnitude = UInt64(exactly: ~value) else { return nil }
            self.init(isNegative: true, magnitude: magnitude)
        }
    }

    /// The number as a 128-bit integer.
    public var value: Int128 {
        isNegative ? -1 - Int128(magnitude) : Int128(magnitude)
    }
}

extension BinaryInteger {
    /// Makes the integer equal to `value`; `nil` if this type cannot hold it.
    public init?(exactly value: WireInteger) { self.init(exactly: value.value) }
}

extension WireInteger: Comparable {
    public static func < (left: WireInteger, right: WireInteger) -> Bool {
        left.value < right.value
    }
}

extension WireInteger: ExpressibleByIntegerLiteral {
    /// *Traps* beyond the range.
    public init(integerLiteral value: Int128) {
        guard let integer = WireInteger(exactly: value) else {
            preconditionFailure("\(value) is beyond the 65 bits of a wire integer")
        }
        self = integer
    }
}

extension WireInteger: CustomStringConvertible {
    public var description: String {
        // 128-bit arithmetic costs ten times as much, and only -2^64 needs it.
        guard isNegative else { return magnitude.description }
        return magnitude == .max ? value.description : "-" + (magnitude + 1).description
    }
}
