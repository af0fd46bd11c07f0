/// Finds the known name closest to a misspelt one, for the remedy in an error.
package enum NearestName {
    /// Maximum length of a compared name in bytes: the cost grows with the product of two lengths.
    package static let nameBytesMax = 128

    /// The name among `known` with the fewest edits to `name`; `nil` if every one needs changes in
    /// more than a third of it.
    ///
    /// A difference in case is no edit; a swap of two neighbours is one edit.
    package static func of(_ name: String, among known: some Sequence<String>) -> String? {
        let wanted = folded(name)
        guard !wanted.isEmpty, wanted.count <= nameBytesMax else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in known {
            let folded = folded(candidate)
            let limit = max(1, max(wanted.count, folded.count) / 3)
            guard folded.count <= nameBytesMax, abs(folded.count - wanted.count) <= limit else {
                continue
            }
            let distance = distance(wanted, folded)
            if distance <= limit, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    private static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }
    }

    /// The fewest insertions, deletions, replacements and swaps of neighbours between two names.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var fewest = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    fewest = min(fewest, beforeLast[column - 1] + 1)
                }
                current.append(fewest)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
