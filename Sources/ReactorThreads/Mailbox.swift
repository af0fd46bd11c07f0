/// A queue that any thread fills and one thread empties, with a doorbell.
///
/// *Place*: between a loop and other threads. The doorbell (`ring`) wakes the owner; several rings
/// may count as one, so the data is in the queue.
///
/// *Shape*: first in, first out per posting thread. Unbounded: a caller that posts for a peer must
/// bound it.
package final class Mailbox<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let lock = Lock()
    @usableFromInline var queue: [Element] = []
    @usableFromInline let ring: @Sendable () -> Void

    /// Makes an empty mailbox that wakes its owner with `ring`.
    ///
    /// `ring` runs on the posting thread, outside the lock.
    package init(ring: @escaping @Sendable () -> Void) {
        self.ring = ring
    }

    /// Appends `element`, and rings if the queue was empty.
    ///
    /// One ring is enough, since the owner takes all elements each time.
    @inlinable
    package func post(_ element: Element) {
        let wasEmpty = lock.withLock {
            queue.append(element)
            return queue.count == 1
        }
        if wasEmpty { ring() }
    }

    /// Whether the queue is empty.
    package var isEmpty: Bool { lock.withLock { queue.isEmpty } }

    /// Takes all elements posted so far, in order.
    @inlinable
    package func drain() -> [Element] {
        var taken: [Element] = []
        drain(into: &taken)
        return taken
    }

    /// Swaps all elements posted so far into `taken`, which must be empty.
    ///
    /// *Cost*: one lock for all elements, and no allocation if the owner returns an emptied array
    /// with its capacity.
    @inlinable
    package func drain(into taken: inout [Element]) {
        precondition(taken.isEmpty, "a mailbox drains into an empty array, not \(taken.count) old")
        lock.withLock { swap(&queue, &taken) }
    }
}
