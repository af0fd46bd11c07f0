/// Values by numbers that the program itself assigns.
///
/// *Place*: each write of the daemon looks its connection up, by the number that the daemon gave it. A
/// dictionary's hash is protected against peers that choose colliding keys, and costs more than the
/// rest of such a look-up. Numbers that are assigned in ascending order need no such protection.
///
/// *Invariants*: the number of slots is 0 or a power of two, and at most half of them are occupied.
/// No slot is empty between the slot that a number hashes to and the slot that contains it.
@usableFromInline package struct NumberTable<Value> {
    @usableFromInline
    struct Entry {
        @usableFromInline let number: UInt64
        @usableFromInline var value: Value

        @usableFromInline
        init(_ number: UInt64, _ value: Value) {
            self.number = number
            self.value = value
        }
    }

    @usableFromInline var slots: [Entry?] = []
    @usableFromInline var occupied = 0

    /// Minimum number of slots of a table that is not empty.
    @usableFromInline static var slotsMin: Int { 16 }

    /// Makes an empty table.
    @inlinable package init() {}

    /// Number of values.
    @inlinable package var count: Int { occupied }

    /// Whether it has no values.
    @inlinable package var isEmpty: Bool { occupied == 0 }

    /// All values, in no particular order.
    @inlinable package var values: [Value] { slots.compactMap { $0?.value } }

    /// The value of a number; nil if there is none.
    @inlinable
    package subscript(number: UInt64) -> Value? {
        guard !slots.isEmpty else { return nil }
        return slots[index(of: number)]?.value
    }

    /// Stores the value of `number`. Returns the replaced value; nil if the number is new.
    @inlinable
    @discardableResult
    package mutating func insert(_ value: Value, at number: UInt64) -> Value? {
        if (occupied + 1) * 2 > slots.count { grow() }
        let index = index(of: number)
        let former = slots[index]?.value
        if former == nil { occupied += 1 }
        slots[index] = Entry(number, value)
        return former
    }

    /// Removes and returns the value of `number`; nil if there is none.
    @inlinable
    @discardableResult
    package mutating func remove(at number: UInt64) -> Value? {
        guard !slots.isEmpty else { return nil }
        var index = index(of: number)
        guard let removed = slots[index]?.value else { return nil }
        slots[index] = nil
        occupied -= 1
        // The entries after the gap, up to the next empty slot, may have been placed there because
        // this slot was occupied.
        index = next(index)
        while let entry = slots[index] {
            slots[index] = nil
            slots[self.index(of: entry.number)] = entry
            index = next(index)
        }
        return removed
    }

    @usableFromInline
    mutating func grow() {
        let entries = slots.compactMap { $0 }
        slots = Array(repeating: nil, count: max(Self.slotsMin, slots.count * 2))
        for entry in entries { slots[index(of: entry.number)] = entry }
    }

    /// Returns the slot that contains `number`, or the empty slot for it.
    @inlinable
    func index(of number: UInt64) -> Int {
        // Multiplication by 2^64 divided by the golden ratio distributes numbers with equal
        // distances evenly over the slots.
        let spread = (number &* 0x9e37_79b9_7f4a_7c15) &>> 32
        var index = Int(truncatingIfNeeded: spread) & (slots.count &- 1)
        while let entry = slots[index], entry.number != number { index = next(index) }
        return index
    }

    @inlinable
    func next(_ index: Int) -> Int { (index &+ 1) & (slots.count &- 1) }
}
