/// A queue that any thread fills and one thread empties, with a doorbell.
///
/// *Place*: between a loop and everything that is not on its thread. The doorbell (`ring`) wakes
/// the owner; it coalesces, so it carries no data: the queue does.
///
/// *Shape*: first in, first out per posting thread. Unbounded: whoever posts on behalf of a peer
/// bounds it before.
public final class Mailbox<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let lock = Lock()
    @usableFromInline var queue: [Element] = []
    @usableFromInline let ring: @Sendable () -> Void

    /// Makes an empty mailbox whose owner is woken by `ring`.
    ///
    /// `ring` runs on the posting thread, outside the lock.
    public init(ring: @escaping @Sendable () -> Void) {
        self.ring = ring
    }

    /// Appends `element`, and rings if the queue was empty.
    ///
    /// One ring per emptying is enough, because the owner takes all there is each time.
    @inlinable
    public func post(_ element: Element) {
        let wasEmpty = lock.withLock {
            queue.append(element)
            return queue.count == 1
        }
        if wasEmpty { ring() }
    }

    /// Whether nothing waits to be taken.
    public var isEmpty: Bool { lock.withLock { queue.isEmpty } }

    /// Takes everything posted so far, in order.
    @inlinable
    public func drain() -> [Element] {
        var taken: [Element] = []
        drain(into: &taken)
        return taken
    }

    /// Swaps everything posted so far into `taken`, which must be empty.
    ///
    /// *Cost*: one lock for all elements, and no allocation when the owner gives back an emptied
    /// array that kept its capacity.
    @inlinable
    public func drain(into taken: inout [Element]) {
        precondition(taken.isEmpty, "a mailbox drains into an empty array, not \(taken.count) old")
        lock.withLock { swap(&queue, &taken) }
    }
}
