/// The number of a node in a tree's history, with its path.
@WireCodable
@MemberwiseInit
package struct NumberedPath: Equatable, Sendable {
    /// ``AnyNode/number``.
    package var number: UInt32
    /// The node's path from the root; for a node below a new child, the path from that child.
    package var path: SlicePath
}

/// A change of the tree, as a structural delta of a collection carries it.
@WireCodable
package enum StructuralChange: Equatable, Sendable {
    /// A child was created as node `number`; `parts` are the nodes created below it.
    case create(key: WireKey, number: UInt32, parts: [NumberedPath] = [])
    /// The child and all nodes below it were removed.
    case remove(key: WireKey)
}
