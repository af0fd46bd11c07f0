import ReactorCore

/// The phases of a build.
@WireCodable
enum Phase: String, WireMapKey, Sendable {
    case waiting
    case running
    case failed
}

/// A build of a project.
@Reactor
struct Build {
    let id: Int

    enum Action {
        case enter(Phase)
        case spend(Int)
        case touch
    }
    enum Mutation {
        case entered(Phase)
        case spent(Int)
    }
    struct State: Equatable {
        var phase: Phase = .waiting
        var cost = 0
    }

    func mutate(action: Action) -> Mutations<Mutation> {
        switch action {
        case .enter(let phase): [.entered(phase)]
        case .spend(let cost): [.spent(cost)]
        case .touch: [.spent(0)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .entered(let phase): state.phase = phase
        case .spent(let cost): state.cost += cost
        }
    }
}

/// Counts the builds of a project.
@WireCodable
struct BuildStats: DerivedTotal {
    var running = 0
    var failed = 0

    init() {}

    init(running: Int, failed: Int) {
        self.running = running
        self.failed = failed
    }

    mutating func add(_ phase: Phase) { count(phase, 1) }

    mutating func remove(_ phase: Phase) { count(phase, -1) }

    private mutating func count(_ phase: Phase, _ change: Int) {
        switch phase {
        case .running: running += change
        case .failed: failed += change
        case .waiting: break
        }
    }
}

/// Whether a project may start builds.
@WireCodable
struct Load: Equatable, Sendable {
    var running: Int
    var isFull: Bool
}

/// A project with its builds.
@Reactor
struct Project {
    /// Builds by what became of them.
    @Derived var stats = Derivation(BuildStats.self, over: \Project.$builds) { $0.phase }
    @Derived var load = Derivation(of: \Project.$stats) { (state, stats) in
        Load(running: stats.running, isFull: stats.running >= state.limit)
    }
    @Derived var phases = Derivation.tally(over: \Project.$builds) { $0.phase }
    @Derived var cost = Derivation.sum(over: \Project.$builds) { $0.cost }
    @Derived var count = Derivation.count(over: \Project.$builds)
    @Children var builds = { (id: Int) in Build(id: id) }

    enum Action {
        case add(Int)
        case drop(Int)
        case swap(Int)
        case start(Int)
        case limit(Int)
        case fail(Int)
    }
    enum Mutation { case limited(Int) }
    struct State: Equatable { var limit = 2 }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let build): return Mutations.none.creating($builds, build)
        case .drop(let build): return Mutations.none.removing($builds, build)
        case .swap(let build):
            return Mutations.none.removing($builds, build).creating($builds, build)
                .sending(.enter(.failed), to: $builds[build])
        case .start(let build):
            guard !context.value(of: $load).isFull else { throw Rejection("full", "wait") }
            return Mutations.none.sending(.enter(.running), to: $builds[build])
        case .limit(let limit): return [.limited(limit)]
        case .fail(let build):
            return Mutations(.limited(0)).sending(.enter(.failed), to: $builds[build])
                .sending(.enter(.failed), to: $builds[-1])
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .limited(let limit): state.limit = limit
        }
    }
}

/// Sums the builds of all projects.
@WireCodable
struct AllStats: DerivedTotal {
    var running = 0
    var failed = 0

    init() {}

    init(running: Int, failed: Int) {
        self.running = running
        self.failed = failed
    }

    mutating func add(_ part: BuildStats) {
        running += part.running
        failed += part.failed
    }

    mutating func remove(_ part: BuildStats) {
        running -= part.running
        failed -= part.failed
    }
}

/// Projects by name, and one that always exists.
@Reactor
struct Portfolio {
    @Child var main = Project()
    @Children var projects = { (_: WireKey) in Project() }
    @Derived var all = Derivation(
        AllStats.self, over: \Portfolio.$projects, parts: \Project.$stats)
    @Derived var both = Derivation(of: \Portfolio.$all, \Portfolio.$main.$stats) { _, all, main in
        all.running + main.running
    }
    @Derived var title = Derivation { (state: State) in "<\(state.name)>" }

    enum Action {
        case add(WireKey)
        case drop(WireKey)
        case title(String)
        case titleByCount(of: WireKey)
    }
    enum Mutation { case titled(String) }
    struct State: Equatable { var name = "" }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        switch action {
        case .titleByCount(let name):
            let count = context.value(of: $projects[name].$count)
            return [.titled(count.map { "\($0)" } ?? "none")]
        case .add(let name): return Mutations.none.creating($projects, name)
        case .drop(let name): return Mutations.none.removing($projects, name)
        case .title(let title): return [.titled(title)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .titled(let title): state.name = title
        }
    }
}
