/// Decides whether polling for a moment beats going to sleep.
///
/// *Place*: the loop tells it when traffic came and how long giving way took, and asks it before it
/// would block. Waking up across cores costs tens of microseconds, polling costs a core: it pays
/// only where the next message usually comes within the limit, and where no other program wants
/// the processor.
///
/// *Shape*: pure; all times are nanoseconds of one monotonic clock.
struct SpinGovernor {
    /// For how long to poll after traffic; 0 turns it off.
    let limit: UInt64
    private var lastTraffic: UInt64 = 0
    private var credit = creditMax
    private var rest = restMin
    private var restsUntil: UInt64 = 0
    /// Messages in a row that came after somebody else had the processor.
    private var sharedYields = 0
    /// Whether somebody else had it since the last message.
    private var wasShared = false

    /// How many late messages in a row end the polling, until messages come quickly again.
    static let creditMax = 4
    /// What sleeping adds to a message's way, which polling would save.
    static let wakeUpCost: UInt64 = 50_000
    /// A yield that takes longer gave the processor to a program that computes; a shorter one, at
    /// most to a peer that answered meanwhile.
    static let yieldCostMax: UInt64 = 250_000
    /// A yield that takes longer gave a processor that is the process's only one to somebody else.
    static let emptyYieldCostMax: UInt64 = 2_000
    /// How many yields in a row may do so before it is taken for a peer that runs there too: an
    /// interrupt looks the same, and does not come at every message.
    static let sharedYieldsMax = 3
    /// For how long it sleeps instead of polling, after a program took the processor: at first.
    static let restMin: UInt64 = 10_000_000
    /// For how long it does so when that happens again and again.
    static let restMax: UInt64 = 2_000_000_000

    /// Polls up to `limit` nanoseconds after traffic.
    init(limit: UInt64) {
        self.limit = limit
    }

    /// Takes note of traffic at `now`.
    mutating func noteTraffic(at now: UInt64) {
        // because a peer that writes every ten milliseconds would cost a core and gain nothing
        let isPrompt = now &- lastTraffic <= limit &+ Self.wakeUpCost
        credit = isPrompt ? min(credit + 1, Self.creditMax) : max(credit - 1, 0)
        lastTraffic = now
        if !wasShared { sharedYields = 0 }
        wasShared = false
    }

    /// Takes note that giving way to other threads took `nanoseconds`, until `now`.
    ///
    /// `onlyProcessor` says that the process may use one processor of several: polling there may keep
    /// from work the very peer it waits for.
    mutating func noteYield(taking nanoseconds: UInt64, at now: UInt64, onlyProcessor: Bool) {
        if onlyProcessor, nanoseconds > Self.emptyYieldCostMax, !wasShared {
            wasShared = true
            sharedYields += 1
        }
        guard nanoseconds > Self.yieldCostMax || sharedYields >= Self.sharedYieldsMax else {
            return
        }
        sharedYields = 0
        // because a sleeper that wakes goes first, while one that polls waits for its turn
        let isAgain = now <= restsUntil &+ rest
        rest = isAgain ? min(rest * 2, Self.restMax) : Self.restMin
        restsUntil = now &+ rest
    }

    /// Until when to poll, or nil to sleep at once.
    var deadline: UInt64? {
        limit > 0 && credit > 0 && lastTraffic > restsUntil ? lastTraffic &+ limit : nil
    }
}
