import DequeModule

/// Keys in the order in which they came, any of which may leave before its turn.
///
/// *Place*: who has been silent longest, whose session was left first, what was logged first.
/// *Cost*: every operation is O(1), on average over many.
struct ArrivalOrder<Key: Hashable & Sendable>: Sendable {
    // because taking an element out of the middle moves half of the others: who leaves loses the
    // number alone, and empty places go once they are the most
    private var line = Deque<(key: Key, number: UInt64)>()
    private var numbers: [Key: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    var count: Int { numbers.count }
    var isEmpty: Bool { numbers.isEmpty }
    /// The key that came first of those that are here.
    var first: Key? { line.first?.key }
    /// Places that are held, empty ones included.
    var placeCount: Int { line.count }

    func contains(_ key: Key) -> Bool { numbers[key] != nil }

    /// The keys, the first in front.
    var all: [Key] { line.filter { numbers[$0.key] == $0.number }.map(\.key) }

    /// Puts a key at the end, also one that is here already.
    mutating func append(_ key: Key) {
        lastNumber += 1
        numbers[key] = lastNumber
        line.append((key, lastNumber))
        dropEmptyPlaces()
    }

    /// Takes a key away; says whether it was here.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool {
        guard numbers.removeValue(forKey: key) != nil else { return false }
        dropEmptyPlaces()
        return true
    }

    /// Takes the first key away.
    mutating func popFirst() -> Key? {
        guard let first else { return nil }
        remove(first)
        return first
    }

    private mutating func dropEmptyPlaces() {
        while let place = line.first, numbers[place.key] != place.number { line.removeFirst() }
        guard line.count > 2 * numbers.count + 16 else { return }
        let numbers = numbers
        line.removeAll { numbers[$0.key] != $0.number }
    }
}
