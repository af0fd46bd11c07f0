/// An error of a child, as its parent sees it.
public struct ChildFailure {
    let child: AnyNode
    /// What an effect of the child threw.
    public let error: any Error

    /// Whether it is the error of `child`.
    public func isOf<R: Reactor>(_ child: ChildHandle<R>) -> Bool {
        self.child.name == child.slot.name && self.child.parent?.isCollection != true
    }

    /// The key, if it is the error of a child of this collection.
    public func key<R: Reactor>(in children: KeyedHandle<R>) -> WireKey? {
        guard let collection = child.parent, collection.isCollection,
            collection.name == children.slot.name
        else { return nil }
        return child.name
    }
}

extension Node {
    /// Lets the reactor, and if it has no answer its parent, decide what follows from an error.
    func fail(_ failure: any Error, _ cause: R.Action?, origin: Origin, _ turn: Turn) {
        turn.caller = .daemon
        turn.origin = origin
        let mutations = reactor.error(failure, action: cause, state: state)
        if mutations.count > 0 || mutations.extras != nil {
            commit(mutations, turn, cause: cause)
            turn.tree.finishEmission()
        } else {
            fault = "\(failure)"
            parent?.childFailed(ChildFailure(child: self, error: failure), turn)
        }
    }
}
