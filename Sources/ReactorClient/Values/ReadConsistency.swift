public import ReactorCore

/// How recent a daemon's state must be, for a read that must not be stale.
///
/// A daemon that follows another shows a state that may be some milliseconds old, and at most
/// `staleMax` of its configuration. A daemon that is in no cluster always has the current state.
public enum ReadConsistency: Hashable, Sendable {
    /// The state includes this revision, such as that of an outcome that another process received
    /// from another node.
    case atLeast(Revision)
    /// The state includes every action whose outcome any client of the cluster had when the read
    /// began. It costs a round trip to the cluster's log.
    case linearizable
}
