import ReactorCore

@Reactor
struct Stateless {  // expect: Stateless has no State; declare struct State in its body
    enum Action { case go }
    enum Mutation { case gone }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> { [.gone] }
    func reduce(state: inout State, mutation: Mutation) {}
}

@Reactor
struct Extended {  // expect: Extended has no State; declare struct State in its body
    enum Action { case go }
    enum Mutation { case gone }

    var initialState: State { State(count: 1) }

    func mutate(action: Action) -> Mutations<Mutation> { [.gone] }
    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

extension Extended {
    @WireCodable
    struct State { var count: Int }
}

@Reactor
struct Actionless {  // expect: Actionless has no Action; declare enum Action in its body
    enum Mutation { case gone }
    struct State { var count = 1 }

    func mutate(action: Action, state: State) -> Mutations<Mutation> { [.gone] }
    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

@Reactor
struct Empty {}  // expect: Empty has no Action || Empty has no State

@Reactor
struct Uninitialised {  // expect: Uninitialised has no initial state; give every property
    enum Action { case go }
    enum Mutation { case gone }
    struct State { var count: Int }

    func mutate(action: Action) -> Mutations<Mutation> { [.gone] }
    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

// The following reactors have no mistake.

/// A reactor that takes no actions.
@Reactor
struct Silent {
    enum Action {}
    enum Mutation { case counted }
    struct State { var count = 0 }

    func mutate(action: Action) -> Mutations<Mutation> {}
    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

@WireCodable
struct Config { var port = 80 }

enum Floor: String, KeyedKey { case ground, first }

/// A reactor whose fields show their types in their initial values.
@Reactor
struct Inferring {
    enum Action { case go(Config, [Floor: Int], Keyed<Floor, Config>) }
    enum Mutation { case gone }
    struct State {
        var config = Config()
        var configs: [Config] = []
        var floors = Keyed<String, [Config]>()
        var undo = Undoable(Config(), limit: 3) as Undoable<Config>
        var load = AsyncLoad<Config, LoadError>.none as AsyncLoad<Config, LoadError>
        var count = 1
    }

    func mutate(action: Action) -> Mutations<Mutation> { [.gone] }
    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}
