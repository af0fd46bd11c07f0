/// A map with text keys, compared byte by byte, and any values.
///
/// *Shape*: pairs in ascending order of their encoded keys (shorter ones first, then by bytes),
/// each key once: equal maps have equal bytes.
///
/// *Cost*: a look-up is a binary search. Pairs are in chunks of at most ``chunkMax``: a change
/// moves the pairs of one chunk; if the map is shared, it copies that chunk and the list of chunks,
/// not the rest.
public struct WireMap: Sendable {
    /// A key and its value.
    public struct Pair: Hashable, Sendable {
        /// The key.
        public var key: WireKey
        /// The value under the key.
        public var value: WireValue

        /// Makes a pair.
        public init(key: WireKey, value: WireValue) {
            self.key = key
            self.value = value
        }
    }

    // No chunk is empty, so an empty map has no chunk.
    private var chunks: [[Pair]]
    /// Number of pairs before each chunk.
    private var starts: [Int]
    /// Number of pairs.
    public private(set) var count: Int

    /// Maximum pairs of a chunk; one more splits it in two.
    static let chunkMax = 512

    /// Makes an empty map.
    public init() {
        chunks = []
        starts = []
        count = 0
    }

    /// Makes a map of `pairs` in any order.
    ///
    /// *Throws*: a key that occurs twice. *Cost*: sorts only if the order is not ascending.
    public init(_ pairs: [Pair]) throws(DuplicateKey) {
        if zip(pairs, pairs.dropFirst()).allSatisfy({ $0.key < $1.key }) {
            self.init(ordered: pairs)
            return
        }
        let ordered = pairs.sorted { $0.key < $1.key }
        for index in ordered.indices.dropFirst() where ordered[index].key == ordered[index - 1].key
        {
            throw DuplicateKey(key: ordered[index].key)
        }
        self.init(ordered: ordered)
    }

    private init(ordered pairs: [Pair]) {
        count = pairs.count
        guard pairs.count > Self.chunkMax else {
            chunks = pairs.isEmpty ? [] : [pairs]
            starts = pairs.isEmpty ? [] : [0]
            return
        }
        // Half-full chunks can double before they are split.
        starts = Array(stride(from: 0, to: pairs.count, by: Self.chunkMax / 2))
        chunks = starts.map { start in
            Array(pairs[start..<Swift.min(start + Self.chunkMax / 2, pairs.count)])
        }
    }

    /// The pairs in ascending order of their keys. *Cost*: O(n) with more than one chunk.
    package var pairs: [Pair] { chunks.count == 1 ? chunks[0] : Array(chunks.joined()) }

    /// The same key twice, compared by bytes.
    public struct DuplicateKey: Error, Equatable, CustomStringConvertible {
        /// The key.
        public var key: WireKey

        /// Makes an error about this key.
        package init(key: WireKey) { self.key = key }

        public var description: String { "key \(key.text.quoted()) occurs twice" }
    }

    /// The value of `key`; setting `nil` removes it.
    public subscript(key: WireKey) -> WireValue? {
        get {
            let position = position(of: key)
            return position.isFound ? chunks[position.chunk][position.index].value : nil
        }
        set {
            let position = position(of: key)
            switch (position.isFound, newValue) {
            case (true, let value?): chunks[position.chunk][position.index].value = value
            case (true, nil): remove(at: position)
            case (false, let value?): insert(Pair(key: key, value: value), at: position)
            case (false, nil): break
            }
        }
    }

    /// The keys in ascending order.
    public var keys: some RandomAccessCollection<WireKey> { lazy.map(\.key) }

    /// Changes the value of `key` in place. Returns `nil` if there is none.
    mutating func change<Result>(
        _ key: WireKey, _ body: (inout WireValue) -> Result
    ) -> Result? {
        let position = position(of: key)
        return position.isFound ? body(&chunks[position.chunk][position.index].value) : nil
    }
}

// MARK: - Chunks
extension WireMap {
    /// The position of a key, or the position to insert it.
    private struct Position {
        var chunk: Int
        var index: Int
        var isFound: Bool
    }

    private func position(of key: WireKey) -> Position {
        // A key below a chunk's first key can only be in the chunk before.
        let after = Self.firstIndex(chunks.count) { key < chunks[$0][0].key }
        guard after > 0 else { return Position(chunk: 0, index: 0, isFound: false) }
        let chunk = chunks[after - 1]
        let index = Self.firstIndex(chunk.count) { !(chunk[$0].key < key) }
        return Position(
            chunk: after - 1, index: index,
            isFound: index < chunk.count && chunk[index].key == key)
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

    private mutating func insert(_ pair: Pair, at position: Position) {
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[pair]]
            starts = [0]
            return
        }
        chunks[position.chunk].insert(pair, at: position.index)
        if chunks[position.chunk].count > Self.chunkMax {
            let upper = chunks[position.chunk].suffix(Self.chunkMax / 2)
            chunks[position.chunk].removeLast(upper.count)
            chunks.insert(Array(upper), at: position.chunk + 1)
            starts.insert(0, at: position.chunk + 1)
        }
        countStarts(from: position.chunk)
    }

    private mutating func remove(at position: Position) {
        count -= 1
        chunks[position.chunk].remove(at: position.index)
        if chunks[position.chunk].isEmpty {
            chunks.remove(at: position.chunk)
            starts.remove(at: position.chunk)
        }
        countStarts(from: position.chunk)
    }

    private mutating func countStarts(from chunk: Int) {
        for index in Swift.max(chunk, 1)..<Swift.max(chunks.count, 1) {
            starts[index] = starts[index - 1] + chunks[index - 1].count
        }
        if !starts.isEmpty { starts[0] = 0 }
    }
}

extension WireMap: Hashable {
    public static func == (left: WireMap, right: WireMap) -> Bool {
        left.count == right.count && left.elementsEqual(right)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for pair in self { hasher.combine(pair) }
    }
}

extension WireMap: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// *Cost*: O(log n).
    public subscript(position: Int) -> Pair {
        let chunk =
            chunks.count == 1 ? 0 : Self.firstIndex(starts.count) { starts[$0] > position } - 1
        return chunks[chunk][position - starts[chunk]]
    }

    public func makeIterator() -> FlattenSequence<[[Pair]]>.Iterator {
        chunks.joined().makeIterator()
    }
}

extension WireMap: ExpressibleByDictionaryLiteral {
    /// *Traps* if a key occurs twice.
    public init(dictionaryLiteral elements: (WireKey, WireValue)...) {
        do throws(DuplicateKey) {
            self = try WireMap(elements.map { Pair(key: $0, value: $1) })
        } catch {
            preconditionFailure(error.description)
        }
    }
}
