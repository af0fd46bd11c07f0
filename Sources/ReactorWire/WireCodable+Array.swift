/// An array is a CBOR array, except of `UInt8`; a path component is a decimal index.
extension Array: WireCodable where Element: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) {
        Element.encodeArray(self, into: &writer)
    }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> [Element] {
        try Element.decodeArray(bytes, &cursor)
    }

    /// An index past the end is absent; a component that is not an index in shortest form is
    /// impossible.
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        guard let component = path.first else {
            encode(into: &writer)
            return .found
        }
        guard let index = component.arrayIndex else { return .impossible }
        guard index < count else { return .absent }
        return self[index].encode(at: path.dropFirst(), into: &writer)
    }

    public static var wireSchema: WireSchema { Element.wireArraySchema }
}

extension WireKey {
    /// The key as an index into an array: decimal digits without a sign or a leading zero.
    ///
    /// An index that `Int` cannot hold is past the end of every array, and becomes `Int.max`.
    var arrayIndex: Int? {
        let digits = text.utf8
        guard let first = digits.first, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            first != 0x30 || digits.count == 1
        else { return nil }
        return Int(text) ?? Int.max
    }
}
