/// Decides whether a short polling phase beats sleeping.
///
/// *Place*: the loop reports traffic and the durations of yields to it, and asks it before it
/// blocks. Waking up across cores costs tens of microseconds, polling occupies a core: it pays only
/// if the next message usually comes within the limit, and no other program needs the processor.
///
/// *Shape*: pure; all times are nanoseconds of one monotonic clock.
struct SpinGovernor {
    /// Duration of polling after traffic; 0 turns it off.
    let limit: UInt64
    private var lastTraffic: UInt64 = 0
    private var credit = creditMax
    private var rest = restMin
    private var restsUntil: UInt64 = 0
    /// Messages in a row that came after another program had the processor.
    private var sharedYields = 0
    /// Whether another program had the processor since the last message.
    private var wasShared = false

    /// Number of late messages in a row that end the polling, until messages come quickly again.
    static let creditMax = 4
    /// The delay of a message by a wake-up, which polling would save.
    static let wakeUpCost: UInt64 = 50_000
    /// A longer yield gave the processor to a computing program; a shorter one at most to a peer
    /// that answered.
    static let yieldCostMax: UInt64 = 250_000
    /// A longer yield gave the process's only processor to another program.
    static let emptyYieldCostMax: UInt64 = 2_000
    /// Number of such yields in a row that indicate a peer on the same processor: an interrupt
    /// looks the same, but does not come at every message.
    static let sharedYieldsMax = 3
    /// Initial pause of polling after a program took the processor.
    static let restMin: UInt64 = 10_000_000
    /// Maximum pause, after repeated occurrences.
    static let restMax: UInt64 = 2_000_000_000

    /// Polls up to `limit` nanoseconds after traffic.
    init(limit: UInt64) {
        self.limit = limit
    }

    /// Records traffic at `now`.
    mutating func noteTraffic(at now: UInt64) {
        // Polling for a peer that writes every ten milliseconds would occupy a core without a gain.
        let isPrompt = now &- lastTraffic <= limit &+ Self.wakeUpCost
        credit = isPrompt ? min(credit + 1, Self.creditMax) : max(credit - 1, 0)
        lastTraffic = now
        if !wasShared { sharedYields = 0 }
        wasShared = false
    }

    /// Records that a yield to other threads took `nanoseconds`, until `now`.
    ///
    /// `onlyProcessor` is true if the process may use one processor of several: polling there may
    /// take the processor from the awaited peer itself.
    mutating func noteYield(taking nanoseconds: UInt64, at now: UInt64, onlyProcessor: Bool) {
        if onlyProcessor, nanoseconds > Self.emptyYieldCostMax, !wasShared {
            wasShared = true
            sharedYields += 1
        }
        guard nanoseconds > Self.yieldCostMax || sharedYields >= Self.sharedYieldsMax else {
            return
        }
        sharedYields = 0
        // A sleeping process that wakes runs first, while a polling one waits for its turn.
        let isAgain = now <= restsUntil &+ rest
        rest = isAgain ? min(rest * 2, Self.restMax) : Self.restMin
        restsUntil = now &+ rest
    }

    /// The end of the polling phase; `nil` to sleep at once.
    var deadline: UInt64? {
        limit > 0 && credit > 0 && lastTraffic > restsUntil ? lastTraffic &+ limit : nil
    }
}
