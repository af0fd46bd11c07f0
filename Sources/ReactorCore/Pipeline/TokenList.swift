/// A list of elements, each of which can be removed by a number.
struct TokenList<Element> {
    // Separate from their numbers: each action walks over the elements and needs no number.
    /// The elements, in the order of their addition.
    private(set) var elements: [Element] = []
    private var ids: [UInt64] = []
    private var lastID: UInt64 = 0

    // Stored: asking an array of a generic type costs a hundred times as much.
    private(set) var isEmpty = true

    /// Adds `element` at the end and returns the number that removes it.
    mutating func add(_ element: Element) -> UInt64 {
        lastID += 1
        ids.append(lastID)
        elements.append(element)
        isEmpty = false
        return lastID
    }

    mutating func remove(_ id: UInt64) {
        guard let index = ids.firstIndex(of: id) else { return }
        ids.remove(at: index)
        elements.remove(at: index)
        isEmpty = ids.isEmpty
    }
}
