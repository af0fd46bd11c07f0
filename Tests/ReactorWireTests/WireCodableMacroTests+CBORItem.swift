import ReactorWire

/// CBOR items for tests, with keys in the written order and number.
indirect enum CBORItem: Sendable {
    case integer(Int)
    case text(String)
    case null
    case array([CBORItem])
    case map([(String, CBORItem)])
    /// A map of indefinite length.
    case openMap([(String, CBORItem)])
    /// An array of indefinite length.
    case openArray([CBORItem])
    case tagged(UInt64, CBORItem)

    var bytes: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout WireWriter) {
        switch self {
        case .integer(let value): writer.integer(Int64(value))
        case .text(let value): writer.text(value)
        case .null: writer.null()
        case .array(let items):
            writer.array(count: items.count)
            for item in items { item.write(to: &writer) }
        case .map(let pairs):
            writer.map(count: pairs.count)
            for (key, value) in pairs { CBORItem.write(key, value, to: &writer) }
        case .openMap(let pairs):
            writer.byte(0xbf)
            for (key, value) in pairs { CBORItem.write(key, value, to: &writer) }
            writer.byte(0xff)
        case .openArray(let items):
            writer.byte(0x9f)
            for item in items { item.write(to: &writer) }
            writer.byte(0xff)
        case .tagged(let tag, let item):
            writer.head(major: 6, tag)
            item.write(to: &writer)
        }
    }

    private static func write(_ key: String, _ value: CBORItem, to writer: inout WireWriter) {
        writer.text(key)
        value.write(to: &writer)
    }
}

extension CBORItem: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    init(integerLiteral value: Int) { self = .integer(value) }
    init(stringLiteral value: String) { self = .text(value) }
}

extension CBORItem: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(arrayLiteral items: CBORItem...) { self = .array(items) }
    init(dictionaryLiteral pairs: (String, CBORItem)...) { self = .map(pairs) }
}

extension WireCodable {
    /// Decodes one value from the bytes of `item`.
    init(_ item: CBORItem) throws(WireError) { try self.init(wireBytes: item.bytes) }
}

/// The error of decoding `type` from `item`.
func failure<Value: WireCodable>(_ type: Value.Type, _ item: CBORItem) -> WireError? {
    do {
        _ = try Value(item)
        return nil
    } catch {
        return error
    }
}
