/// What a replica shows instead of its state: the state behind its reactor's transform.
///
/// Stages that take time are the daemon's: a replica goes as far as the first of them.
final class StatePresenter<State: Sendable> {
    private let changes: [(State) -> [State]]
    /// What is shown.
    private(set) var state: State

    /// Shows `state`; nothing is made for a transform that changes nothing.
    init?(_ transform: Transform<State>, _ state: State) {
        var changes: [(State) -> [State]] = []
        for stage in transform.stages {
            guard case .each(let change) = stage else { break }
            changes.append(change)
        }
        guard !changes.isEmpty else { return nil }
        self.changes = changes
        self.state = state
        take(state)
    }

    /// Shows what the transform makes of `state`, if it lets it pass.
    func take(_ state: State) {
        if let shown = shown(state) { self.state = shown }
    }

    /// What the transform makes of `state`.
    func shown(_ state: State) -> State? {
        changes.reduce([state]) { states, change in states.flatMap(change) }.last
    }
}
