/// A value whose carrier does not know its type: a copy of its CBOR bytes.
///
/// *Shape*: the value itself, not a byte string around it.
public struct WireEmbedded: Equatable, Hashable, Sendable {
    /// One well-formed CBOR item.
    public let bytes: [UInt8]

    /// Embeds `value`.
    public init(_ value: some WireCodable) { bytes = value.wireBytes() }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The same value in the deterministic form, for values of one peer that go to others. Bytes
    /// that are no ``WireValue`` stay unchanged; every decoder refuses them.
    package var normalized: WireEmbedded {
        guard let value = try? WireValue(wireBytes: bytes) else { return self }
        return WireEmbedded(value)
    }

    /// Reads the value as `type`.
    public func decode<Value: WireCodable>(
        as type: Value.Type = Value.self
    ) throws(WireError) -> Value {
        try Value(wireBytes: bytes)
    }
}

extension WireEmbedded: WireCodable {
    public func encode(into writer: inout WireWriter) { writer.raw(bytes) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireEmbedded {
        let start = cursor.offset
        try cursor.skip(in: bytes)
        var copy: [UInt8] = []
        copy.append(contentsOf: bytes, start..<cursor.offset)
        return WireEmbedded(bytes: copy)
    }

    public static var wireSchema: WireSchema { .any }
}
