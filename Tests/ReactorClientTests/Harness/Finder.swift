import ReactorCore
import ReactorThreads

@testable import ReactorClient

/// A search box: each text starts a search, whose result comes when its gate is opened.
@Reactor
struct Finder {
    /// The gates of searches by text, and the texts whose searches have ended.
    final class Gates: Sendable {
        let done = Notes<String>()
        private let opened = Guarded<Set<String>>([])
        private let changed = ChangeSignal()

        func open(_ text: String) {
            _ = opened.withLock { $0.insert(text) }
            changed.publish()
        }

        /// Waits for the gate; a cancelled task continues at once, and ignores the cancellation.
        func pass(_ text: String) async {
            while !Task.isCancelled {
                let version = changed.version
                if opened.withLock({ $0.contains(text) }) { return }
                await changed.change(after: version)
            }
        }
    }

    let gates: Gates

    init(_ gates: Gates = Gates()) { self.gates = gates }

    enum Action: BindableAction, Equatable, Sendable {
        case search(String)
        case toggle
        case binding(BindingAction<State>)
    }

    enum Mutation: Equatable, Sendable {
        case typed(String)
        case found(String)
        case toggled
        case bound(BindingAction<State>)
    }

    struct State: BindableState, Equatable, Sendable {
        var text = ""
        var found: [String] = []
        var isOn = false
        var limit = 10

        static let bindableFields = [bindable("limit", \.limit)]
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .search(let text):
            let gates = gates
            return Mutations(
                sync: [.typed(text)],
                async: Effect { emit in
                    await gates.pass(text)
                    emit(.found(text))
                    gates.done.add(text)
                })
        case .toggle: return [.toggled]
        case .binding(let change):
            guard let limit = change.value(of: \.limit) else { return [.bound(change)] }
            return [.bound(.set(\.limit, min(limit, 100)))]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .typed(let text): state.text = text
        case .found(let text): state.found.append(text)
        case .toggled: state.isOn.toggle()
        case .bound(let change): change.apply(to: &state)
        }
    }
}
