import ReactorCore
import Testing

// The code of the guide for users of SpacetimeDB, line for line.

@Reactor
struct MessageBoard {
    enum Action: Equatable {
        case post(text: String, keptFor: Duration)
        @WireInternal case expire(Int)
    }
    enum Mutation: Equatable {
        case posted(Int, Message)
        case removed(Int)
    }

    @WireCodable
    struct Message: Equatable {
        var sender: UInt32
        var text: String
    }

    @ReactorState
    struct State: Equatable {
        var messages: Keyed<Int, Message> = [:]
        var last = 0
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .post(let text, let time):
            if text.isEmpty { throw Rejection("empty", "write something") }
            let id = state.last + 1
            let message = Message(sender: context.caller.uid, text: text)
            return Mutations(.posted(id, message))
                .scheduling("expire \(id)", after: time, Action.expire(id))
        case .expire(let id):
            if state.messages[id] == nil { throw Rejection("unknown", "no message \(id)") }
            return [.removed(id)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .posted(let id, let message):
            state.messages[id] = message
            state.last = id
        case .removed(let id): state.messages[id] = nil
        }
    }
}

@Suite("guide: coming from SpacetimeDB")
struct ComingFromSpacetimeDBTests {
    @Test("a refused action changes nothing; a planned one runs at its time")
    func page() throws {
        let bench = StoreBench(MessageBoard())
        try bench.send(.post(text: "hello", keptFor: .seconds(60)))
        #expect(throws: Rejection("empty", "write something")) {
            try bench.send(.post(text: "", keptFor: .seconds(60)))
        }
        #expect(bench.state.last == 1)
        #expect(bench.state.messages[1] == MessageBoard.Message(sender: 0, text: "hello"))
        bench.advance(by: .seconds(59))
        #expect(bench.state.messages.count == 1)
        bench.advance(by: .seconds(1))
        #expect(bench.state.messages.isEmpty)
        #expect(bench.state.last == 1)
    }
}
