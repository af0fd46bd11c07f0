// placeholder until the rest of the standard library's types: integers first
extension FixedWidthInteger where Self: WireCodable {
    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Self {
        let start = cursor.offset
        let (isNegative, magnitude) = try cursor.integer(in: bytes)
        if !isNegative {
            if let value = Self(exactly: magnitude) { return value }
        } else if Self.isSigned, magnitude <= UInt64(Int64.max),
            let value = Self(exactly: -1 - Int64(magnitude))
        {
            return value
        }
        throw WireError(.outOfRange(expected: "an integer from \(Self.min) to \(Self.max)"), at: start)
    }

    @inlinable
    public func encode(into writer: inout WireWriter) {
        if Self.isSigned {
            writer.integer(Int64(truncatingIfNeeded: self))
        } else {
            writer.unsigned(UInt64(truncatingIfNeeded: self))
        }
    }

    public static var wireSchema: WireSchema {
        .integer(min: Int64(truncatingIfNeeded: Self.min), max: UInt64(Self.max))
    }
}

extension Int: WireCodable {}
extension Int64: WireCodable {}
extension Int32: WireCodable {}
extension Int16: WireCodable {}
extension Int8: WireCodable {}
extension UInt: WireCodable {}
extension UInt64: WireCodable {}
extension UInt32: WireCodable {}
extension UInt16: WireCodable {}
