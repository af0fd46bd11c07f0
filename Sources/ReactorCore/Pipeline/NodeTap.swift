/// Somebody who follows what one reactor does, from inside its tree: a saga, a log.
///
/// What it is told has happened: it is committed. *Owner*: the tree's isolation, where all of these
/// are called, in the order of the transactions.
public struct NodeTap<R: Reactor> {
    /// Asked before an action is decided; a rejection is the action's.
    var admit: ((R.Action) throws(Rejection) -> Void)?
    /// Told that an action which was admitted came to nothing.
    var withdraw: ((R.Action) -> Void)?
    /// Told of an action that was applied.
    var action: ((R.Action, Origin) -> Void)?
    /// Told of a mutation that was applied, whatever asked for it.
    var mutation: ((R.Mutation, Origin) -> Void)?

    /// Follows actions and mutations once they are committed.
    public init(
        action: ((R.Action, Origin) -> Void)? = nil,
        mutation: ((R.Mutation, Origin) -> Void)? = nil
    ) {
        self.action = action
        self.mutation = mutation
    }
}

extension Tree {
    /// Tells `tap` of what the reactor of `node` does, until the token goes.
    public func addTap<R: Reactor>(to node: Node<R>, _ tap: NodeTap<R>) -> StoreToken {
        let id = node.orderedRules().taps.add(tap)
        node.weighRules()
        return StoreToken { [weak node] in
            node?.rules?.taps.remove(id)
            node?.weighRules()
        }
    }
}
