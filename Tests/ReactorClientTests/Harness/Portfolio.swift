import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

/// A root whose projects have runs: collections two levels deep.
@Reactor
struct Portfolio {
    @Children var projects = { (_: WireKey) in Project() }
    @Child var visits = StockReactors.Counter()

    enum Action {
        case open(String)
        case close(String)
    }
    enum Mutation { case noted }
    struct State { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let key): Mutations(.noted).creating($projects, WireKey(key))
        case .close(let key): Mutations(.noted).removing($projects, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A project with runs, which it starts and removes.
@Reactor
struct Project {
    @Children var runs = { (_: WireKey) in Run() }
    @Children var notes = { (_: WireKey) in StockReactors.Counter() }

    enum Action {
        case start([String])
        case remove([String])
        /// Puts a new run in the place of another.
        case replace(String)
        case write(String)
    }
    enum Mutation { case noted }
    struct State { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .start(let keys):
            keys.reduce(Mutations(.noted)) { $0.creating($runs, WireKey($1)) }
        case .remove(let keys):
            keys.reduce(Mutations(.noted)) { $0.removing($runs, WireKey($1)) }
        case .replace(let key):
            Mutations(.noted)
                .removing($runs, WireKey(key)).creating($runs, WireKey(key))
        case .write(let key): Mutations(.noted).creating($notes, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A run with nodes of its own below it.
@Reactor
struct Run {
    @Child var log = StockReactors.Counter()
    @Children var steps = { (_: WireKey) in StockReactors.Counter() }

    enum Action {
        case advance(to: Int)
        case label(key: WireKey, text: String?)
        case step(String)
        case begin(at: Int)
        case enter(Phase)
    }
    enum Mutation {
        case advanced(to: Int)
        case labelled(key: WireKey, text: String?)
        case stepped
        case begun(at: Int)
        case entered(Phase)
    }

    /// What a run does.
    @WireCodable
    enum Phase: Equatable, Sendable { case running, failed, done }

    @ReactorState
    struct State: Equatable {
        var progress = 0
        var labels: Keyed<WireKey, String> = [:]
        var phase: Phase = Phase.running
        var startedAt: Int?
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .begin(let time): [.begun(at: time)]
        case .enter(let phase): [.entered(phase)]
        case .advance(let progress): [.advanced(to: progress)]
        case .label(let key, let text): [.labelled(key: key, text: text)]
        case .step(let key): Mutations(.stepped).creating($steps, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .advanced(let progress): state.progress = progress
        case .labelled(let key, let text): state.labels[key] = text
        case .stepped: break
        case .begun(let time): state.startedAt = time
        case .entered(let phase): state.phase = phase
        }
    }
}

/// Reactors of the name of the run, with other types.
enum OtherProgram {
    /// A run whose progress is a text.
    @Reactor
    struct Run {
        enum Action { case nothing }
        struct State: Equatable { var progress = "" }

        func reduce(state: inout State, mutation: Action) {}
    }
}

/// A program of a later version.
enum LaterProgram {
    /// A run with an owner.
    @Reactor
    struct Run {
        enum Action { case nothing }

        struct State: Equatable {
            var progress = 0
            var owner = "none"
        }

        func reduce(state: inout State, mutation: Action) {}
    }
}

/// A program that counts how often it decodes a run.
enum CountingProgram {
    struct Number: WireCodable, Equatable, Sendable {
        static let decodedCount = Guarded(0)
        var value = 0

        func encode(into writer: inout WireWriter) { value.encode(into: &writer) }

        static func decode(
            _ bytes: Span<UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Number {
            decodedCount.withLock { $0 += 1 }
            return Number(value: try Int.decode(bytes, &cursor))
        }

        static var wireSchema: WireSchema { Int.wireSchema }
    }

    @Reactor
    struct Run {
        enum Action { case nothing }
        struct State: Equatable { var progress: Number = Number() }

        func reduce(state: inout State, mutation: Action) {}
    }
}

extension Rig {
    /// A daemon with the project `build`, a client that sends, and its verb.
    static func portfolio(
        _ runs: [String] = [], limits: ServerLimits = ServerLimits()
    ) throws -> (rig: Rig, writer: Joined) {
        let rig = try Rig(keepingHistoryOf: 7, limits: limits) { Portfolio() }
        let writer = rig.client()
        try rig.send(Portfolio.Action.open("build"), to: "/", by: writer)
        if !runs.isEmpty { try rig.send(Project.Action.start(runs), by: writer) }
        return (rig, writer)
    }

    /// Sends an action and expects that it is applied.
    func send(
        _ action: some WireCodable, to path: String = "/projects/build", by client: Joined
    ) throws {
        var outcome: ActionOutcome?
        // The number of a node that another has replaced is rejected once, and opened again.
        for _ in 0..<2 where outcome?.revision == nil {
            let node = try client.open(path, self)
            try client.machine.dispatch(action, to: node) { outcome = $0 }
            run()
            client.machine.release(node)
        }
        #expect(outcome?.revision != nil, "\(path): \(String(describing: outcome))")
    }

    /// Advances a run of the project `build`.
    func advance(_ key: String, to progress: Int, by client: Joined) throws {
        try send(Run.Action.advance(to: progress), to: "/projects/build/runs/\(key)", by: client)
    }
}

extension Rig.Joined {
    /// The collection at `path`, or the error, once it is known.
    func collect<Key: ChildKey, R: Reactor>(
        at path: String = "/projects/build/runs", selecting selection: Selection? = nil,
        _ rig: Rig
    ) throws -> Result<MirrorCollection<Key, R>, ClientError> {
        var result: Result<MirrorCollection<Key, R>, ClientError>?
        machine.collection(at: path, selecting: selection, port: nil, nil) { result = $0 }
        rig.run()
        return try #require(result)
    }
}
