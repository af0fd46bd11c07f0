/// A value of any shape, for tools without the reactor's types.
///
/// Two values are equal if their bytes are: text compares byte by byte, floats by bit pattern (a
/// NaN equals itself, and -0.0 differs from 0.0), and the integer 1 differs from the float 1.0.
///
/// *Shape*: a decoded value is nested at most ``WireLimits/depthMax`` deep. A deeper value can be
/// constructed, but every decoder refuses its encoding.
public enum WireValue: Sendable {
    case null
    case bool(Bool)
    case integer(WireInteger)
    case float(Double)
    case bytes([UInt8])
    case text(String)
    case array([WireValue])
    case map(WireMap)
}

extension WireValue: Hashable {
    public static func == (left: WireValue, right: WireValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
        case (.bytes(let left), .bytes(let right)): left == right
        case (.text(let left), .text(let right)): WireKey(left) == WireKey(right)
        case (.array(let left), .array(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kindNumber)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.bitPattern)
        case .bytes(let value): hasher.combine(value)
        case .text(let value): hasher.combine(WireKey(value))
        case .array(let value): hasher.combine(value)
        case .map(let value): hasher.combine(value)
        }
    }

    private var kindNumber: UInt8 {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer: 2
        case .float: 3
        case .bytes: 4
        case .text: 5
        case .array: 6
        case .map: 7
        }
    }

    /// The kind of the value, for error texts: "an integer".
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a bool"
        case .integer: "an integer"
        case .float: "a float"
        case .bytes: "bytes"
        case .text: "text"
        case .array: "an array"
        case .map: "a map"
        }
    }
}

// MARK: - Conversions
extension WireValue {
    /// Makes the value that `value` encodes to.
    ///
    /// *Throws*: ``WireError`` if it is nested too deep. *Cost*: encodes and decodes.
    public init(encoding value: some WireCodable) throws(WireError) {
        try self.init(wireBytes: value.wireBytes())
    }

    /// Reads the value as a `Decoded`.
    ///
    /// *Throws*: ``WireError``, whose offset counts in the value's encoded bytes. *Cost*: encodes
    /// and decodes.
    public func decoded<Decoded: WireCodable>(as type: Decoded.Type) throws(WireError) -> Decoded {
        try Decoded(wireBytes: wireBytes())
    }

    /// The value of `key`, if this is a map with that key.
    public subscript(key: WireKey) -> WireValue? {
        guard case .map(let map) = self else { return nil }
        return map[key]
    }

    /// The element at `index`, if this is an array with that index.
    public subscript(index: Int) -> WireValue? {
        guard case .array(let array) = self, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// The integer, if it fits an `Int`.
    public var intValue: Int? {
        guard case .integer(let value) = self else { return nil }
        return Int(exactly: value)
    }

    /// The text, if this is text.
    public var textValue: String? {
        guard case .text(let value) = self else { return nil }
        return value
    }

    /// The bool, if this is one.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The elements, if this is an array.
    public var arrayValue: [WireValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The pairs, if this is a map.
    public var mapValue: WireMap? {
        guard case .map(let value) = self else { return nil }
        return value
    }
}

// MARK: - Literals
// There is no literal for null, since `nil` would mean null where an absent `WireValue?` is meant,
// as in `isThere ? value : nil`. Write `.null`.
extension WireValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// *Traps* beyond the 65 bits of a wire integer.
    public init(integerLiteral value: Int128) {
        self = .integer(WireInteger(integerLiteral: value))
    }

    public init(floatLiteral value: Double) { self = .float(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(arrayLiteral elements: WireValue...) { self = .array(elements) }

    /// *Traps* if a key occurs twice.
    public init(dictionaryLiteral elements: (WireKey, WireValue)...) {
        do throws(WireMap.DuplicateKey) {
            self = .map(try WireMap(elements.map { WireMap.Pair(key: $0, value: $1) }))
        } catch {
            preconditionFailure(error.description)
        }
    }
}
