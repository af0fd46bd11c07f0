/// Any CBOR value whose map keys are text.
///
/// *Throws*: refuses well-formed items that a ``WireValue`` cannot represent: keys other than text,
/// simple values other than the bools, null and undefined (which becomes null), and bignums. It
/// skips other tags and reads the tagged value.
extension WireValue: WireCodable {
    public func encode(into writer: inout WireWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .integer(let value): writer.head(major: value.isNegative ? 1 : 0, value.magnitude)
        case .float(let value): writer.double(value)
        case .bytes(let value): writer.byteString(value.span)
        case .text(let value): writer.text(value)
        case .array(let elements):
            writer.array(count: elements.count)
            for element in elements { element.encode(into: &writer) }
        case .map(let map): map.encode(into: &writer)
        }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireValue {
        let start = cursor.offset
        let head = try cursor.head(in: bytes)
        switch head.major {
        case 0, 1:
            return .integer(WireInteger(isNegative: head.major == 1, magnitude: head.argument))
        case 2: return .bytes(try cursor.byteString(head, at: start, in: bytes))
        case 3: return .text(try cursor.text(head, at: start, in: bytes))
        case 4: return .array(try elements(head, at: start, bytes, &cursor))
        case 5: return .map(try WireMap.pairs(head, at: start, bytes, &cursor))
        default: return try simple(head, at: start, cursor)
        }
    }

    private static func simple(
        _ head: WireHead, at start: Int, _ cursor: WireCursor
    ) throws(WireError) -> WireValue {
        switch head.info {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22, 23: return .null
        case 25, 26, 27: return .float(try cursor.double(head, at: start))
        case 31: throw WireError(.malformed(initialByte: 0xff), at: start)
        default: throw cursor.mismatch("a value", head, at: start)
        }
    }

    // The recursion ends at the cursor's depth limit, a small part of any stack.
    private static func elements(
        _ head: WireHead, at start: Int, _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> [WireValue] {
        var elements: [WireValue] = []
        var items = try cursor.enter(head, bytesPerElementMin: 1, at: start, in: bytes)
        while try cursor.nextElement(in: bytes, &items) {
            do throws(WireError) {
                elements.append(try decode(bytes, &cursor))
            } catch {
                throw error.inside(String(elements.count))
            }
        }
        return elements
    }

    /// A component that is no index or key, or that is below a scalar, is absent: a value of any
    /// shape may gain such a part later.
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        guard let component = path.first else {
            encode(into: &writer)
            return .found
        }
        switch self {
        case .array(let elements):
            guard let index = component.arrayIndex, index < elements.count else { return .absent }
            return elements[index].encode(at: path.dropFirst(), into: &writer)
        case .map(let map):
            guard let value = map[component] else { return .absent }
            return value.encode(at: path.dropFirst(), into: &writer)
        default: return .absent
        }
    }

    public static var wireSchema: WireSchema { .any }
}

extension WireMap: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: count)
        for pair in self {
            writer.text(pair.key.text)
            pair.value.encode(into: &writer)
        }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireMap {
        let start = cursor.offset
        let head = try cursor.head(in: bytes)
        guard head.major == 5 else { throw cursor.mismatch("a map", head, at: start) }
        return try pairs(head, at: start, bytes, &cursor)
    }

    /// Reads the pairs of the map whose `head` was at `start`.
    static func pairs(
        _ head: WireHead, at start: Int, _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireMap {
        var pairs: [Pair] = []
        var items = try cursor.enter(head, bytesPerElementMin: 2, at: start, in: bytes)
        while try cursor.nextElement(in: bytes, &items) {
            let key = try WireKey.decode(bytes, &cursor)
            do throws(WireError) {
                pairs.append(Pair(key: key, value: try WireValue.decode(bytes, &cursor)))
            } catch {
                throw error.inside(key.text)
            }
        }
        do throws(DuplicateKey) {
            return try WireMap(pairs)
        } catch {
            throw WireError(
                .duplicateKey(error.key.text), at: second(error.key, mapAt: start, bytes, cursor))
        }
    }

    /// Offset of the second occurrence of `key` in the well-formed map at `start`.
    private static func second(
        _ key: WireKey, mapAt start: Int, _ bytes: Span<UInt8>, _ cursor: WireCursor
    ) -> Int {
        // Only an error needs the offset, so pairs do not store it: read the map again.
        var again = cursor
        again.offset = start
        var isSecond = false
        do throws(WireError) {
            var items = try again.openMap(in: bytes)
            while try again.nextElement(in: bytes, &items) {
                let place = again.offset
                if try WireKey.decode(bytes, &again) == key {
                    if isSecond { return place }
                    isSecond = true
                }
                try again.skip(in: bytes)
            }
        } catch {
            return start
        }
        return start
    }

    /// A component is a key; a missing key is absent.
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        WireValue.map(self).encode(at: path, into: &writer)
    }

    public static var wireSchema: WireSchema { .map(.any) }
}

