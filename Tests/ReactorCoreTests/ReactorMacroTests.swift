public import ReactorCore
import Testing

/// Counts visits.
///
/// And says so.
@Reactor
struct Visits {
    enum Action { case visit(by: Int = 1) }
    enum Mutation { case visited(Int) }
    struct State: Equatable { var count = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .visit(let count): [.visited(count)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .visited(let count): state.count += count
        }
    }
}

@Reactor
public final class House {
    public enum Action: Sendable { case open, close }
    public struct State: Sendable, Equatable {
        public var isOpen: Bool
        public var visitsSeen = 0
        public var tags: [Tag] = []

        @WireCodable
        public struct Tag: Sendable, Equatable { public var name: String }
    }

    @Child var visits = Visits()
    @Children var rooms = { (_: WireKey) in Visits() }

    public var initialState: State { State(isOpen: false) }

    public func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .open: state.isOpen = true
        case .close: state.isOpen = false
        }
    }

    public func react(to change: ChildChange, state: State) -> Mutations<Action> {
        change.mutation(of: $visits) == nil || state.isOpen ? .none : [.open]
    }
}

@Reactor
struct Holder<Value: WireCodable & Sendable & Equatable> {
    enum Action { case set(to: Value) }
    struct State: Equatable { var value: Value? }

    func reduce(state: inout State, mutation: Action) {
        if case .set(let value) = mutation { state.value = value }
    }
}

extension Holder {
    /// A reactor in an extension of a generic type.
    @Reactor
    final class Notes {
        enum Action { case note(Value) }
        struct State: Equatable { var notes: [Value] = [] }

        func reduce(state: State, mutation: Action) -> State {
            switch mutation {
            case .note(let value): State(notes: state.notes + [value])
            }
        }
    }
}

/// Generated members have its access level.
@Reactor
package struct Post {
    package enum Action { case send }
    package struct State { package var sent = 0 }
    @Child var box = Visits()

    package func reduce(state: inout State, mutation: Action) { state.sent += 1 }
}

@Suite("The members that @Reactor adds")
struct ReactorMacroTests {
    @Test(
        "F9: an author writes the types and the functions, and the macro adds the conformance"
    )
    func smallest() throws {
        let visits = Visits()
        var state = visits.initialState
        visits.reduce(state: &state, mutation: .visited(2))
        #expect(state == .init(count: 2))
        #expect(try Visits.Action(wireBytes: Visits.Action.visit(by: 3).wireBytes()).isVisit(by: 3))
        #expect(Visits.documentation == "Counts visits.")
        #expect(!Visits.isReacting)
    }

    @Test("a reactor that declares react is called")
    func reacting() {
        #expect(House.isReacting)
        #expect(House.documentation == "")
        #expect(House().initialState.isOpen == false)
    }

    @Test("F9: a reactor nested in an extension of a generic type conforms")
    func nestedInExtension() throws {
        let store = Store(Holder<String>.Notes())
        try store.dispatch(.note("a"))
        #expect(store.state.notes == ["a"])
        #expect(!Holder<String>.Notes.makeForMirror().initialState.notes.contains("a"))
    }

    @Test("F9: a package reactor has its children, paths and reactions")
    func packageReactor() throws {
        let store = Store(Post())
        try store.dispatch(.send)
        #expect(store.state.sent == 1)
        #expect(PathTable<Post>().path(of: \.box) == SlicePath(["box"]))
        #expect(Post.documentation == "Generated members have its access level.")
    }

    @Test("a generic reactor is codable if its parameter is")
    func generic() throws {
        let bytes = Holder<String>.State(value: "x").wireBytes()
        #expect(try Holder<String>.State(wireBytes: bytes).value == "x")
        #expect(Holder<Int>().initialState.value == nil)
    }
}

extension Visits.Action {
    fileprivate func isVisit(by expected: Int) -> Bool {
        if case .visit(expected) = self { true } else { false }
    }
}
