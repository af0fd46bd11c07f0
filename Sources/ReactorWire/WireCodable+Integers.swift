// An integer of any width is a CBOR integer in its shortest form. A decoded integer must fit the
// type: 300 is refused for a UInt8, -1 for a UInt.

extension FixedWidthInteger where Self: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) {
        if Self.isSigned {
            writer.integer(Int64(truncatingIfNeeded: self))
        } else {
            writer.unsigned(UInt64(truncatingIfNeeded: self))
        }
    }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Self {
        let start = cursor.offset
        // Small numbers are the common case: 0 to 23 are one byte, and fit every width.
        if start >= 0, start < bytes.count, bytes[start] < 24 {
            cursor.offset = start &+ 1
            return Self(truncatingIfNeeded: bytes[start])
        }
        let (isNegative, magnitude) = try cursor.integer(in: bytes)
        if !isNegative {
            if let value = Self(exactly: magnitude) { return value }
        } else if Self.isSigned, magnitude <= UInt64(Int64.max),
            let value = Self(exactly: -1 - Int64(magnitude))
        {
            return value
        }
        throw wireRangeError(at: start)
    }

    @usableFromInline
    static func wireRangeError(at start: Int) -> WireError {
        WireError(.outOfRange(expected: "an integer from \(Self.min) to \(Self.max)"), at: start)
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

/// An array of `UInt8` is a byte string. Decoding also accepts an array of small integers, the form
/// that languages without a type for bytes send.
extension UInt8: WireCodable {
    public static func encodeArray(_ array: [UInt8], into writer: inout WireWriter) {
        writer.byteString(array.span)
    }

    public static func decodeArray(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> [UInt8] {
        guard try cursor.peek(in: bytes).major == 4 else {
            return try cursor.byteString(in: bytes)
        }
        var array: [UInt8] = []
        var items = try cursor.openArray(in: bytes)
        while try cursor.nextElement(in: bytes, &items) {
            do throws(WireError) {
                array.append(try decode(bytes, &cursor))
            } catch {
                throw error.inside(String(array.count))
            }
        }
        return array
    }

    public static var wireArraySchema: WireSchema { .bytes }
}
