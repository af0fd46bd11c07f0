/// Things that were added one after another, each of which can be taken away again.
struct TokenList<Element> {
    // because each action goes through all of them, and none looks at a number
    /// The elements, in the order in which they were added.
    private(set) var elements: [Element] = []
    private var ids: [UInt64] = []
    private var lastID: UInt64 = 0

    // because asking an array of a generic type costs a hundred times as much
    private(set) var isEmpty = true

    /// Adds `element` behind the others, and gives the number by which it is removed.
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
