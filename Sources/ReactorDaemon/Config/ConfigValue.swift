import ReactorWire
import ReactorYAML

/// Converts YAML nodes into values, by the core schema of YAML 1.2.
///
/// Plain `true`, `false`, `null`, `~`, integers (`10`, `0x1f`, `0o17`) and floats become values
/// of that type. Everything else is text, including `yes`, `no` and everything in quotes.
enum ConfigValue {
    /// Returns the value of a node.
    ///
    /// *Throws*: for an integer beyond 64 bits, invalid base64 under `!!binary`, and an
    /// unsupported tag.
    static func value(
        of node: YAMLNode, key: String, in document: ConfigDocument
    ) throws(ConfigProblem) -> WireValue {
        let location = document.location(of: node)
        try checkTag(of: node, key: key, at: location)
        switch node.content {
        case .scalar(let scalar):
            return try value(of: scalar, tag: node.tag, key: key, at: location)
        case .sequence(let nodes):
            var elements: [WireValue] = []
            for element in nodes {
                elements.append(
                    try value(of: element, key: "\(key)[\(elements.count)]", in: document))
            }
            return .array(elements)
        case .mapping(let pairs):
            return try map(pairs, key: key, at: location, in: document)
        }
    }

    private static func map(
        _ nodes: [YAMLPair], key: String, at location: ConfigLocation, in document: ConfigDocument
    ) throws(ConfigProblem) -> WireValue {
        var pairs: [WireMap.Pair] = []
        for node in nodes {
            let name = node.key.text
            let value = try value(of: node.value, key: "\(key).\(name)", in: document)
            pairs.append(WireMap.Pair(key: WireKey(name), value: value))
        }
        do throws(WireMap.DuplicateKey) {
            return .map(try WireMap(pairs))
        } catch {
            throw ConfigProblem(error.description, key: key, at: location)
        }
    }

    private static func value(
        of scalar: YAMLScalar, tag: String, key: String, at location: ConfigLocation
    ) throws(ConfigProblem) -> WireValue {
        let text = scalar.text
        if tag == YAMLTag.binary {
            guard let bytes = Base64.bytes(Array(text.filter { !$0.isWhitespace }.utf8)) else {
                throw ConfigProblem(
                    expected: "base64 after !!binary", got: ConfigProblem.quoted(text),
                    key: key, at: location)
            }
            return .bytes(bytes)
        }
        guard scalar.isPlain, tag.isEmpty else { return .text(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case ".nan", ".NaN", ".NAN": return .float(.nan)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .float(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .float(-.infinity)
        default: return try number(text, key: key, at: location) ?? .text(text)
        }
    }

    private static func number(
        _ text: String, key: String, at location: ConfigLocation
    ) throws(ConfigProblem) -> WireValue? {
        if let (digits, radix) = integerDigits(of: text) {
            guard let integer = Int128(digits, radix: radix).flatMap(WireInteger.init(exactly:))
            else {
                throw ConfigProblem(
                    expected: "an integer of 64 bits", got: "\(text); quote it if it is text",
                    key: key, at: location)
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

    /// Whether a key has no value.
    static func isNothing(_ node: YAMLNode) -> Bool {
        guard let scalar = node.scalar, scalar.isPlain, node.tag.isEmpty else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.text)
    }

    /// Refuses unsupported tags, such as `!!set` or `!Local`.
    static func checkTag(
        of node: YAMLNode, key: String, at location: ConfigLocation
    ) throws(ConfigProblem) {
        let known =
            switch node.content {
            case .scalar: [YAMLTag.text, YAMLTag.binary]
            case .sequence: [YAMLTag.sequence]
            case .mapping: [YAMLTag.mapping]
            }
        guard node.tag.isEmpty || node.tag == "!" || known.contains(node.tag) else {
            throw ConfigProblem(
                "tag \(ConfigProblem.quoted(node.tag)) has no meaning here, remove it", key: key,
                at: location)
        }
    }

    /// Describes a node, for the second half of an error text.
    static func summary(of node: YAMLNode) -> String {
        switch node.content {
        case .scalar(let scalar):
            isNothing(node) ? "nothing" : ConfigProblem.quoted(scalar.text)
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
    /// Describes a value, for the second half of an error text and for the summary.
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
