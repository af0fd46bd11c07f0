/// What a replica shows instead of its state: the state behind its reactor's transform.
///
/// *Place*: for transforms that are one for one. What any other shows, the daemon alone knows, and
/// tells it as a value, which is shown as it comes: see ``AnyNode/isShownByValue``.
final class StatePresenter<State: Sendable> {
    private let changes: [(State) -> State]
    /// What is shown.
    private(set) var state: State
    /// Whether states come as they are to be shown.
    var takesValues = false

    /// Shows `state`; nothing is made for a transform that changes nothing, or that is not one for
    /// one.
    init?(_ transform: Transform<State>, _ state: State) {
        guard transform.isOneForOne else { return nil }
        var changes: [(State) -> State] = []
        for case .map(let change) in transform.stages { changes.append(change) }
        guard !changes.isEmpty else { return nil }
        self.changes = changes
        self.state = state
        take(state)
    }

    /// Shows what the transform makes of `state`.
    func take(_ state: State) { self.state = shown(state) }

    /// What the transform makes of `state`.
    func shown(_ state: State) -> State {
        takesValues ? state : changes.reduce(state) { $1($0) }
    }
}
