import ReactorCore

/// A state with every kind of field that is tracked or not.
@WireCodable
@ReactorState
struct Memo: Equatable, Sendable {
    var title = ""
    var count: Int
    let limit: Int
    var notes: Keyed<WireKey, Int> = [:]
    var others: Keyed<WireKey, Int> = [:]
    var history: [Int] = []
    @Ignored var noise = 0
    @NotTransmitted var cache: [Int: String] = [:]
    @Pulse var alert: String? = nil
    var double: Int { count * 2 }
}

/// A state with nested tracked states.
@WireCodable
@ReactorState
struct Desktop: Equatable, Sendable {
    var left: Memo = Memo(count: 1, limit: 1)
    var right: Memo = Memo(count: 2, limit: 1)
    var spare: Memo? = nil
    var deep: Drawer = Drawer()
}

/// A tracked state with another one.
@WireCodable
@ReactorState
struct Drawer: Equatable, Sendable {
    var memo: Memo = Memo(count: 3, limit: 1)
    var isOpen = false
}

/// A generic state, with comparable or other fields.
@ReactorState
struct Box<Content> {
    var content: Content
    var closed = false
}

/// A reactor with a tracked state.
@Reactor
struct Shelf {
    enum Action: Equatable, Sendable {
        case name(String)
        case put(key: WireKey, value: Int)
        case drop(key: WireKey)
        case alert(String?)
        case quiet
    }

    @ReactorState
    struct State: Equatable, Sendable {
        var name = ""
        var entries: Keyed<WireKey, Int> = [:]
        @Pulse var alert: String? = nil
        var stamp: Stamped<String> = Stamped("")
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .name(let name): state.name = name
        case .put(let key, let value): state.entries[key] = value
        case .drop(let key): state.entries[key] = nil
        case .alert(let text):
            state.alert = text
            state.stamp.value = text ?? ""
        case .quiet: break
        }
    }
}

/// A shelf whose shown state differs from its own.
struct FramedShelf: Reactor {
    typealias Action = Shelf.Action
    typealias State = Shelf.State

    var initialState: State { State() }

    func reduce(state: inout State, mutation: Action) {
        Shelf().reduce(state: &state, mutation: mutation)
    }

    func transform(state: Transform<State>) -> Transform<State> {
        state.map { shown in
            var shown = shown
            shown.name = "framed"
            return shown
        }
    }
}
