public import ReactorWire

/// What the configuration says about one node of the tree, before any reactor is made of it.
///
/// *Place*: ``DaemonConfig`` reads it, ``ReactorCatalog`` makes the reactor. A node without a kind
/// only groups its children.
public struct ReactorSpec: Equatable, Sendable {
    /// The node's name under its parent.
    public var name: String
    /// Which ready-made or own reactor; nil for a mere group.
    public var kind: String?
    /// Everything beside `kind:` and `children:`, for the reactor of that kind to read.
    public var options: [String: WireValue]
    /// In the order of the file; names are distinct.
    public var children: [ReactorSpec]
    /// Where the node's name stands.
    public var mark: ConfigPlace
    /// Where the kind stands, and each option by its name.
    public var kindMark: ConfigPlace
    /// Where each option stands, by its name.
    public var optionMarks: [String: ConfigPlace]
    /// The path of the node's key in the file, such as `reactors.team.children.lock`.
    public var key: String

    /// A node that no file says anything about, for tests and embedded daemons.
    public init(
        name: String, kind: String?, options: [String: WireValue] = [:],
        children: [ReactorSpec] = []
    ) {
        self.name = name
        self.kind = kind
        self.options = options
        self.children = children
        mark = ConfigPlace(file: "code")
        kindMark = mark
        optionMarks = [:]
        key = name
    }
}

extension ReactorSpec {
    /// Longest name of a node in bytes, as for a file.
    public static let nameBytesMax = 255

    /// Why a text cannot name a node, or nil if it can.
    static func refusal(ofName name: String) -> String? {
        if name.isEmpty { return "a name is empty" }
        if name == "." || name == ".." { return "\"\(name)\" would be a step in a path" }
        if name.utf8.contains(UInt8(ascii: "/")) {
            return "name \(ConfigProblem.quoted(name)) holds /, nest it with `children:`"
        }
        if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "name \(ConfigProblem.quoted(name)) holds a control character"
        }
        let bytes = name.utf8.count
        return bytes > nameBytesMax
            ? "name of \(bytes) bytes, expected at most \(nameBytesMax)" : nil
    }
}
