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

/// What a transaction leaves for the transactions directly after it.
enum FollowerWork {
    /// Dispatches an action.
    case action(FollowerRequest)
    /// Lets the reactor of node `asker` decide what follows from a part of its decision that was
    /// left out; otherwise `report` goes to the log.
    case refusal(FollowerRefusal, asker: UInt32, report: String)

    /// The path of the action's target.
    var path: SlicePath {
        switch self {
        case .action(let request): request.path
        case .refusal(let refusal, _, _): refusal.path
        }
    }
}

/// Work that the tree does after the transaction that asked for it.
struct Follower {
    var work: FollowerWork
    var origin: Origin
    /// Number of steps below the action that started the chain.
    var depth: Int
}

/// The refusal of a reactor's request to another reactor: of a follower, or of a part of a decision
/// that cannot be refused itself, such as a reaction; or of the whole of such a decision.
public struct FollowerRefusal: Sendable {
    /// The path of the reactor that was asked. If no reactor is there, the path of the first node
    /// that is missing. For a decision that was left out as a whole, the path of its reactor.
    public let path: SlicePath
    /// The reason. An action that its target cannot read is refused as `DECODE`; a follower beyond
    /// ``CoreLimits/followerDepthMax`` or ``CoreLimits/followersMax`` as `LOOP`.
    public let rejection: Rejection
    let action: WireEmbedded?

    /// The name of the action's case; `nil` if the action is not an enum, for the creation, the
    /// mutation or the restart of a child, and for a whole decision.
    public var actionName: String? {
        switch try? action?.decode(as: WireValue.self) {
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
            empty()
            return nil
        }
        takenCount += 1
        return all[takenCount - 1]
    }

    /// Takes the followers that are left.
    func takeRest() -> [Follower] {
        defer { empty() }
        return Array(all[takenCount...])
    }

    private func empty() {
        all.removeAll(keepingCapacity: true)
        takenCount = 0
        assert(invariants())
    }

    /// The taken followers are the first of all.
    func invariants() -> Bool { 0...all.count ~= takenCount }
}
