/// Under which number a node stands in a tree's history.
@WireCodable
public struct NodePlace: Equatable, Sendable {
    /// ``AnyNode/number``.
    public var number: UInt32
    /// The node's path from the root; of what stands below a new child, the path from that child.
    public var path: SlicePath

    /// Names a node's place.
    public init(number: UInt32, path: SlicePath) {
        self.number = number
        self.path = path
    }
}
