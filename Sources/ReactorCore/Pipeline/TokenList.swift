/// Things that were added one after another, each of which can be taken away again.
struct TokenList<Element> {
    private(set) var entries: [(id: UInt64, element: Element)] = []
    private var lastID: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Adds `element` behind the others, and gives the number by which it is removed.
    mutating func add(_ element: Element) -> UInt64 {
        lastID += 1
        entries.append((lastID, element))
        return lastID
    }

    mutating func remove(_ id: UInt64) { entries.removeAll { $0.id == id } }

    /// The elements, in the order in which they were added.
    var elements: [Element] { entries.map(\.element) }
}
