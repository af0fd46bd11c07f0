extension WireKey: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) { writer.text(text) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireKey {
        WireKey(try cursor.text(in: bytes))
    }

    public static var wireSchema: WireSchema { .text }
}
