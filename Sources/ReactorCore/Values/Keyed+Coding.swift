public import HashTreeCollections
public import ReactorWire

extension Keyed: WireCodable where Value: WireCodable {
    /// *Cost*: sorts the keys.
    @inlinable
    public func encode(into writer: inout WireWriter) {
        var order: [(key: WireKey, value: Value)] = []
        order.reserveCapacity(count)
        for (key, value) in entries { order.append((WireKey(key.wireKeyText), value)) }
        order.sort { $0.key < $1.key }
        writer.map(count: order.count)
        for (key, value) in order {
            writer.text(key.text)
            value.encode(into: &writer)
        }
    }

    /// *Throws*: refuses a key that occurs twice, and two keys with different bytes that the key's
    /// type treats as equal, since one of the values would be lost.
    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Keyed {
        var keyed = Keyed()
        var pairs = try cursor.openMap(in: bytes)
        while try cursor.nextElement(in: bytes, &pairs) {
            let start = cursor.offset
            let text = try cursor.text(in: bytes)
            guard let key = Key(wireKeyText: text) else {
                throw WireError(
                    .mismatch(expected: Key.wireKeyKind, got: "the key \(text)"), at: start)
            }
            let value: Value
            do throws(WireError) {
                value = try Value.decode(bytes, &cursor)
            } catch {
                throw error.inside(text)
            }
            // The existing key stays in the collection; the error compares its text.
            if keyed.entries.updateValue(value, forKey: key) != nil {
                throw WireError(
                    keyed.hasText(of: key) ? .duplicateKey(text) : .mergedKeys(text), at: start)
            }
        }
        return keyed
    }

    /// A path component is a key; only the value under it is encoded.
    @inlinable
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        guard let component = path.first else {
            encode(into: &writer)
            return .found
        }
        guard let key = Key(wireKeyText: component.text) else { return .impossible }
        guard let value = entries[key], Key.equalsByText || hasText(of: key) else {
            return .absent
        }
        return value.encode(at: path.dropFirst(), into: &writer)
    }

    public static var wireSchema: WireSchema { .map(Value.wireSchema) }
}
