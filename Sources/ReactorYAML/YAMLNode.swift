/// A node of a YAML document: its place, its tag and its content.
///
/// An alias is the node of its anchor, with that node's place.
package struct YAMLNode: Sendable {
    /// The place of its beginning, including its tag or anchor.
    package let mark: YAMLMark
    /// The full tag, such as `tag:yaml.org,2002:binary`; empty if the text has none, `!` if the
    /// text has only that. A quoted scalar has ``YAMLTag/text``.
    package let tag: String
    /// The content.
    package let content: Content

    /// The content of a node.
    package enum Content: Sendable {
        case scalar(YAMLScalar)
        case sequence([YAMLNode])
        /// The pairs in the order of the text; keys are distinct.
        case mapping([YAMLPair])
    }

    /// The scalar; nil for other content.
    package var scalar: YAMLScalar? {
        guard case .scalar(let scalar) = content else { return nil }
        return scalar
    }
}

/// A key of a mapping with its value.
package struct YAMLPair: Sendable {
    /// The key; always a scalar. Its tag is ignored.
    package let key: YAMLScalar
    /// The place of the key.
    package let keyMark: YAMLMark
    /// The value.
    package let value: YAMLNode
}

/// The text of a scalar, before conversion to a type.
package struct YAMLScalar: Sendable {
    /// The text, without quotes and escapes.
    package let text: String
    /// Whether the scalar is neither quoted nor a block.
    package let isPlain: Bool
}

/// A place in a text.
package struct YAMLMark: Equatable, Sendable {
    /// Line, from 1.
    package let line: Int
    /// Column in Unicode scalars, from 1.
    package let column: Int

    /// Creates a place.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// The tags that YAML itself defines.
package enum YAMLTag {
    /// `!!str`.
    package static let text = "tag:yaml.org,2002:str"
    /// `!!binary`.
    package static let binary = "tag:yaml.org,2002:binary"
    /// `!!seq`.
    package static let sequence = "tag:yaml.org,2002:seq"
    /// `!!map`.
    package static let mapping = "tag:yaml.org,2002:map"
}

/// Limits for the size of a document.
package struct YAMLLimits: Sendable {
    /// Maximum nesting of mappings and lists, without following aliases.
    package var depthMax: Int
    /// Maximum number of aliases.
    package var aliasesMax: Int

    /// Creates limits.
    package init(depthMax: Int, aliasesMax: Int) {
        self.depthMax = depthMax
        self.aliasesMax = aliasesMax
    }
}

/// The reason why a text is refused.
package enum YAMLError: Error, Equatable {
    /// The text is not YAML.
    case syntax(problem: String, context: YAMLContext?, mark: YAMLMark)
    /// A character that YAML forbids, such as U+1, at a byte of the text.
    case character(problem: String, byteOffset: Int, value: Int)
    /// Duplicate keys of one mapping, sorted, and the first place of the first key.
    case duplicateKeys([String], first: YAMLMark)
    /// A mapping or list deeper than ``YAMLLimits/depthMax``.
    case depth(mark: YAMLMark)
    /// A mapping or list as a key.
    case collectionAsKey(mark: YAMLMark)
    /// An alias as a key.
    case aliasAsKey(mark: YAMLMark)
    /// More aliases than ``YAMLLimits/aliasesMax``.
    case aliasCount(mark: YAMLMark)
    /// No memory was available.
    case memory
}

/// The construct that the parser was reading when it found an error.
package struct YAMLContext: Equatable, Sendable {
    /// A text such as `while parsing a flow node`.
    package let text: String
    /// The place where the construct began.
    package let mark: YAMLMark
}
