import ReactorServer

/// The sockets of a server's connections, by connection number.
///
/// *Place*: each write looks its socket up. A dictionary's hash is protected against peers that
/// choose colliding keys, and costs more than the rest of the look-up. These numbers are assigned
/// by the daemon in ascending order and need no such protection.
///
/// *Invariants*: the number of slots is 0 or a power of two, and at most half of them are occupied.
/// No slot is empty between the slot that a number hashes to and the slot that contains it.
struct LinkTable<Link> {
    private struct Entry {
        let id: ConnectionID
        var link: Link
    }

    private var slots: [Entry?] = []
    /// Number of sockets.
    private(set) var count = 0

    /// Minimum number of slots of a table that is not empty.
    private static var slotsMin: Int { 16 }

    /// Whether it has no sockets.
    var isEmpty: Bool { count == 0 }

    /// All sockets, in no particular order.
    var all: [Link] { slots.compactMap { $0?.link } }

    /// The socket of a connection; nil if there is none.
    subscript(id: ConnectionID) -> Link? {
        guard !slots.isEmpty else { return nil }
        return slots[index(of: id)]?.link
    }

    /// Stores `link` at `id`, replacing an existing one.
    mutating func insert(_ link: Link, at id: ConnectionID) {
        if (count + 1) * 2 > slots.count { grow() }
        let index = index(of: id)
        if slots[index] == nil { count += 1 }
        slots[index] = Entry(id: id, link: link)
    }

    /// Removes the socket at `id`, if there is one.
    mutating func remove(at id: ConnectionID) {
        guard !slots.isEmpty else { return }
        var index = index(of: id)
        guard slots[index] != nil else { return }
        slots[index] = nil
        count -= 1
        // The entries after the gap, up to the next empty slot, may have been placed there because
        // this slot was occupied.
        index = next(index)
        while let entry = slots[index] {
            slots[index] = nil
            slots[self.index(of: entry.id)] = entry
            index = next(index)
        }
    }

    private mutating func grow() {
        let entries = slots.compactMap { $0 }
        slots = Array(repeating: nil, count: max(Self.slotsMin, slots.count * 2))
        for entry in entries { slots[index(of: entry.id)] = entry }
    }

    /// Returns the slot that contains `id`, or the empty slot for it.
    private func index(of id: ConnectionID) -> Int {
        // Multiplication by 2^64 divided by the golden ratio distributes numbers with equal
        // distances evenly over the slots.
        let spread = (id.rawValue &* 0x9e37_79b9_7f4a_7c15) &>> 32
        var index = Int(truncatingIfNeeded: spread) & (slots.count &- 1)
        while let entry = slots[index], entry.id != id { index = next(index) }
        return index
    }

    private func next(_ index: Int) -> Int { (index &+ 1) & (slots.count &- 1) }
}
