import DequeModule

/// One queue per owner; owners take turns, so that an owner with many elements delays another owner
/// by one element only.
///
///     var queue = RoundRobin<UInt32, Question>()
///     queue.append(question, of: peer.uid)
///     while let (uid, question) = queue.popFirst() { … }
///
/// *Place*: requests that wait for the loop, for its helper thread, or for a thread that reads the
/// journal, by uid. *Shape*: first in, first out for each owner. The caller bounds the number of
/// elements. ``invariants()`` states the invariants.
package struct RoundRobin<Owner: Hashable, Element> {
    private var queues: [Owner: Deque<Element>] = [:]
    /// Owners with elements, in the order of their next turns.
    private var owners: Deque<Owner> = []
    /// Number of elements of all owners.
    package private(set) var count = 0

    /// Makes empty queues.
    package init() {}

    /// Whether no owner has an element.
    package var isEmpty: Bool { count == 0 }

    /// Whether an owner has an element.
    package func contains(_ owner: Owner) -> Bool { queues[owner] != nil }

    /// Number of owners with elements.
    package var ownerCount: Int { owners.count }

    /// Appends an element to the queue of its owner.
    package mutating func append(_ element: Element, of owner: Owner) {
        if queues[owner] == nil { owners.append(owner) }
        queues[owner, default: []].append(element)
        count += 1
        invariants()
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(owners.count == queues.count, "an owner has no turn, or two")
        assert(
            queues.count > 32
                || queues.values.reduce(0) { $0 + $1.count } == count
                    && queues.values.allSatisfy { !$0.isEmpty },
            "\(count) elements are not the sum of all owners'")
    }

    /// Takes the oldest element of the owner whose turn it is.
    package mutating func popFirst() -> (owner: Owner, element: Element)? {
        popFirst { _ in true }
    }

    /// Takes the oldest element of the first owner for which `mayGo` returns true. *Cost*: O(owners
    /// for which it returns false).
    package mutating func popFirst(
        where mayGo: (Owner) -> Bool
    ) -> (owner: Owner, element: Element)? {
        guard let index = owners.firstIndex(where: mayGo) else { return nil }
        let owner = owners.remove(at: index)
        guard let element = queues[owner]?.popFirst() else { return nil }
        count -= 1
        if queues[owner]?.isEmpty ?? true {
            queues[owner] = nil
        } else {
            owners.append(owner)
        }
        invariants()
        return (owner, element)
    }

    /// Puts an unfinished element first in its owner's queue; the owner's turn is over.
    package mutating func putBack(_ element: Element, of owner: Owner) {
        if queues[owner] == nil { owners.append(owner) }
        queues[owner, default: []].prepend(element)
        count += 1
        invariants()
    }

    /// Puts back an element that was not processed: its owner has the next turn.
    package mutating func restore(_ element: Element, of owner: Owner) {
        if queues[owner] != nil { owners.removeAll { $0 == owner } }
        owners.prepend(owner)
        queues[owner, default: []].prepend(element)
        count += 1
        invariants()
    }

    /// Removes and returns the elements for which `isWanted` returns true, in any order.
    package mutating func removeAll(where isWanted: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        for owner in owners {
            guard var queue = queues[owner], queue.contains(where: isWanted) else { continue }
            removed += queue.filter(isWanted)
            queue.removeAll(where: isWanted)
            queues[owner] = queue.isEmpty ? nil : queue
        }
        guard !removed.isEmpty else { return [] }
        count -= removed.count
        owners.removeAll { queues[$0] == nil }
        invariants()
        return removed
    }
}
