/// A type with a raw value is encoded as that value. Declare the conformance, without a body:
///
///     enum Mood: String, WireCodable { case calm, busy }
extension RawRepresentable where Self: WireCodable, RawValue: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) { rawValue.encode(into: &writer) }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Self {
        let start = cursor.offset
        let rawValue = try RawValue.decode(bytes, &cursor)
        guard let value = Self(rawValue: rawValue) else {
            throw unknownRawValueError(rawValue, at: start)
        }
        return value
    }

    @usableFromInline
    static func unknownRawValueError(_ rawValue: RawValue, at start: Int) -> WireError {
        guard let type = Self.self as? any CaseIterable.Type else {
            return WireError(.refused("\("\(rawValue)".quoted()) is no \(Self.self)"), at: start)
        }
        return WireError(.unknownCase("\(rawValue)", known: rawValues(of: type)), at: start)
    }

    private static func rawValues<Cases: CaseIterable>(of type: Cases.Type) -> [String] {
        Cases.allCases.prefix(32).compactMap { ($0 as? Self).map { "\($0.rawValue)" } }
    }

    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        rawValue.encode(at: path, into: &writer)
    }

    public static var wireSchema: WireSchema { RawValue.wireSchema }
}
