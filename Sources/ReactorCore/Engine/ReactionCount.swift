// A reaction may mutate the child that it reacts to; without a limit, the stack would overflow.
/// Counts the reactions of the transaction in progress.
struct ReactionCount {
    /// Number of nested reactions.
    private(set) var depth = 0
    /// Number of reactions in the transaction numbered `sequence`.
    private(set) var count = 0
    private var sequence: UInt64 = 0

    /// Begins a reaction in the transaction numbered `sequence`. Returns false beyond the limits.
    mutating func enter(in sequence: UInt64) -> Bool {
        if self.sequence != sequence {
            self.sequence = sequence
            count = 0
        }
        guard depth < CoreLimits.reactionDepthMax, count < CoreLimits.reactionsMax else {
            return false
        }
        count += 1
        depth += 1
        assert(invariants())
        return true
    }

    /// Ends the innermost reaction.
    mutating func leave() {
        depth -= 1
        assert(invariants())
    }

    /// Restores the count of `earlier`: a transaction that was rolled back uses up no reactions.
    mutating func restore(_ earlier: ReactionCount) {
        sequence = earlier.sequence
        count = earlier.count
        assert(invariants())
    }

    /// The depth is within its limit.
    func invariants() -> Bool { 0...CoreLimits.reactionDepthMax ~= depth }
}
