import Foundation
import ReactorWire
import Yams

/// Turns YAML nodes into values, by the core schema of YAML 1.2.
///
/// Plain `true`, `false`, `null`, `~`, integers (`10`, `0x1f`, `0o17`) and floats are what they
/// look like; everything else, `yes` and `no` included, and everything in quotes is text.
enum ConfigValue {
    /// The value of any node.
    ///
    /// *Throws*: an integer beyond 64 bits, bad base64 under `!!binary`, a tag without a meaning
    /// here.
    static func value(
        of node: Node, key: String, in document: ConfigDocument
    ) throws(ConfigProblem) -> WireValue {
        let place = document.place(of: node)
        try checkTag(of: node, key: key, at: place)
        switch node {
        case .scalar(let scalar):
            return try value(of: scalar, key: key, at: place)
        case .sequence(let sequence):
            var elements: [WireValue] = []
            for element in sequence {
                elements.append(
                    try value(of: element, key: "\(key)[\(elements.count)]", in: document))
            }
            return .array(elements)
        case .mapping(let mapping):
            return try map(mapping, key: key, in: document)
        case .alias:
            throw ConfigProblem("an alias without its anchor", key: key, at: place)
        }
    }

    private static func map(
        _ mapping: Node.Mapping, key: String, in document: ConfigDocument
    ) throws(ConfigProblem) -> WireValue {
        var pairs: [WireMap.Pair] = []
        for pair in mapping {
            guard case .scalar(let name) = pair.key else { continue }
            let value = try value(of: pair.value, key: "\(key).\(name.string)", in: document)
            pairs.append(WireMap.Pair(key: WireKey(name.string), value: value))
        }
        do throws(WireMap.DuplicateKey) {
            return .map(try WireMap(pairs))
        } catch {
            throw ConfigProblem(
                error.description, key: key, at: document.place(of: .mapping(mapping)))
        }
    }

    private static func value(
        of scalar: Node.Scalar, key: String, at place: ConfigPlace
    ) throws(ConfigProblem) -> WireValue {
        if scalar.tag.rawValue == Tag.Name.binary.rawValue {
            guard let data = Data(base64Encoded: scalar.string.filter { !$0.isWhitespace }) else {
                throw ConfigProblem(
                    expected: "base64 after !!binary", got: ConfigProblem.quoted(scalar.string),
                    key: key, at: place)
            }
            return .bytes(Array(data))
        }
        guard isPlain(scalar) else { return .text(scalar.string) }
        switch scalar.string {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case ".nan", ".NaN", ".NAN": return .float(.nan)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .float(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .float(-.infinity)
        default: return try number(scalar.string, key: key, at: place) ?? .text(scalar.string)
        }
    }

    private static func number(
        _ text: String, key: String, at place: ConfigPlace
    ) throws(ConfigProblem) -> WireValue? {
        if let (digits, radix) = integerDigits(of: text) {
            guard let integer = Int128(digits, radix: radix).flatMap(WireInteger.init(exactly:))
            else {
                throw ConfigProblem(
                    expected: "an integer of 64 bits", got: "\(text); quote it if it is text",
                    key: key, at: place)
            }
            return .integer(integer)
        }
        guard text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil,
            let float = Double(text.hasSuffix(".") ? text + "0" : text)
        else { return nil }
        return .float(float)
    }

    private static func integerDigits(of text: String) -> (digits: Substring, radix: Int)? {
        if text.wholeMatch(of: /[-+]?[0-9]+/) != nil { return (text[...], 10) }
        if text.wholeMatch(of: /0x[0-9a-fA-F]+/) != nil { return (text.dropFirst(2), 16) }
        return text.wholeMatch(of: /0o[0-7]+/) != nil ? (text.dropFirst(2), 8) : nil
    }

    /// Whether a scalar's look decides what it is: neither quoted nor tagged.
    static func isPlain(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && scalar.tag.rawValue == Tag.Name.implicit.rawValue
    }

    /// Whether nothing stands after the key.
    static func isNothing(_ node: Node) -> Bool {
        guard case .scalar(let scalar) = node, isPlain(scalar) else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Refuses tags without a meaning here, such as `!!set` or `!Local`.
    static func checkTag(of node: Node, key: String, at place: ConfigPlace) throws(ConfigProblem) {
        let (tag, known): (Tag, [Tag.Name]) =
            switch node {
            case .scalar(let scalar): (scalar.tag, [.str, .binary])
            case .sequence(let sequence): (sequence.tag, [.seq])
            case .mapping(let mapping): (mapping.tag, [.map])
            case .alias(let alias): (alias.tag, [])
            }
        let name = tag.rawValue
        guard name.isEmpty || name == "!" || known.contains(where: { $0.rawValue == name }) else {
            throw ConfigProblem(
                "tag \(ConfigProblem.quoted(name)) has no meaning here, remove it", key: key,
                at: place)
        }
    }

    /// What a node is, for the second half of an error.
    static func summary(of node: Node) -> String {
        switch node {
        case .scalar(let scalar):
            isNothing(node) ? "nothing" : ConfigProblem.quoted(scalar.string)
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .alias: "an alias"
        }
    }
    /// What a value is, for the second half of an error and for the summary.
    static func summary(of value: WireValue) -> String {
        switch value {
        case .null: "nothing"
        case .bool(let bool): "\(bool)"
        case .integer(let integer): "\(integer)"
        case .float(let float): "\(float)"
        case .text(let text): "text \(ConfigProblem.quoted(text))"
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .array: "a list"
        case .map: "a mapping"
        }
    }
}
