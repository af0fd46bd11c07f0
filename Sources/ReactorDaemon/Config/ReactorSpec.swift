package import ReactorWire

/// The configuration of one node of the tree.
///
/// *Place*: ``DaemonConfig`` reads it, ``ReactorCatalog`` creates the reactor. A node without a
/// kind is a group of its children.
package struct ReactorSpec: Equatable, Sendable {
    /// The node's name under its parent.
    package var name: String
    /// The name of the reactor's kind; nil for a group.
    package var kind: String?
    /// All keys besides `kind:` and `children:`, for the kind's factory.
    package var options: [String: WireValue]
    /// In the order of the file; names are distinct.
    package var children: [ReactorSpec]
    /// The location of the node's name.
    package var mark: ConfigLocation
    /// The location of the kind.
    package var kindMark: ConfigLocation
    /// The location of each option, by its name.
    package var optionMarks: [String: ConfigLocation]
    /// The path of the node's key in the file, such as `reactors.team.children.lock`.
    package var key: String

    /// Creates a node without a file, for tests and embedded daemons.
    package init(
        name: String, kind: String?, options: [String: WireValue] = [:],
        children: [ReactorSpec] = []
    ) {
        self.name = name
        self.kind = kind
        self.options = options
        self.children = children
        mark = ConfigLocation(file: "code")
        kindMark = mark
        optionMarks = [:]
        key = name
    }
}

extension ReactorSpec {
    /// Maximum length of a node's name in bytes, as for a file.
    package static let nameBytesMax = 255

    /// Returns the reason why a text cannot name a node, or nil if it can.
    static func refusal(ofName name: String) -> String? {
        if name.isEmpty { return "the name is empty" }
        if name == "." || name == ".." { return "\"\(name)\" is a step in a path, not a name" }
        if name.utf8.contains(UInt8(ascii: "/")) {
            return "name \(ConfigProblem.quoted(name)) contains /, nest it with `children:`"
        }
        if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "name \(ConfigProblem.quoted(name)) contains a control character"
        }
        let bytes = name.utf8.count
        return bytes > nameBytesMax
            ? "name of \(bytes) bytes, expected at most \(nameBytesMax)" : nil
    }
}
