/// A dictionary is a map with text keys, in ascending order of the encoded keys.
///
/// *Throws*: refuses a key that occurs twice, and two keys with different bytes that the key's type
/// treats as equal (`String` does for the two forms of "é"), since one of the values would be lost.
/// Use ``WireKey`` as the key where both must exist.
extension Dictionary: WireCodable where Key: WireMapKey, Value: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) {
        writer.map(count: count)
        if count == 1 {
            for (key, value) in self {
                writer.text(key.wireKeyText)
                value.encode(into: &writer)
            }
            return
        }
        var order: [WireKeyOrder<Index>] = []
        order.reserveCapacity(count)
        for index in indices {
            order.append(WireKeyOrder(self[index].key.wireKeyText, index))
        }
        order.sort()
        for entry in order {
            writer.text(entry.text)
            self[entry.index].value.encode(into: &writer)
        }
    }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> [Key: Value] {
        var dictionary: [Key: Value] = [:]
        var pairs = try cursor.openMap(in: bytes)
        while try cursor.nextElement(in: bytes, &pairs) {
            let start = cursor.offset
            let text = try cursor.text(in: bytes)
            guard let key = Key(wireKeyText: text) else {
                throw WireError(
                    .mismatch(expected: Key.wireKeyKind, got: "the key \(text.quoted())"), at: start
                )
            }
            let value: Value
            do throws(WireError) {
                value = try Value.decode(bytes, &cursor)
            } catch {
                throw error.inside(text)
            }
            // The existing key stays in the dictionary; the error compares its bytes.
            if dictionary.updateValue(value, forKey: key) != nil {
                throw dictionary.secondKeyError(key, text, at: start)
            }
        }
        return dictionary
    }

    @usableFromInline
    func secondKeyError(_ key: Key, _ text: String, at start: Int) -> WireError {
        let first = index(forKey: key).map { self[$0].key.wireKeyText } ?? text
        return WireKey(text) == WireKey(first)
            ? WireError(.duplicateKey(text), at: start) : WireError(.mergedKeys(text), at: start)
    }

    /// A component is a key, compared by bytes.
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        guard let component = path.first else {
            encode(into: &writer)
            return .found
        }
        guard let key = Key(wireKeyText: component.text) else { return .impossible }
        guard let index = index(forKey: key), WireKey(self[index].key.wireKeyText) == component
        else { return .absent }
        return self[index].value.encode(at: path.dropFirst(), into: &writer)
    }

    public static var wireSchema: WireSchema { .map(Value.wireSchema) }
}

/// A key and the position of its value, in the order of encoded keys.
@usableFromInline
struct WireKeyOrder<Index>: Comparable where Index: Equatable {
    @usableFromInline let text: String
    @usableFromInline let index: Index
    // Length and first bytes nearly always decide. Comparing these two numbers costs a tenth of
    // comparing the texts.
    @usableFromInline let byteCount: Int
    @usableFromInline let leadingWord: UInt64

    @inlinable
    init(_ text: String, _ index: Index) {
        self.text = text
        self.index = index
        let utf8 = text.utf8
        byteCount = utf8.count
        leadingWord = utf8.span.leadingWord
    }

    @inlinable
    static func < (left: WireKeyOrder, right: WireKeyOrder) -> Bool {
        if left.byteCount != right.byteCount { return left.byteCount < right.byteCount }
        if left.leadingWord != right.leadingWord { return left.leadingWord < right.leadingWord }
        return WireKey(left.text) < WireKey(right.text)
    }

    @inlinable
    static func == (left: WireKeyOrder, right: WireKeyOrder) -> Bool {
        WireKey(left.text) == WireKey(right.text)
    }
}
