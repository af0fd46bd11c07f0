extension WireSchema: WireCodable {
    public func encode(into writer: inout WireWriter) { writer.null() }
    public static func decode(_ bytes: Span<UInt8>, _ cursor: inout WireCursor) throws(WireError) -> WireSchema { .any }
    public static var wireSchema: WireSchema { .any }
    public var fingerprint: UInt64 { 1 }
}
