import ReactorWire

/// A session as a snapshot stores it.
@WireCodable
struct SavedSession: Equatable, Sendable {
    var client: UInt64
    var secret: [UInt8]
    var uid: UInt32
    /// Highest ordinal that arrived.
    var ordinal: UInt64
    var runs: [Run]
    var exceptions: [Exception]
    /// Actions whose answer is deferred.
    var deferred: [UInt64]
    /// The connection of its last action; nil in snapshots of earlier versions.
    var source: UInt64? = nil

    /// Consecutive actions that were applied.
    @WireCodable
    struct Run: Equatable, Sendable {
        var ordinal: UInt64
        var sequence: UInt64
        var count: UInt64
    }

    /// Any other outcome.
    @WireCodable
    struct Exception: Equatable, Sendable {
        var ordinal: UInt64
        var outcome: Outcome
    }
}
