import ReactorThreads

/// An observer of one reactor inside its tree, such as a saga or a log.
///
/// The tree calls its functions on its isolation, in the order of the transactions; `action` and
/// `mutation` after the commit.
public struct NodeTap<R: Reactor> {
    /// Called before an action is decided; may reject it.
    var admit: ((R.Action) throws(Rejection) -> Void)?
    /// Called if an admitted action is refused later.
    var withdraw: ((R.Action) -> Void)?
    /// Called for an applied action.
    var action: ((R.Action, Origin) -> Void)?
    /// Called for an applied mutation, whatever caused it.
    var mutation: ((R.Mutation, Origin) -> Void)?

    /// Makes an observer of committed actions and mutations.
    public init(
        action: ((R.Action, Origin) -> Void)? = nil,
        mutation: ((R.Mutation, Origin) -> Void)? = nil
    ) {
        self.action = action
        self.mutation = mutation
    }

    /// This tap, whose functions for committed actions and mutations do nothing once `isOver` is
    /// raised.
    func silent(after isOver: Flag) -> NodeTap {
        var tap = self
        tap.action = action.map { action in
            { if !isOver.isUp { action($0, $1) } }
        }
        tap.mutation = mutation.map { mutation in
            { if !isOver.isUp { mutation($0, $1) } }
        }
        return tap
    }
}
