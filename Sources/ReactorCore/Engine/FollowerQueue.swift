/// A request to dispatch an action after the current transaction.
struct FollowerRequest {
    /// Finds a target whose type is known, and returns the number of its node.
    typealias Find = () throws(MissingNode) -> UInt32

    /// The number of the node whose reactor asked, and decides what follows from a refusal.
    var asker: UInt32?
    /// The target; if `find` looks for it, a node on the way there.
    var path: SlicePath
    var action: WireEmbedded
    var find: Find?
}

/// The node of an action does not exist, or is of another type.
struct MissingNode: Error {
    let path: SlicePath
    let rejection: Rejection

    init(_ path: SlicePath, _ rejection: Rejection) {
        self.path = path
        self.rejection = rejection
    }

    init(_ path: SlicePath) {
        self.init(path, Rejection(.notFound, "\(path): no such node"))
    }
}

/// An action that the tree dispatches after the transaction that asked for it.
struct Follower {
    var request: FollowerRequest
    var origin: Origin
    /// Number of steps below the action that started the chain.
    var depth: Int
}

/// The refusal of a follower, for the reactor that dispatched it.
public struct FollowerRefusal: Sendable {
    /// The path that the follower was for. If no reactor is there, the path of the first node that
    /// is missing.
    public let path: SlicePath
    /// The reason. An action that its target cannot read is refused as `DECODE`.
    public let rejection: Rejection
    let action: WireEmbedded

    /// The name of the action's case; `nil` if the action is not an enum.
    public var actionName: String? {
        switch try? action.decode(as: WireValue.self) {
        case .text(let name): name
        case .map(let cases): cases.count == 1 ? cases.first?.key.text : nil
        default: nil
        }
    }
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
