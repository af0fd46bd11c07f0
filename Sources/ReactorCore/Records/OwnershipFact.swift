/// A change of ownership, as the journal stores it beside the deltas of its turn.
///
/// *Place*: after a restart, the daemon needs it to end the ownerships of earlier connections.
@WireCodable
package enum OwnershipFact: Equatable, Sendable {
    /// A connection owns a key of a node from now on. In a collection with leased children it holds
    /// the child, and `definesLifecycle` says whether the end of the lease may remove the child.
    case own(node: UInt32, key: WireKey, connection: UInt64, definesLifecycle: Bool? = nil)
    /// The connection no longer owns the key.
    case disown(node: UInt32, key: WireKey, connection: UInt64)
    /// The connection has ended, and owns nothing.
    case end(connection: UInt64)
}
