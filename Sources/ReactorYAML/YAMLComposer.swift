/// Builds the tree of a YAML document, within limits.
///
///     let root = try YAMLComposer.document("log: { level: info }", within: limits)
///
/// *Cost*: linear in the text: aliases share the node of their anchor.
package struct YAMLComposer {
    private let parser: YAMLParser
    private let limits: YAMLLimits
    /// The nodes of the anchors; a later anchor replaces an earlier one of the same name.
    private var anchors: [String: YAMLNode] = [:]
    private var aliasCount = 0

    /// Returns the root of the single document in `text`; nil if there is none.
    package static func document(
        _ text: String, within limits: YAMLLimits
    ) throws(YAMLError) -> YAMLNode? {
        var composer = YAMLComposer(parser: try YAMLParser(text), limits: limits)
        return try composer.document()
    }

    private init(parser: YAMLParser, limits: YAMLLimits) {
        self.parser = parser
        self.limits = limits
    }

    private mutating func document() throws(YAMLError) -> YAMLNode? {
        if case .streamEnd = try parser.next().kind { return nil }
        let root = try node(try parser.next(), depth: 0)
        // The end of the document.
        _ = try parser.next()
        let event = try parser.next()
        guard case .streamEnd = event.kind else {
            let start = YAMLMark(line: 1, column: 1)
            throw .syntax(
                problem: "but found another document",
                context: YAMLContext(text: "expected a single document in the stream", mark: start),
                mark: event.mark)
        }
        return root
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
        switch event.kind {
        case .alias(let name): return try alias(name, at: event.mark)
        case .scalar(let scalar, let tag, let anchor):
            return named(
                anchor, YAMLNode(mark: event.mark, tag: tag, content: .scalar(scalar)))
        case .sequenceStart(let tag, let anchor):
            let content = YAMLNode.Content.sequence(try sequence(at: event.mark, depth: depth))
            return named(anchor, YAMLNode(mark: event.mark, tag: tag, content: content))
        case .mappingStart(let tag, let anchor):
            let content = YAMLNode.Content.mapping(try mapping(at: event.mark, depth: depth))
            return named(anchor, YAMLNode(mark: event.mark, tag: tag, content: content))
        case .documentStart, .end, .streamEnd:
            preconditionFailure("libyaml answered \(event) where a node begins")
        }
    }

    private mutating func named(_ anchor: String?, _ node: YAMLNode) -> YAMLNode {
        if let anchor { anchors[anchor] = node }
        return node
    }

    private mutating func alias(
        _ name: String, at mark: YAMLMark
    ) throws(YAMLError) -> YAMLNode {
        guard let node = anchors[name] else { throw Self.undefined(mark) }
        aliasCount += 1
        guard aliasCount <= limits.aliasesMax else { throw .aliasCount(mark: mark) }
        return node
    }

    private static func undefined(_ mark: YAMLMark) -> YAMLError {
        .syntax(problem: "found undefined alias", context: nil, mark: mark)
    }

    private mutating func sequence(
        at mark: YAMLMark, depth: Int
    ) throws(YAMLError) -> [YAMLNode] {
        guard depth < limits.depthMax else { throw .depth(mark: mark) }
        var nodes: [YAMLNode] = []
        while true {
            let event = try parser.next()
            if case .end = event.kind { return nodes }
            nodes.append(try node(event, depth: depth + 1))
        }
    }

    private mutating func mapping(
        at mark: YAMLMark, depth: Int
    ) throws(YAMLError) -> [YAMLPair] {
        guard depth < limits.depthMax else { throw .depth(mark: mark) }
        var pairs: [YAMLPair] = []
        while true {
            let event = try parser.next()
            if case .end = event.kind { break }
            let key = try key(event)
            let value = try node(try parser.next(), depth: depth + 1)
            pairs.append(YAMLPair(key: key, keyMark: event.mark, value: value))
        }
        try Self.checkKeys(of: pairs)
        return pairs
    }

    private mutating func key(_ event: YAMLEvent) throws(YAMLError) -> YAMLScalar {
        switch event.kind {
        case .scalar(let scalar, let tag, let anchor):
            _ = named(anchor, YAMLNode(mark: event.mark, tag: tag, content: .scalar(scalar)))
            return scalar
        case .alias(let name):
            throw anchors[name] == nil ? Self.undefined(event.mark) : .aliasAsKey(mark: event.mark)
        default: throw .collectionAsKey(mark: event.mark)
        }
    }

    private static func checkKeys(of pairs: [YAMLPair]) throws(YAMLError) {
        var firstMarks: [String: YAMLMark] = [:]
        var names: Set<String> = []
        for pair in pairs {
            let name = pair.key.text
            if firstMarks[name] == nil {
                firstMarks[name] = pair.keyMark
            } else {
                names.insert(name)
            }
        }
        let sorted = names.sorted()
        guard let first = sorted.first, let mark = firstMarks[first] else { return }
        throw .duplicateKeys(sorted, first: mark)
    }
}
