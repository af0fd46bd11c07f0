package import ReactorWire

/// The tokens that a user has left, of a rate.
///
///     bucket.withdraw(800, at: now)
///     if bucket.isEmpty { wait(until: bucket.readyTime) }
///
/// A bucket begins full. More may be taken than it has: then it owes the difference, and fills from
/// there. So a user that is paused at the end of a turn keeps to its rate, however much that turn
/// took.
///
/// *Place*: in ``UserQuotas``. *Shape*: at most the rate's amount; ``invariants()`` states the
/// invariants.
struct TokenBucket {
    /// The rate at which it fills.
    private(set) var rate: TokenRate
    /// Tokens that are left; negative if tokens are owed.
    private(set) var level: Int
    /// Time up to which tokens were added, in nanoseconds.
    private(set) var filledAt: UInt64

    /// Nanoseconds worth of tokens that an empty bucket collects before its user may go on: fewer
    /// would wake the server for a single action.
    static let restNanoseconds: UInt64 = 10_000_000

    /// Makes a full bucket.
    init(_ rate: TokenRate, at now: UInt64) {
        self.rate = rate
        level = rate.amount
        filledAt = now
    }

    /// Makes a bucket with the tokens of a former process, `level` of them at `time`.
    init(_ rate: TokenRate, level: Int, at time: UInt64) {
        self.rate = rate
        self.level = min(level, rate.amount)
        filledAt = time
    }

    /// Whether no token is left.
    var isEmpty: Bool { level <= 0 }

    /// Whether nothing was taken, or all of it was returned.
    var isFull: Bool { level == rate.amount }

    /// Takes tokens.
    mutating func withdraw(_ count: Int, at now: UInt64) {
        fill(at: now)
        level -= count
        invariants()
    }

    /// Adds the tokens of the time that has passed.
    mutating func fill(at now: UInt64) {
        guard level < rate.amount, now > filledAt else {
            filledAt = max(filledAt, now)
            return
        }
        let missing = UInt64(rate.amount - level)
        guard let tokens = tokens(in: now - filledAt), tokens < missing else {
            level = rate.amount
            filledAt = now
            return
        }
        level += Int(tokens)
        filledAt += time(of: tokens)
        invariants()
    }

    /// Continues at another rate; what is owed stays owed.
    mutating func change(to rate: TokenRate, at now: UInt64) {
        guard rate != self.rate else { return }
        fill(at: now)
        level = isFull ? rate.amount : min(level, rate.amount)
        self.rate = rate
        filledAt = now
        invariants()
    }

    /// The time at which the user may go on, in nanoseconds; in the past if it may now.
    var readyTime: UInt64 {
        let enough = max(1, tokens(in: Self.restNanoseconds).map { Int(clamping: $0) } ?? .max)
        let goal = min(enough, rate.amount)
        guard level < goal else { return filledAt }
        return filledAt &+ time(of: UInt64(goal - level))
    }

    /// The whole tokens of a time; nil for more than any bucket has.
    private func tokens(in nanoseconds: UInt64) -> UInt64? {
        let product = nanoseconds.multipliedFullWidth(by: UInt64(rate.amount))
        guard product.high < rate.nanoseconds else { return nil }
        return rate.nanoseconds.dividingFullWidth(product).quotient
    }

    /// The time of some tokens, rounded up, so that no token is given too early.
    private func time(of tokens: UInt64) -> UInt64 {
        let amount = UInt64(rate.amount)
        let product = tokens.multipliedFullWidth(by: rate.nanoseconds)
        guard product.high < amount else { return .max / 2 }
        let (quotient, remainder) = amount.dividingFullWidth(product)
        return min(quotient, .max / 2) + (remainder > 0 ? 1 : 0)
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(level <= rate.amount, "a bucket of \(rate.amount) tokens has \(level)")
    }
}

/// The tokens of a bucket at a time, for another process on the same machine.
@WireCodable
package struct TokenLevel: Equatable, Sendable {
    /// Tokens that are left; negative if tokens are owed.
    package var level: Int
    /// Time up to which tokens were added, in nanoseconds.
    package var time: UInt64

    init(_ bucket: TokenBucket) {
        level = bucket.level
        time = bucket.filledAt
    }
}
