/// The number of a node in a tree's history, with its path.
@WireCodable
public struct NodePlace: Equatable, Sendable {
    /// ``AnyNode/number``.
    public var number: UInt32
    /// The node's path from the root; for a node below a new child, the path from that child.
    public var path: SlicePath

    /// Makes an entry of its parts.
    public init(number: UInt32, path: SlicePath) {
        self.number = number
        self.path = path
    }
}
