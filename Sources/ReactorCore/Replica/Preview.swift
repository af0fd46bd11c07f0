import ReactorBytes

/// A reactor that runs actions on a copy of a state, without any effect outside that copy.
///
/// *Place*: in the ``Overlay`` of a mirror, which shows a client's actions before the daemon has
/// answered. *Owner*: confined to its user; not Sendable.
package final class Preview<R: Reactor> {
    private let tree: Tree
    private let node: Node<R>
    private let blank: R.State

    /// Starts with the initial state of `reactor`, whose path is `path`.
    package init(_ reactor: R, at path: SlicePath = .root) {
        tree = Tree(reactor, epoch: 0, recordsDeltas: false, environment: .inert, at: path)
        tree.turn.beginPreviews()
        guard let node = tree.root as? Node<R> else {
            preconditionFailure("the root has its type")
        }
        self.node = node
        blank = node.state
    }

    /// The state after the last action.
    package var state: R.State {
        _read { yield node.cell.value }
    }

    /// The fields that changed since the last call.
    func drainChanges() -> StateChanges { R._drain(&node.cell.value) }

    /// Continues from `state`, and drops the results of earlier actions.
    package func rebase(on state: R.State) { node.cell.value = state }

    /// Releases its copy of the state.
    package func clear() { node.cell.value = blank }

    /// Decides an action and applies its own mutations at once; drops its effects, followers and
    /// replies, and its changes of other nodes.
    ///
    /// *Throws*: the reactor's own ``Rejection``, or one with ``Rejection/previewCode`` where the
    /// decision needs information that only the daemon has. Nothing has changed then.
    package func apply(_ action: R.Action) throws(Rejection) {
        try node.internalActions.check(action, at: node.path)
        let turn = tree.turn
        turn.transaction.beginPreview()
        defer { turn.transaction.wishes.clear() }
        let actions = try node.previewed(action, turn)
        // A refused single action has changed nothing. Keeping a copy of the state for it would
        // make its mutations copy what they write to.
        if actions.count == 1 { return try decide(actions[0], turn) }
        let before = node.cell.value
        do throws(Rejection) {
            for action in actions { try decide(action, turn) }
        } catch {
            node.cell.value = before
            throw error
        }
    }

    private func decide(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        let decided = try node.reactor.mutate(
            action: action, state: node.cell.value, context: ReactorContext(turn, node))
        guard !turn.transaction.asksDaemon else { throw .preview(node.path) }
        for mutation in try node.passing(decided, turn).sync.all {
            node.reactor.reduce(state: &node.cell.value, mutation: mutation)
        }
    }
}

extension Rejection {
    /// The code of an action that cannot be previewed.
    package static let previewCode = "preview"

    static func preview(_ path: SlicePath) -> Rejection {
        Rejection(
            previewCode, "\(path) needs what only the daemon knows: wait for its answer")
    }
}

extension ReactorContext {
    /// Refuses an action that runs on a client's mirror as a preview.
    ///
    /// A preview that reads the caller, the cause, the revision, the time, a random number, an id, a
    /// key, a child or a derived value is dropped without this call; use it for decisions that
    /// cannot be previewed for other reasons.
    public func refusePreview() throws(Rejection) {
        if isPreview { throw .preview(path) }
    }
}