extension WireValue {
    /// Applies a patch of a ``PatchWriter``. Returns whether the value changed.
    ///
    /// *Throws*: if the bytes are no patch, or the value has no map at a path; the value may then
    /// have changed in part. *Cost*: O(changes), plus some hundred pairs of each map on a path if
    /// the value is shared.
    package mutating func apply(patch bytes: Span<UInt8>) throws(WireError) -> Bool {
        var cursor = WireCursor()
        var isDifferent = false
        while cursor.offset < bytes.count {
            let start = cursor.offset
            let (path, value) = try Self.change(bytes, &cursor)
            guard let isNews = set(value, at: path[...]) else {
                let text = SlicePath(path).description
                throw WireError(.mismatch(expected: "a map at \(text)", got: "none"), at: start)
            }
            isDifferent = isDifferent || isNews
        }
        return isDifferent
    }

    /// Reads the next change of a patch: the new value at a path of at least one key, or `nil` for
    /// its removal.
    package static func change(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> (path: [WireKey], value: WireValue?) {
        let start = cursor.offset
        var parts = try cursor.openArray(in: bytes)
        guard try cursor.nextElement(in: bytes, &parts) else {
            throw WireError(.mismatch(expected: "a path", got: "nothing"), at: start)
        }
        let path = try [WireKey].decode(bytes, &cursor)
        guard try cursor.nextElement(in: bytes, &parts) else { return (path, nil) }
        let value = try WireValue.decode(bytes, &cursor)
        guard try !cursor.nextElement(in: bytes, &parts) else {
            throw WireError(.mismatch(expected: "a path and a value", got: "more"), at: start)
        }
        return (path, value)
    }

    /// Sets or removes the value at `path`. Returns whether it changed, or `nil` if the value has
    /// no map at the path.
    ///
    /// If the last component is an index of an array, inserts the value before that element, or
    /// removes the element.
    package mutating func set(_ value: WireValue?, at path: ArraySlice<WireKey>) -> Bool? {
        guard let key = path.first else { return nil }
        let rest = path.dropFirst()
        if rest.isEmpty, case .array(var elements) = self {
            self = .null
            defer { self = .array(elements) }
            return elements.step(key, inserting: value) ? true : nil
        }
        guard case .map(var map) = self else { return nil }
        // A second reference to the map would make the change copy it.
        self = .null
        defer { self = .map(map) }
        guard rest.isEmpty else {
            return map.change(key) { inner in inner.set(value, at: rest) } ?? nil
        }
        guard map[key] != value else { return false }
        map[key] = value
        return true
    }
}

extension Array {
    /// Inserts an element before the index that `key` spells, or removes the element there. Returns
    /// false if there is no such index.
    package mutating func step(_ key: WireKey, inserting element: Element?) -> Bool {
        guard let index = key.arrayIndex else { return false }
        if let element {
            guard index <= count else { return false }
            insert(element, at: index)
        } else {
            guard index < count else { return false }
            remove(at: index)
        }
        return true
    }
}

/// Writes the changes of a value, for a receiver that has the value before them.
///
/// *Shape*: changes, one after another, applied in order. A change is an array of a path (at least
/// one key, from the value's outermost map inwards) and the new value at the path; without a value,
/// it removes the key.
///
///     [["entries", "theme"], "dark"] [["entries", "font"]]
///
/// If the last key is an index of an array, a change inserts its value before that element, or
/// removes the element.
package struct PatchWriter: ~Copyable {
    private var changes = WireWriter()

    /// An empty patch.
    package init() {}

    /// Whether there are no changes.
    package var isEmpty: Bool { changes.count == 0 }

    /// Adds a change at `path`: `encode` appends the new value, or returns that there is none. Adds
    /// nothing if the path is impossible.
    package mutating func append(
        _ path: ArraySlice<WireKey>, _ encode: (inout WireWriter) -> WireReach
    ) {
        let start = changes.count
        changes.array(count: 2)
        append(path)
        let reach = encode(&changes)
        if reach == .found { return }
        changes.truncate(to: start)
        guard reach == .absent else { return }
        changes.array(count: 1)
        append(path)
    }

    private mutating func append(_ path: ArraySlice<WireKey>) {
        changes.array(count: path.count)
        for key in path { changes.text(key.text) }
    }

    /// The patch. *Cost*: copies it.
    package var bytes: [UInt8] { changes.bytes }
}
