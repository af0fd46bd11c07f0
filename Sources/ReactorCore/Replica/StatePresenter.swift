/// The transformed state of a replica, which it shows instead of its state.
///
/// *Place*: for transforms that map one state to one. The output of any other is known only in the
/// daemon, which sends it as a value: see ``AnyNode/isShownByValue``.
final class StatePresenter<State: Sendable> {
    private let changes: [(State) -> State]
    /// The transformed state.
    private(set) var state: State
    /// Whether states arrive already transformed.
    private var takesValues = false

    /// Starts with `state`; `nil` for a transform that changes nothing, or that is not one to one.
    init?(_ transform: Transform<State>, _ state: State) {
        guard transform.isOneForOne else { return nil }
        var changes: [(State) -> State] = []
        for case .map(let change) in transform.stages { changes.append(change) }
        guard !changes.isEmpty else { return nil }
        self.changes = changes
        self.state = state
        take(state)
    }

    /// Sets whether states arrive already transformed.
    func takeValues(_ takesValues: Bool) { self.takesValues = takesValues }

    /// Transforms `state` and shows it.
    func take(_ state: State) { self.state = shown(state) }

    /// The transformed `state`.
    func shown(_ state: State) -> State {
        takesValues ? state : changes.reduce(state) { $1($0) }
    }
}
