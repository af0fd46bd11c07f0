/// Counters of a client's life.
public struct ClientStatistics: Equatable, Sendable {
    /// Number of comparisons of a mirror with the daemon.
    public var verifications: UInt64 = 0
    /// Number of comparisons in which a mirror differed and restarted.
    public var resynchronisations: UInt64 = 0
    /// Number of times that the daemon had lost a part of its history.
    public var rollbacks: UInt64 = 0
    /// Number of actions that an earlier run had left in the journal.
    public var recoveredActions: UInt64 = 0

    /// All counters are 0.
    package init() {}
}
