/// Decides whether polling for a moment beats going to sleep.
///
/// *Place*: the loop tells it when traffic came, and asks it before it would block. Waking up
/// across cores costs tens of microseconds, polling costs a core: it pays only where the next
/// message usually comes within the limit.
///
/// *Shape*: pure; all times are nanoseconds of one monotonic clock.
struct SpinGovernor {
    /// For how long to poll after traffic; 0 turns it off.
    let limit: UInt64
    private var lastTraffic: UInt64 = 0
    private var credit = creditMax

    /// How many late messages in a row end the polling, until messages come quickly again.
    static let creditMax = 4
    /// How many prompt messages must come, after another thread wanted the processor, before it
    /// polls again.
    static let contentionPenalty = 64
    /// A yield that takes longer, in nanoseconds, gave the processor to somebody.
    static let yieldCostMax: UInt64 = 10_000
    /// What sleeping adds to a message's way, which polling would save, in nanoseconds.
    static let wakeUpCost: UInt64 = 50_000

    /// Polls up to `limit` nanoseconds after traffic.
    init(limit: UInt64) {
        self.limit = limit
    }

    /// Takes note of traffic at `now`.
    mutating func noteTraffic(at now: UInt64) {
        // because a peer that writes every ten milliseconds would cost a core and gain nothing
        let isPrompt = now &- lastTraffic <= limit &+ Self.wakeUpCost
        credit = isPrompt ? min(credit + 1, Self.creditMax) : min(credit, max(credit - 1, 0))
        lastTraffic = now
    }

    /// Takes note that giving way to other threads took `nanoseconds`.
    mutating func noteYield(taking nanoseconds: UInt64) {
        // because polling on a processor that others want delays them, and so ourselves
        if nanoseconds > Self.yieldCostMax { credit = -Self.contentionPenalty }
    }

    /// Until when to poll, or nil to sleep at once.
    var deadline: UInt64? {
        limit > 0 && credit > 0 && lastTraffic > 0 ? lastTraffic &+ limit : nil
    }
}
