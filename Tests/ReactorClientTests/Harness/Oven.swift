import ReactorCore

/// Starts effects that end when a test opens their gates.
@Reactor
struct Oven {
    let gates: Finder.Gates

    init(_ gates: Finder.Gates = Finder.Gates()) { self.gates = gates }

    enum Action: Equatable, Sendable {
        case bake(String)
        case burn(String)
        case refuse
        case nothing
    }

    enum Mutation: Equatable, Sendable {
        case started(String)
        case baked(String)
    }

    struct State: Equatable, Sendable {
        var started: [String] = []
        var baked: [String] = []
    }

    struct Smoke: Error, CustomStringConvertible {
        var description: String { "smoke" }
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        let gates = gates
        switch action {
        case .bake(let bread):
            return Mutations(
                sync: [.started(bread)],
                async: Effect { emit in
                    await gates.pass(bread)
                    emit(.baked(bread))
                })
        case .burn(let bread):
            return Mutations(
                sync: [.started(bread)],
                async: Effect { _ in
                    await gates.pass(bread)
                    throw Smoke()
                })
        case .refuse: throw Rejection("cold", "the oven is cold")
        case .nothing: return .none
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .started(let bread): state.started.append(bread)
        case .baked(let bread): state.baked.append(bread)
        }
    }
}
