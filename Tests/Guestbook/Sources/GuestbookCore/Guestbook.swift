public import ReactorCore

/// Signed entries, by number.
@Reactor
public struct Guestbook {
    public init() {}

    /// The actions of a guest.
    public enum Action: Equatable, Sendable {
        case sign(name: String, text: String)
        case strike(Int)
    }

    /// The facts.
    public enum Mutation: Equatable, Sendable {
        case signed(name: String, text: String)
        case struck(Int)
    }

    /// The shared state.
    public struct State: Equatable, Sendable {
        public var lastNumber = 0
        public var entries: Keyed<Int, String> = [:]

        public init() {}
    }

    public func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .sign(let name, let text):
            guard !text.isEmpty else { throw Rejection("empty", "write something") }
            return [.signed(name: name, text: text)]
        case .strike(let number):
            guard state.entries[number] != nil else {
                throw Rejection("unknown", "there is no entry \(number)")
            }
            return [.struck(number)]
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .signed(let name, let text):
            state.lastNumber += 1
            state.entries[state.lastNumber] = "\(name): \(text)"
        case .struck(let number): state.entries[number] = nil
        }
    }
}
