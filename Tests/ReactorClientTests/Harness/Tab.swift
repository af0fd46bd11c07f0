import ReactorCore

/// Adds amounts; the daemon refuses more than ten at a time, which a preview does not know.
@Reactor
struct Tab {
    enum Action: Equatable, Sendable {
        case add(Int)
        case look
        case work
    }

    enum Mutation: Equatable, Sendable {
        case added(Int)
        case worked
    }

    struct State: Equatable, Sendable {
        var entries: [Int] = []
        var isWorked = false
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount):
            guard amount <= 10 || context.isPreview else {
                throw Rejection("too_much", "\(amount) at a time, at most 10")
            }
            return [.added(amount)]
        case .look:
            return context.caller.pid == 0 ? [.added(0)] : [.added(1)]
        case .work:
            return Mutations(sync: [.added(2)], async: Effect { emit in emit(.worked) })
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.entries.append(amount)
        case .worked: state.isWorked = true
        }
    }
}
