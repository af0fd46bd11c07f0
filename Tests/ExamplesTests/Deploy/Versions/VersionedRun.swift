import ReactorCore

/// A run of all versions: a type that has never changed.
@Reactor
struct VersionedRun {
    enum Action: Equatable, Sendable { case finish(succeeded: Bool) }
    struct State: Equatable, Sendable { var results: [Bool] = [] }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .finish(let hasSucceeded): state.results.append(hasSucceeded)
        }
    }
}
