// Bool, floating-point numbers, text, and the type without values.

extension Bool: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) { writer.bool(self) }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Bool {
        try cursor.bool(in: bytes)
    }

    public static var wireSchema: WireSchema { .bool }
}

/// Encoded in the shortest of the three widths that keeps the value. Decoding also accepts an
/// integer that a `Double` represents exactly. Zeros keep their sign, NaNs their bits.
extension Double: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) { writer.double(self) }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Double {
        try cursor.double(in: bytes)
    }

    public static var wireSchema: WireSchema { .float }
}

/// Encoded in half or single width, whichever keeps the value. Decoding also accepts a double, as
/// most languages send only doubles, and rounds it to the nearest single; it refuses a number
/// beyond the type's range.
extension Float: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) { writer.float(self) }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Float {
        try cursor.float(in: bytes)
    }

    public static var wireSchema: WireSchema { .float }
}

/// Text keeps its bytes: the composed and the decomposed "é" remain different.
extension String: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) { writer.text(self) }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> String {
        try cursor.text(in: bytes)
    }

    public static var wireSchema: WireSchema { .text }
}

/// No value can be decoded as `Never`: the payload of a case that does not occur.
extension Never: WireCodable {
    public func encode(into writer: inout WireWriter) {}

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Never {
        throw WireError(.refused("no value is possible here"), at: cursor.offset)
    }

    public static var wireSchema: WireSchema {
        .choice(WireSchema.Choice(name: "Never", cases: []))
    }
}
