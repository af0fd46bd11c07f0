public import ReactorCore

/// An issue tracker: the issues are children by number, and the tracker's state lists their
/// titles.
@Reactor
public struct Tracker {
    /// How long after the last input a search runs.
    public static let searchPause = Duration.milliseconds(200)

    /// The issues by their numbers: `/issues/1`.
    @Children public var issues = { (_: Int) in Issue() }

    /// Creates a tracker without issues.
    public init() {}

    /// A request to the tracker.
    public enum Action: Equatable, Sendable {
        /// Creates an issue; the reply is its number.
        case open(title: String)
        /// Finds open issues by a part of their titles, once no further search has arrived for
        /// ``searchPause``.
        case search(String)
        /// Finds open issues by a part of their titles, immediately.
        case find(String)
    }

    /// A change of the tracker.
    public enum Mutation: Equatable, Sendable {
        /// An issue was created.
        case opened(number: Int, title: String)
        /// The issue with this number was closed or opened again.
        case turned(number: Int, isOpen: Bool)
        /// A search for this text has begun.
        case searched(String)
        /// The search found the issues with these numbers.
        case found([Int])
    }

    /// The reply to `open`.
    public struct Reply: Equatable, Sendable {
        /// The new issue's number.
        public var number: Int
    }

    /// The tracker's state, for all mirrors; the issues' states are not in it.
    public struct State: Equatable, Sendable {
        /// The number of the newest issue.
        public var lastNumber = 0
        /// All issues by their numbers.
        public var lines: Keyed<Int, Line> = [:]
        /// The last search.
        public var search: Search = Search(text: "")

        /// Creates a state without issues.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let title):
            try title.check("a title")
            let number = state.lastNumber + 1
            context.reply(Reply(number: number))
            return Mutations(.opened(number: number, title: title))
                .creating($issues, number)
                .also($issues, number, .titled(title))
        case .search(let text): return [.searched(text)]
        case .find(let text): return [.searched(text), .found(state.open(with: text))]
        }
    }

    /// Runs the last search after a pause in the input.
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

    @Reacts(to: \Tracker.$issues)
    func changed(_ mutation: Issue.Mutation, key number: Int) -> Mutations<Mutation> {
        switch mutation {
        case .closed: [.turned(number: number, isOpen: false)]
        case .reopened: [.turned(number: number, isOpen: true)]
        case .titled, .commented, .reminded: .none
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
