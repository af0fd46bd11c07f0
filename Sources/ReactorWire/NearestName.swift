/// The known name that a mistyped one most likely meant.
///
/// *Place*: whatever refuses an unknown name (a key, a path, a case, a field) offers this one.
public enum NearestName {
    /// Longest name that is compared, in characters; because the cost is quadratic and the names
    /// may come from a peer.
    static let charactersMax = 64

    /// The candidate with the fewest typing slips from `name`, if it is near enough to be meant.
    ///
    /// A slip is one character more, less or different, or two neighbours swapped; letter case
    /// does not count. At most a third of the characters may be slips.
    ///
    /// *Cost*: length of `name` times length of all candidates.
    public static func of(_ name: String, among candidates: some Sequence<String>) -> String? {
        let typed = Array(name.lowercased())
        guard !typed.isEmpty, typed.count <= charactersMax else { return nil }
        var best: (name: String, slips: Int)?
        for candidate in candidates {
            let known = Array(candidate.lowercased())
            let allowed = max(1, min(typed.count, known.count) / 3)
            // because lengths alone already tell that most candidates are too far
            guard abs(typed.count - known.count) <= allowed else { continue }
            let slips = slips(from: typed, to: known)
            if slips <= allowed, slips < best?.slips ?? .max { best = (candidate, slips) }
        }
        return best?.name
    }

    /// Edit distance with swaps of neighbours (optimal string alignment), in three rows.
    private static func slips(from typed: [Character], to known: [Character]) -> Int {
        var beforeLast = [Int](repeating: 0, count: known.count + 1)
        var last = Array(0...known.count)
        for row in typed.indices {
            var current = [row + 1]
            for column in known.indices {
                let substituted = last[column] + (typed[row] == known[column] ? 0 : 1)
                var fewest = min(substituted, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, typed[row] == known[column - 1],
                    typed[row - 1] == known[column]
                {
                    fewest = min(fewest, beforeLast[column - 1] + 1)
                }
                current.append(fewest)
            }
            (beforeLast, last) = (last, current)
        }
        return last[known.count]
    }
}
