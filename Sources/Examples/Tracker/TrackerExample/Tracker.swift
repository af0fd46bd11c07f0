public import ReactorCore

/// An issue tracker: the issues are children by number, the tracker itself knows their titles.
@Reactor
public struct Tracker {
    /// How long nobody types before a search is made.
    public static let searchPause = Duration.milliseconds(200)

    /// The issues by their numbers: `/issues/1`.
    @Children public var issues = { (_: WireKey) in Issue() }

    /// A tracker without issues.
    public init() {}

    /// What a person does with the tracker.
    public enum Action: Equatable, Sendable {
        /// Opens an issue; the reply is its number.
        case open(title: String)
        /// Looks for open issues by a part of their titles, once nobody has typed for a moment.
        case search(String)
        /// Looks for them now.
        case find(String)
    }

    /// What happened in the tracker.
    public enum Mutation: Equatable, Sendable {
        /// An issue was opened.
        case opened(number: Int, title: String)
        /// The issue with this number was closed, or reopened.
        case turned(number: Int, isOpen: Bool)
        /// Somebody looks for this.
        case searched(String)
        /// The issues with these numbers were found.
        case found([Int])
    }

    /// The answer to `open`.
    public struct Reply: Equatable, Sendable {
        /// The new issue's number.
        public var number: Int
    }

    /// What everybody sees of the tracker; the issues' own states are theirs.
    public struct State: Equatable, Sendable {
        /// How many issues there ever were.
        public var lastNumber = 0
        /// A line on every issue, by its number.
        public var lines: Keyed<Int, Line> = [:]
        /// What was looked for last.
        public var search: Search = Search(text: "")

        /// No issues.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: Context<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let title):
            try title.check("a title")
            let number = state.lastNumber + 1
            context.reply(Reply(number: number))
            let key = WireKey("\(number)")
            return Mutations(.opened(number: number, title: title))
                .creating($issues, key)
                .also($issues, key, .titled(title))
        case .search(let text): return [.searched(text)]
        case .find(let text): return [.searched(text), .found(state.open(with: text))]
        }
    }

    /// Makes a search of what was typed last, when nobody has typed for a moment.
    public var sagas: [Saga<Self>] {
        [
            Saga { saga in
                saga.debounce(Self.searchPause) { action in
                    if case .search(let text) = action { text } else { nil }
                } do: { saga, text in
                    try await saga.put(.find(text))
                }
            }
        ]
    }

    public func react(to change: ChildChange, state: State) -> Mutations<Mutation> {
        guard let (key, mutation) = change.mutation(of: $issues), let number = Int(key.text)
        else { return .none }
        switch mutation {
        case .closed: return [.turned(number: number, isOpen: false)]
        case .reopened: return [.turned(number: number, isOpen: true)]
        case .titled, .commented, .reminded: return .none
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .opened(let number, let title):
            state.lastNumber = number
            state.lines[number] = Line(title: title)
        case .turned(let number, let isOpen): state.lines[number]?.isOpen = isOpen
        case .searched(let text): state.search = Search(text: text, found: .loading)
        case .found(let numbers): state.search.found = .loaded(numbers)
        }
    }
}
