/// Counts the reactions, or the sent actions, of the transaction in progress.
struct NestingCount {
    /// Number of nested ones.
    private(set) var depth = 0
    /// Number in the transaction numbered `sequence`.
    private(set) var count = 0
    private var sequence: UInt64 = 0
    /// Maximum of ``depth``; a deeper one is not admitted.
    private let depthMax: Int
    /// Maximum of ``count``; further ones are not admitted.
    private let countMax: Int

    init(depthMax: Int, countMax: Int) {
        self.depthMax = depthMax
        self.countMax = countMax
    }

    /// Begins one in the transaction numbered `sequence`. Returns false beyond the limits.
    mutating func enter(in sequence: UInt64) -> Bool {
        if self.sequence != sequence {
            self.sequence = sequence
            count = 0
        }
        guard depth < depthMax, count < countMax else { return false }
        count += 1
        depth += 1
        assert(invariants())
        return true
    }

    /// Ends the innermost one, which does not count if it `wasIdle`.
    mutating func leave(wasIdle: Bool = false) {
        depth -= 1
        if wasIdle { count -= 1 }
        assert(invariants())
    }

    /// Restores the count of `earlier`: a transaction that was rolled back uses up nothing.
    mutating func restore(_ earlier: NestingCount) {
        sequence = earlier.sequence
        count = earlier.count
        assert(invariants())
    }

    /// The depth is within its limit.
    func invariants() -> Bool { 0...depthMax ~= depth }
}

// Reactions may mutate the child that they react to, and sent actions send others: without limits,
// the stack would overflow.
/// Counts what the transaction in progress has caused inside itself.
struct Nesting {
    var reactions = NestingCount(
        depthMax: CoreLimits.reactionDepthMax, countMax: CoreLimits.reactionsMax)
    var sends = NestingCount(depthMax: CoreLimits.sendDepthMax, countMax: CoreLimits.sendsMax)
    /// Whether a reactor decides its start.
    var isStarting = false

    /// Restores the counts of `earlier`.
    mutating func restore(_ earlier: Nesting) {
        reactions.restore(earlier.reactions)
        sends.restore(earlier.sends)
    }
}
