public import ReactorCore

/// A child of a mirrored collection: its key and its state.
///
///     let winner = runs.states.max { $0.score < $1.score }
@dynamicMemberLookup
public struct KeyedState<Key: ChildKey, State: Sendable>: Sendable, Identifiable {
    /// The key.
    public let key: Key
    /// The child's own state, without the states of the nodes below it.
    public internal(set) var state: State
    /// The key as it stands in paths.
    let name: WireKey

    init(_ name: WireKey, _ key: Key, _ state: State) {
        self.name = name
        self.key = key
        self.state = state
    }

    /// The key, which identifies the child among its siblings.
    public var id: Key { key }

    /// A field of the state.
    public subscript<Value>(dynamicMember field: KeyPath<State, Value>) -> Value {
        state[keyPath: field]
    }
}

extension KeyedState: Equatable where State: Equatable {}

/// The states of a collection's children at one revision.
///
/// *Shape*: in the order that the collection was asked for, else in that of the keys as encoded:
/// shorter texts first, then by bytes, so that integers from 0 on ascend; each key once.
///
/// *Cost*: a copy is O(1), and a look-up is a binary search. Children are in chunks of at most
/// ``chunkMax``: a change of a shared copy copies one chunk and the list of chunks.
public struct CollectionStates<Key: ChildKey, State: Sendable>: Sendable {
    public typealias Element = KeyedState<Key, State>

    // No chunk is empty, so a collection without children has no chunk.
    private var chunks: [[Element]] = []
    /// Number of children before each chunk.
    private var starts: [Int] = []
    /// Number of children.
    public private(set) var count = 0
    /// The keys in the declared order, if there is one.
    private var order: [WireKey]?

    /// Maximum children of a chunk; one more splits it in two.
    static var chunkMax: Int { 128 }

    init() {}

    /// Takes children in any order, each key once.
    init(_ children: [Element]) {
        let children = children.sorted { $0.name < $1.name }
        count = children.count
        // Half-full chunks can double before they are split.
        starts = Array(stride(from: 0, to: count, by: Self.chunkMax / 2))
        chunks = starts.map { start in
            Array(children[start..<Swift.min(start + Self.chunkMax / 2, count)])
        }
    }

    /// The state of the child under `key`; `nil` if there is none. Keys are compared by the bytes
    /// of their texts.
    public subscript(key: Key) -> State? { child(named: WireKey(key.wireKeyText))?.state }

    /// Sets the declared order: every child once, and no other.
    mutating func setOrder(_ names: [WireKey]) { order = names }

    func child(named name: WireKey) -> Element? {
        let position = position(of: name)
        return position.isFound ? chunks[position.chunk][position.index] : nil
    }
}

// MARK: - Changes
extension CollectionStates {
    /// The position of a key, or the position to insert it.
    private struct Position {
        var chunk: Int
        var index: Int
        var isFound: Bool
    }

    private func position(of name: WireKey) -> Position {
        // A key below a chunk's first key can only be in the chunk before.
        let after = chunks.firstSorted { name < $0[0].name }
        guard after > 0 else { return Position(chunk: 0, index: 0, isFound: false) }
        let chunk = chunks[after - 1]
        let index = chunk.firstSorted { !($0.name < name) }
        return Position(
            chunk: after - 1, index: index,
            isFound: index < chunk.count && chunk[index].name == name)
    }

    /// Sets a child's state; adds the child if there is none of its key.
    mutating func set(_ child: Element) {
        let position = position(of: child.name)
        if position.isFound {
            chunks[position.chunk][position.index].state = child.state
        } else {
            insert(child, at: position)
        }
    }

    /// Removes a child, if there is one of that key.
    mutating func remove(_ name: WireKey) {
        let position = position(of: name)
        guard position.isFound else { return }
        count -= 1
        chunks[position.chunk].remove(at: position.index)
        if chunks[position.chunk].isEmpty {
            chunks.remove(at: position.chunk)
            starts.remove(at: position.chunk)
        }
        countStarts(from: position.chunk)
    }

    private mutating func insert(_ child: Element, at position: Position) {
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[child]]
            starts = [0]
            return
        }
        chunks[position.chunk].insert(child, at: position.index)
        if chunks[position.chunk].count > Self.chunkMax {
            let upper = chunks[position.chunk].suffix(Self.chunkMax / 2)
            chunks[position.chunk].removeLast(upper.count)
            chunks.insert(Array(upper), at: position.chunk + 1)
            starts.insert(0, at: position.chunk + 1)
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

extension CollectionStates: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// *Cost*: O(log n).
    public subscript(position: Int) -> Element {
        if let order {
            guard let child = child(named: order[position]) else {
                preconditionFailure("the order has \(order[position]), which is no child")
            }
            return child
        }
        let chunk = starts.firstSorted { $0 > position } - 1
        return chunks[chunk][position - starts[chunk]]
    }
}

extension Array {
    /// The first index for whose element `isBehind` is true; it must be true for all later ones.
    func firstSorted(_ isBehind: (Element) -> Bool) -> Int {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                isBehind(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
