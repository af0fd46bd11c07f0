/// How many letters two names differ by: for suggestions in errors.
enum EditDistance {
    /// Levenshtein distance over bytes. *Cost*: the product of the lengths, cut at 256 bytes each.
    static func between(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8.prefix(256))
        let right = Array(right.utf8.prefix(256))
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let substituted = diagonal + (byte == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substituted, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
