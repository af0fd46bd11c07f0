/// What waits, the first in front.
///
/// *Cost*: O(1), on average over many.
struct WaitingLine<Element> {
    private var back: [Element] = []
    /// Those in front, the first of them last.
    private var front: [Element] = []

    var count: Int { back.count + front.count }
    var isEmpty: Bool { back.isEmpty && front.isEmpty }

    mutating func append(_ element: Element) { back.append(element) }

    /// Takes the first away.
    mutating func popFirst() -> Element? {
        if front.isEmpty {
            front = back.reversed()
            back.removeAll()
        }
        return front.popLast()
    }
}
