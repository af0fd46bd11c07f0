public import ReactorCore

/// One issue: its title, its comments, its reminders, and whether it is open.
@Reactor
public struct Issue {
    /// Creates an issue without a title.
    public init() {}

    /// A request to an issue.
    public enum Action: Equatable, Sendable {
        /// Adds a comment.
        case comment(String)
        /// Closes the issue, and cancels its reminders.
        case close
        /// Opens the issue again.
        case reopen
        /// Adds a reminder after a delay, unless the issue is closed before.
        case remind(after: Duration, of: String)
    }

    /// A change of an issue.
    public enum Mutation: Equatable, Sendable {
        /// The tracker has set the title.
        case titled(String)
        /// A comment was added.
        case commented(String)
        /// The issue was closed.
        case closed
        /// The issue was opened again.
        case reopened
        /// The delay of a reminder has passed.
        case reminded(of: String)
    }

    /// An issue's state, for all mirrors.
    public struct State: Equatable, Sendable {
        /// The subject of the issue.
        public var title = ""
        /// Whether the issue is open.
        public var isOpen = true
        /// The comments, the oldest first.
        public var comments: [String] = []
        /// The reminders whose delay has passed, the oldest first.
        public var reminders: [String] = []

        /// Creates an open issue without a title.
        public init() {}
    }

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .comment(let text):
            try text.check("a comment")
            return [.commented(text)]
        case .close:
            guard state.isOpen else { throw Rejection("closed", "the issue is closed already") }
            return [.closed]
        case .reopen:
            guard !state.isOpen else { throw Rejection("open", "the issue is open") }
            return [.reopened]
        case .remind(let delay, let text):
            try text.check("a reminder")
            guard state.isOpen else { throw Rejection("closed", "the issue is closed") }
            let reminder = Effect.after(delay, Mutation.reminded(of: text))
            return Mutations(async: reminder.until { (action: Action) in action == .close })
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .titled(let title): state.title = title
        case .commented(let text): state.comments.append(text)
        case .closed: state.isOpen = false
        case .reopened: state.isOpen = true
        case .reminded(let text): state.reminders.append(text)
        }
    }
}
