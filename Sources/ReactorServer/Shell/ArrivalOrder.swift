import DequeModule

/// Keys in the order of their arrival. Any key may leave early.
///
/// *Place*: finds the connection that has been silent longest, the session that disconnected first,
/// the event that was logged first. *Cost*: amortized O(1) for every operation. ``invariants()``
/// states the invariants.
struct ArrivalOrder<Key: Hashable & Sendable>: Sendable {
    // Removing an element from the middle would move half of the others. A key that leaves only
    // loses its number; its place is removed once empty places are the majority.
    private var line = Deque<(key: Key, number: UInt64)>()
    private var numbers: [Key: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    var count: Int { numbers.count }
    var isEmpty: Bool { numbers.isEmpty }
    /// The key that arrived first.
    var first: Key? { line.first?.key }
    /// Number of places, empty ones included.
    var placeCount: Int { line.count }

    func contains(_ key: Key) -> Bool { numbers[key] != nil }

    /// The keys in the order of their arrival.
    var all: [Key] { line.filter { numbers[$0.key] == $0.number }.map(\.key) }

    /// Puts a key at the end, or moves it there.
    mutating func append(_ key: Key) {
        lastNumber += 1
        numbers[key] = lastNumber
        line.append((key, lastNumber))
        dropEmptyPlaces()
    }

    /// Removes a key; returns whether it was present.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool {
        guard numbers.removeValue(forKey: key) != nil else { return false }
        dropEmptyPlaces()
        return true
    }

    /// Removes the first key.
    mutating func popFirst() -> Key? {
        guard let first else { return nil }
        remove(first)
        return first
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(numbers.count <= line.count, "a key has no place")
        assert(line.isEmpty == numbers.isEmpty, "the first place is empty")
    }

    private mutating func dropEmptyPlaces() {
        defer { invariants() }
        while let place = line.first, numbers[place.key] != place.number { line.removeFirst() }
        guard line.count > 2 * numbers.count + 16 else { return }
        let numbers = numbers
        line.removeAll { numbers[$0.key] != $0.number }
    }
}
