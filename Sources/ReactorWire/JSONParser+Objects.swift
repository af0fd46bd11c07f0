/// The keys with a special meaning as the only key of an object.
enum JSONWrapper {
    static let bytes: WireKey = "$bytes"
    static let float: WireKey = "$float"
    static let map: WireKey = "$map"

    /// Whether a map needs `{"$map":…}` around it, to be read back as a map.
    static func isNeeded(for map: WireMap) -> Bool {
        guard map.count == 1, let key = map.first?.key else { return false }
        return key == bytes || key == float || key == Self.map
    }
}

/// A JSON object before its meaning is known, which depends on the number of its keys.
struct JSONObject {
    /// Offset of its brace.
    var start: Int
    var pairs: [WireMap.Pair] = []
    var keyOffsets: [Int] = []
    /// Height of the highest value, in levels of arrays and maps.
    var height = 0
    /// The object under `$map`, if that is the first key; at most one. It is uninterpreted, since
    /// its meaning depends on whether other keys follow.
    var wrapped: [JSONObject] = []
}

extension JSONParser {
    /// Reads an object, from its brace, inside `depth` brackets.
    mutating func object(depth: Int) throws(JSONError) -> JSONObject {
        guard depth <= Self.bracketDepthMax else { throw error(.tooDeep, at: offset) }
        var object = JSONObject(start: offset)
        offset += 1
        if take(UInt8(ascii: "}")) { return object }
        repeat {
            skipSpace()
            object.keyOffsets.append(offset)
            guard peek == UInt8(ascii: "\"") else { throw unexpected("a key in quotation marks") }
            let key = WireKey(try string())
            guard take(UInt8(ascii: ":")) else { throw unexpected("\":\"") }
            skipSpace()
            var value = WireValue.null
            if key == JSONWrapper.map, object.pairs.isEmpty, peek == UInt8(ascii: "{") {
                object.wrapped = [try self.object(depth: depth + 1)]
            } else {
                let parsed = try self.value(depth: depth + 1)
                object.height = max(object.height, parsed.height)
                value = parsed.value
            }
            object.pairs.append(WireMap.Pair(key: key, value: value))
        } while try follows(closing: UInt8(ascii: "}"), expected: "\",\" or \"}\"")
        return object
    }

    /// The meaning of `object`: a map, or the value that it wraps.
    func interpreted(_ object: JSONObject) throws(JSONError) -> Parsed {
        guard object.pairs.count == 1, let pair = object.pairs.first else {
            return try verbatim(object)
        }
        switch pair.key {
        case JSONWrapper.map:
            guard let wrapped = object.wrapped.first else {
                throw invalidWrapper(pair.key, "an object", object)
            }
            return try verbatim(wrapped)
        case JSONWrapper.bytes:
            guard case .text(let text) = pair.value, let bytes = Base64.bytes(text.utf8) else {
                throw invalidWrapper(pair.key, "text in base64 with padding", object)
            }
            return Parsed(value: .bytes(bytes), height: 0)
        case JSONWrapper.float:
            guard case .text(let text) = pair.value, let number = JSONFloat.number(text) else {
                throw invalidWrapper(
                    pair.key,
                    "\"NaN\", \"Infinity\", \"-Infinity\" or \"NaN:\" and 16 hexadecimal digits",
                    object)
            }
            return Parsed(value: .float(number), height: 0)
        default: return try verbatim(object)
        }
    }

    /// `object` as a map, even with special keys.
    func verbatim(_ object: JSONObject) throws(JSONError) -> Parsed {
        var pairs = object.pairs
        var height = object.height
        if let wrapped = object.wrapped.first {
            let inner = try interpreted(wrapped)
            pairs[0].value = inner.value
            height = max(height, inner.height)
        }
        guard height < WireLimits.depthMax else { throw error(.tooDeep, at: object.start) }
        do throws(WireMap.DuplicateKey) {
            return Parsed(value: .map(try WireMap(pairs)), height: height + 1)
        } catch {
            let key = error.key
            let second = pairs.lastIndex { $0.key == key } ?? 0
            throw self.error(.duplicateKey(key.text), at: object.keyOffsets[second])
        }
    }

    private func invalidWrapper(
        _ key: WireKey, _ expected: String, _ object: JSONObject
    ) -> JSONError {
        error(.invalidWrapper(key: key.text, expected: expected), at: object.start)
    }
}
