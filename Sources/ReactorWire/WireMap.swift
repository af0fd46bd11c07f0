/// A map from text to any values, its keys compared byte by byte.
///
/// *Shape*: pairs in ascending order of their encoded keys (the shorter first, then by bytes),
/// every key once: equal maps have equal bytes.
///
/// *Cost*: a lookup is a binary search; inserting moves the pairs behind, which suits the maps of
/// a message. A reactor's state with many keys has a type of its own for that.
public struct WireMap: Sendable {
    /// A key and its value.
    public struct Pair: Hashable, Sendable {
        public var key: WireKey
        public var value: WireValue

        public init(key: WireKey, value: WireValue) {
            self.key = key
            self.value = value
        }
    }

    /// The pairs in ascending order of their keys.
    public private(set) var pairs: [Pair]

    /// Makes an empty map.
    public init() { pairs = [] }

    /// Makes a map of `pairs` in any order.
    ///
    /// *Throws*: the key that stands twice. *Cost*: sorts only where the order is not ascending.
    public init(_ pairs: [Pair]) throws(DuplicateKey) {
        self.pairs = pairs
        if zip(pairs, pairs.dropFirst()).allSatisfy({ $0.key < $1.key }) { return }
        self.pairs.sort { $0.key < $1.key }
        for index in self.pairs.indices.dropFirst()
        where self.pairs[index].key == self.pairs[index - 1].key {
            throw DuplicateKey(key: self.pairs[index].key)
        }
    }

    /// The same key twice, compared by bytes.
    public struct DuplicateKey: Error, Equatable, CustomStringConvertible {
        public var key: WireKey

        public init(key: WireKey) { self.key = key }

        public var description: String { "key \(key.text.quoted()) stands twice" }
    }

    /// The value of `key`; setting `nil` removes it.
    public subscript(key: WireKey) -> WireValue? {
        get {
            let index = insertionIndex(of: key)
            return isFound(key, at: index) ? pairs[index].value : nil
        }
        set {
            let index = insertionIndex(of: key)
            switch (isFound(key, at: index), newValue) {
            case (true, let value?): pairs[index].value = value
            case (true, nil): pairs.remove(at: index)
            case (false, let value?): pairs.insert(Pair(key: key, value: value), at: index)
            case (false, nil): break
            }
        }
    }

    /// The keys in ascending order.
    public var keys: some RandomAccessCollection<WireKey> { pairs.lazy.map(\.key) }

    private func isFound(_ key: WireKey, at index: Int) -> Bool {
        index < pairs.count && pairs[index].key == key
    }

    /// Where `key` stands, or would stand.
    private func insertionIndex(of key: WireKey) -> Int {
        var range = pairs.startIndex..<pairs.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if pairs[middle].key < key {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}

extension WireMap: Hashable {}

extension WireMap: RandomAccessCollection {
    public var startIndex: Int { pairs.startIndex }
    public var endIndex: Int { pairs.endIndex }
    public subscript(position: Int) -> Pair { pairs[position] }
}

extension WireMap: ExpressibleByDictionaryLiteral {
    /// *Traps* if a key stands twice.
    public init(dictionaryLiteral elements: (WireKey, WireValue)...) {
        do throws(DuplicateKey) {
            self = try WireMap(elements.map { Pair(key: $0, value: $1) })
        } catch {
            preconditionFailure(error.description)
        }
    }
}
