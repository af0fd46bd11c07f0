/// Ranges of a buffer, in the order in which they leave; adjacent ranges are joined.
///
/// *Shape*: the first range is stored apart from the others, as most lists have only one.
struct RangeList {
    private var first: Range<Int> = 0..<0
    private var others: [Range<Int>] = []

    var isEmpty: Bool { first.isEmpty }

    var count: Int { first.isEmpty ? 0 : 1 + others.count }

    /// Bytes in all.
    var byteCount: Int { others.reduce(first.count) { $0 + $1.count } }

    /// Appends a range, or extends the last range if that ends where the new one starts.
    mutating func append(_ range: Range<Int>) {
        if range.isEmpty { return }
        if first.isEmpty {
            first = range
        } else if others.isEmpty {
            if first.upperBound == range.lowerBound {
                first = first.lowerBound..<range.upperBound
            } else {
                others.append(range)
            }
        } else {
            appendBehind(range)
        }
    }

    private mutating func appendBehind(_ range: Range<Int>) {
        let last = others[others.count - 1]
        if last.upperBound == range.lowerBound {
            others[others.count - 1] = last.lowerBound..<range.upperBound
        } else {
            others.append(range)
        }
    }

    /// The range at an index, counted from 0.
    @inline(__always)
    subscript(index: Int) -> Range<Int> { index == 0 ? first : others[index &- 1] }

    /// Removes all ranges.
    @inline(__always)
    mutating func clear() {
        first = 0..<0
        if !others.isEmpty { others.removeAll() }
    }
}
