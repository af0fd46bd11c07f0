/// A change of who owns what, as it rests beside the deltas of its turn.
///
/// *Place*: a journal needs it to end, after a restart, what connections owned before.
@WireCodable
public enum OwnershipFact: Equatable, Sendable {
    /// A connection owns a key of a node from here on; of a collection whose children are leased it
    /// holds the child, and `definesLifecycle` says whether the end of the lease may end the child.
    case own(node: UInt32, key: WireKey, connection: UInt64, definesLifecycle: Bool? = nil)
    /// It does not any more.
    case disown(node: UInt32, key: WireKey, connection: UInt64)
    /// The connection has ended, and owns nothing.
    case end(connection: UInt64)
}
