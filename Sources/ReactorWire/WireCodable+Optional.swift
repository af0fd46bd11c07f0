/// `nil` is `null`, and a missing field reads as `nil`.
///
/// Absence has one level on the wire: `.some(nil)` of a doubly optional type, and an optional
/// ``WireValue`` that is ``WireValue/null``, read back as `nil`.
extension Optional: WireCodable where Wrapped: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) {
        switch self {
        case .none: writer.null()
        case .some(let value): value.encode(into: &writer)
        }
    }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Wrapped? {
        if try cursor.takeNull(in: bytes) { return nil }
        return try Wrapped.decode(bytes, &cursor)
    }

    /// Follows the path in the wrapped value; every path below `nil` is absent.
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        switch self {
        case .some(let value): return value.encode(at: path, into: &writer)
        case .none:
            guard path.isEmpty else { return .absent }
            writer.null()
            return .found
        }
    }

    public static var wireSchema: WireSchema { .optional(Wrapped.wireSchema) }

    @inlinable public static var wireAbsentValue: Wrapped?? { .some(.none) }
}
