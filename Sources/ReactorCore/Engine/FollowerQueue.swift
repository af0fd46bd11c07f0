/// An action that the tree dispatches after the transaction that asked for it.
struct Follower {
    var path: SlicePath
    var action: WireEmbedded
    var origin: Origin
    /// Number of steps below the action that started the chain.
    var depth: Int
}

/// The followers still to run, first in, first out.
final class FollowerQueue {
    private var all: [Follower] = []
    /// Number of followers taken since the queue was empty.
    private(set) var takenCount = 0

    var isEmpty: Bool { all.isEmpty }

    func append(_ follower: Follower) { all.append(follower) }

    /// Takes the next follower; at the end `nil`, and the queue is empty.
    func next() -> Follower? {
        assert(invariants())
        guard takenCount < all.count else {
            drop()
            return nil
        }
        takenCount += 1
        return all[takenCount - 1]
    }

    /// Drops the followers that are left.
    func drop() {
        all.removeAll(keepingCapacity: true)
        takenCount = 0
        assert(invariants())
    }

    /// The taken followers are the first of all.
    func invariants() -> Bool { 0...all.count ~= takenCount }
}
