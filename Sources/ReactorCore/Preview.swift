import ReactorBytes

/// A reactor that tries actions on a copy of a state: nothing leaves it, and nothing else changes.
///
/// *Place*: under the ``Overlay`` of a mirror, which shows what a client asked for before the
/// daemon has answered. *Owner*: whoever holds it; not Sendable.
public final class Preview<R: Reactor> {
    private let tree: Tree
    private let node: Node<R>
    private let blank: R.State

    /// Starts with the state of `reactor`, which stands at `path`, before its first mutation.
    public init(_ reactor: R, at path: SlicePath = .root) {
        tree = Tree(reactor, epoch: 0, recordsDeltas: false, environment: .inert, at: path)
        tree.turn.isPreview = true
        guard let node = tree.root as? Node<R> else {
            preconditionFailure("the root has its type")
        }
        self.node = node
        blank = node.state
    }

    /// The state after the last action that was tried.
    public var state: R.State {
        _read { yield node.place.value }
    }

    /// What of the state was changed since the last call.
    func drainChanges() -> StateChanges { R._drain(&node.place.value) }

    /// Goes on from `state`, and forgets what was tried.
    public func rebase(on state: R.State) { node.place.value = state }

    /// Holds on to no copy of another's state.
    public func clear() { node.place.value = blank }

    /// Decides an action and applies its own mutations at once; effects, followers, replies, and
    /// what it decided for other nodes are dropped.
    ///
    /// *Throws*: ``Rejection``, which is the reactor's own, or has ``Rejection/previewCode`` where
    /// the decision needs what the daemon alone knows; nothing was changed then.
    public func apply(_ action: R.Action) throws(Rejection) {
        let turn = tree.turn
        turn.asksDaemon = false
        defer { turn.clearRequests() }
        let actions = try node.previewed(action, turn)
        // because one that is refused has changed nothing, and a copy that is kept would make each
        // of its mutations copy what it writes to
        if actions.count == 1 { return try decide(actions[0], turn) }
        let before = node.place.value
        do throws(Rejection) {
            for action in actions { try decide(action, turn) }
        } catch {
            node.place.value = before
            throw error
        }
    }

    private func decide(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        let decided = try node.reactor.mutate(
            action: action, state: node.place.value, context: Context(turn, node))
        guard !turn.asksDaemon else { throw .preview(node.path) }
        for mutation in try node.passing(decided, turn).sync.all {
            node.reactor.reduce(state: &node.place.value, mutation: mutation)
        }
    }
}

extension Turn {
    /// Notes that the decision at hand read what is known in the daemon only.
    func noteDaemonOnly() {
        if isPreview { asksDaemon = true }
    }
}

extension Rejection {
    /// The code of an action that cannot be previewed.
    public static let previewCode = "preview"

    static func preview(_ path: SlicePath) -> Rejection {
        Rejection(
            previewCode, "\(path) needs to know what the daemon alone does: wait for its answer")
    }
}

extension Context {
    /// Refuses an action that a client only tries on its mirror.
    ///
    /// A decision that reads the caller, the cause, the revision, an id or a child in a preview is
    /// dropped without it; this is for those that cannot be tried for other reasons.
    public func refusePreview() throws(Rejection) {
        if isPreview { throw .preview(path) }
    }
}
