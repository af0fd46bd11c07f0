import ReactorCore
import ReactorWire

/// Takes from connections what they own, for clients that may do that.
///
/// A client may release what its own user owns. For what another user owns, it needs
/// ``AccessVerbs/own`` at the node; the daemon's user and root always may.
///
/// *Place*: the ``Dispatcher`` asks it about actions with options; the tree asks it when a reactor
/// checks a release.
struct ForcedReleases {
    private let tree: Tree
    private let connections: ConnectionTable
    private let orders: ShellOrders

    /// Decides about every release in `tree`, and counts refusals in `orders`.
    init(_ tree: Tree, _ connections: ConnectionTable, _ orders: ShellOrders) {
        self.tree = tree
        self.connections = connections
        self.orders = orders
        tree.releaseRefusal = { caller, uid, node in
            guard let connection = connections[ConnectionID(caller.connection)] else {
                return Rejection(Refusal(forbidding: .own, at: node.path))
            }
            return Self.refusal(connection, uid, node, orders)
        }
    }

    /// Why the client may not release what `uid` owns at a node; nil if it may. `uid` is nil if the
    /// owner is unknown.
    private static func refusal(
        _ connection: Connection, _ uid: UInt32?, _ node: AnyNode, _ orders: ShellOrders
    ) -> Rejection? {
        let isOwnUser =
            uid == connection.peer.uid && uid != AccessRules.Subject.unknownUID
        guard !isOwnUser, let access = connection.access,
            !access.place(of: node).rights.verbs.contains(.own)
        else { return nil }
        orders.stats.countDenial(of: .own)
        return Rejection(Refusal(forbidding: .own, at: node.path))
    }

    /// Carries out the `release` of an action's `options`. `isAlone` is false if an action follows
    /// them.
    func carryOut(
        _ release: OwnershipRelease, _ options: DispatchOptions, isAlone: Bool, at node: AnyNode,
        _ ordinal: UInt64, of connection: Connection
    ) throws(StepFailure) -> DispatchResult {
        guard isAlone, options == DispatchOptions(release: release) else {
            throw Self.misplaced
        }
        if release.connection != connection.id.rawValue {
            let owner = connections[ConnectionID(release.connection)]
            if let refusal = Self.refusal(connection, owner?.peer.uid, node, orders) {
                throw .rejected(refusal)
            }
        }
        return tree.release(
            release.key, of: release.connection, at: node, by: connection.caller, ordinal: ordinal)
    }

    /// The failure of an action or a batch whose options contain a release.
    static var misplaced: StepFailure {
        .rejected(
            Rejection(
                .decode,
                "options: `release` goes without an action, a batch and other options: send it in a "
                    + "separate dispatch"))
    }
}
