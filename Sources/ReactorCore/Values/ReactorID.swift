/// Identifies a reactor instance within one history of its daemon, or within one store of a
/// process.
///
/// May be part of a state or a key, to tell a child from an earlier child at the same path.
@WireCodable
public struct ReactorID: Hashable, Sendable {
    /// The epoch of the daemon's tree, which is a random number, or the number of the store, which
    /// counts from 1 in each process.
    public var epoch: UInt64
    /// The node's number, unique within its tree.
    public var node: UInt32

    /// Makes the id of a node in one history.
    public init(epoch: UInt64, node: UInt32) {
        self.epoch = epoch
        self.node = node
    }
}

extension ReactorID: CustomStringConvertible {
    public var description: String { "\(String(epoch, radix: 16))#\(node)" }
}
