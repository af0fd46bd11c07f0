import ReactorCore
import ReactorWire
import Synchronization

/// Counts, refuses, replies, makes callers wait, and owns: it causes every kind of outcome.
struct Tally: Reactor {
    typealias Reply = Int

    @WireCodable
    enum Action: Sendable {
        case add(by: Int)
        case refuse(text: String)
        case ask
        case wait
        case grant(value: Int)
        case hold
        case nothing
        case work(by: Int)
        case fail
        case chain(by: Int)
        case circle
    }

    @WireCodable
    enum Mutation: Sendable, Equatable {
        case added(by: Int)
        case queued(ticket: ReplyTicket)
        case granted
        case held(count: Int)
    }

    @WireCodable
    struct State: Sendable, Equatable {
        var count = 0
        var waiting: [ReplyTicket] = []
        var holders = 0
    }

    struct Broken: Error {}

    var initialState: State { State() }

    func mutate(
        action: Action, state: State, context: ReactorContext<Tally>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount): return [.added(by: amount)]
        case .refuse(let text): throw Rejection("refused", text)
        case .ask:
            context.reply(state.count)
            return .none
        case .wait: return [.queued(ticket: context.deferReply())]
        case .grant(let value):
            for ticket in state.waiting { context.answer(ticket, with: value) }
            return [.granted]
        case .hold:
            context.own("hold")
            return [.held(count: state.holders + 1)]
        case .nothing: return .none
        case .work(let amount):
            return Mutations(
                sync: [.added(by: 1)], async: Effect { emit in emit(.added(by: amount)) })
        case .fail: return Mutations(async: Effect { _ in throw Broken() })
        case .chain(let amount):
            context.dispatch(.add(by: amount))
            return [.added(by: 1)]
        case .circle:
            context.dispatch(.circle)
            return [.added(by: 1)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount
        case .queued(let ticket): state.waiting.append(ticket)
        case .granted: state.waiting = []
        case .held(let count): state.holders = count
        }
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Tally>
    ) -> Mutations<Mutation> {
        [.held(count: state.holders - owned.keys.count)]
    }
}

/// Two texts: large values, and fields that change independently.
struct Page: Reactor {
    @WireCodable
    enum Action: Sendable {
        case title(String)
        case body(String)
        case fill(count: Int)
    }

    @WireCodable
    struct State: Sendable, Equatable {
        var title = ""
        var body = ""
    }

    var initialState: State { State() }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .title(let text): state.title = text
        case .body(let text): state.body = text
        case .fill(let count): state.body = String(repeating: "x", count: count)
        }
    }
}

/// Creates and removes children by name.
struct House: Reactor {
    @WireCodable
    enum Action: Sendable {
        case build(name: String)
        case tear(name: String)
    }

    @WireCodable
    struct State: Sendable, Equatable {
        var built = 0
    }

    @Children var rooms = { (_: WireKey) in Tally() }

    var initialState: State { State() }

    func mutate(
        action: Action, state: State, context: ReactorContext<House>
    ) throws(Rejection) -> Mutations<Action> {
        switch action {
        case .build(let name): Mutations(action).creating($rooms, WireKey(name))
        case .tear(let name): Mutations(action).removing($rooms, WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Action) {
        if case .build = mutation { state.built += 1 }
    }

    func children(_ visitor: inout ChildVisitor) { visitor.children("rooms", _rooms) }
}

/// Counts how often its state is encoded.
struct Heavy: Reactor {
    typealias Action = NoReply
    typealias Mutation = NoReply

    @WireCodable
    struct State: Sendable, Equatable {
        var load: Load = Load()
    }

    /// A field that is costly to encode.
    struct Load: WireCodable, Sendable, Equatable {
        /// Number of times that any of them was encoded.
        static let encodings = Mutex(0)

        func encode(into writer: inout WireWriter) {
            Self.encodings.withLock { $0 += 1 }
            writer.null()
        }

        static func decode(
            _ bytes: Span<UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Load {
            try cursor.skip(in: bytes)
            return Load()
        }

        static var wireSchema: WireSchema { .any }
    }

    var initialState: State { State() }
}

/// The tree that the tests serve.
enum TestTree {
    static func make(epoch: UInt64 = 7, environment: TreeEnvironment = .inert) -> Tree {
        Tree(
            ReactorGroup([
                ("visits", Tally()), ("other", Tally()), ("page", Page()), ("house", House()),
            ]), epoch: epoch, environment: environment)
    }
}
