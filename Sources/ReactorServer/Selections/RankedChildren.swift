import ReactorWire

/// Children in the order of their sort keys, each with its position.
///
/// *Shape*: ascending; no two sort keys are equal, since each ends with the child's key. *Cost*:
/// children are in chunks of at most ``chunkMax``; an insertion or removal compares O(log n) keys,
/// moves the children of one chunk, and counts the chunks behind it.
struct RankedChildren {
    /// A child with its sort key.
    struct Entry: Equatable {
        var key: SortKey
        var name: WireKey
    }

    // No chunk is empty, so a list without children has no chunk.
    private var chunks: [[Entry]] = []
    /// Number of children before each chunk.
    private var starts: [Int] = []
    /// Number of children.
    private(set) var count = 0
    /// Bytes of the children's sort keys and keys.
    private(set) var byteCount = 0

    /// Maximum children of a chunk; one more splits it in two.
    static let chunkMax = 256

    init() {}

    /// Takes children in any order.
    init(_ entries: [Entry]) {
        let entries = entries.sorted { $0.key < $1.key }
        count = entries.count
        byteCount = entries.reduce(0) { $0 + Self.byteCount(of: $1) }
        // Half-full chunks can double before they are split.
        starts = Array(stride(from: 0, to: count, by: Self.chunkMax / 2))
        chunks = starts.map { Array(entries[$0..<min($0 + Self.chunkMax / 2, entries.count)]) }
    }

    // The sort key is in the list and, by the child's key, beside it.
    private static func byteCount(of entry: Entry) -> Int {
        2 * (entry.key.bytes.count + entry.name.text.utf8.count) + 128
    }

    /// The child at a position. *Cost*: O(log n).
    subscript(position: Int) -> Entry {
        let chunk = Self.firstIndex(starts.count) { starts[$0] > position } - 1
        return chunks[chunk][position - starts[chunk]]
    }

    /// The first `countMax` children.
    func prefix(_ countMax: Int) -> [WireKey] { chunks.joined().prefix(countMax).map(\.name) }

    /// The position of a child of this sort key, which must be in the list.
    func position(of key: SortKey) -> Int {
        let (chunk, index) = location(of: key)
        return starts[chunk] + index
    }

    private func location(of key: SortKey) -> (chunk: Int, index: Int) {
        let chunk = max(0, Self.firstIndex(chunks.count) { key < chunks[$0][0].key } - 1)
        return (chunk, Self.firstIndex(chunks[chunk].count) { !(chunks[chunk][$0].key < key) })
    }

    /// Adds a child; returns its position.
    mutating func insert(_ entry: Entry) -> Int {
        count += 1
        byteCount += Self.byteCount(of: entry)
        guard !chunks.isEmpty else {
            (chunks, starts) = ([[entry]], [0])
            return 0
        }
        let (chunk, index) = location(of: entry.key)
        let position = starts[chunk] + index
        chunks[chunk].insert(entry, at: index)
        if chunks[chunk].count > Self.chunkMax {
            let upper = chunks[chunk].suffix(Self.chunkMax / 2)
            chunks[chunk].removeLast(upper.count)
            chunks.insert(Array(upper), at: chunk + 1)
            starts.insert(0, at: chunk + 1)
        }
        countStarts(behind: chunk)
        return position
    }

    /// Removes the child of this sort key, which must be in the list; returns its position.
    mutating func remove(_ key: SortKey) -> Int {
        let (chunk, index) = location(of: key)
        precondition(chunks[chunk][index].key == key, "a child is removed that is not in the list")
        let position = starts[chunk] + index
        byteCount -= Self.byteCount(of: chunks[chunk].remove(at: index))
        count -= 1
        if chunks[chunk].isEmpty {
            chunks.remove(at: chunk)
            starts.remove(at: chunk)
        }
        countStarts(behind: max(chunk - 1, 0))
        return position
    }

    /// Gives the child of the sort key `old` another one, if it stays between its neighbours.
    /// Returns whether it does.
    mutating func change(_ old: SortKey, to new: SortKey) -> Bool {
        let (chunk, index) = location(of: old)
        let position = starts[chunk] + index
        if position > 0, !(self[position - 1].key < new) { return false }
        if position + 1 < count, !(new < self[position + 1].key) { return false }
        byteCount += 2 * (new.bytes.count - old.bytes.count)
        chunks[chunk][index].key = new
        return true
    }

    private mutating func countStarts(behind chunk: Int) {
        if starts.isEmpty { return }
        starts[0] = 0
        for index in (chunk + 1)..<max(chunks.count, chunk + 1) {
            starts[index] = starts[index - 1] + chunks[index - 1].count
        }
    }

    /// The first of `count` indices for which `isBehind` is true; it must be true for all later
    /// ones.
    private static func firstIndex(_ count: Int, _ isBehind: (Int) -> Bool) -> Int {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isBehind(middle) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
