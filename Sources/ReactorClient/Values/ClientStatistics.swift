/// What happened to a client since it was made.
public struct ClientStatistics: Equatable, Sendable {
    /// How often a mirror was compared with the daemon.
    public var verifications: UInt64 = 0
    /// How often a mirror held something else than the daemon, and started again.
    public var resynchronisations: UInt64 = 0
    /// How often the daemon turned out to have lost a part of its past.
    public var rollbacks: UInt64 = 0
    /// Actions that an earlier run had left in the journal.
    public var recoveredActions: UInt64 = 0

    /// Nothing has happened.
    public init() {}
}
