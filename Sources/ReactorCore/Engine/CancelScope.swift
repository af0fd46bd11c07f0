/// Names the effects that the actions of one client to one node started, so that the client can
/// cancel them.
///
/// Two clients may use the same name; neither can cancel effects that the other's actions started.
struct CancelScope: Hashable, Sendable {
    /// The client's public number, which is also its session's.
    var client: UInt64
    var name: String
}
