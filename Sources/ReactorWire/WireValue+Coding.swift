/// Any CBOR value whose map keys are text.
///
/// *Throws*: what is well-formed and has no place in a ``WireValue`` is refused: other keys than
/// text, simple values other than the bools, null and undefined (which becomes null), and bignums.
/// Other tags are skipped: the value below them is what counts.
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

    // because recursion stops where the cursor's depth ends: 64 levels, a small part of any stack
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

    /// What is no index, no key, or below a scalar is absent: a value of any shape may have it
    /// later.
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

    /// Reads the pairs of the map whose `head` stood at `start`.
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

    /// Where `key` stands for the second time in the well-formed map at `start`.
    private static func second(
        _ key: WireKey, mapAt start: Int, _ bytes: Span<UInt8>, _ cursor: WireCursor
    ) -> Int {
        // because only an error needs the place, pairs do not remember it: the map is read again
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

    /// A component is a key; a key that is not there is absent.
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        WireValue.map(self).encode(at: path, into: &writer)
    }

    public static var wireSchema: WireSchema { .map(.any) }
}
