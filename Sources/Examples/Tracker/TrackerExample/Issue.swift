public import ReactorCore

/// One issue: what it is about, what people say of it, and whether it is done.
@Reactor
public struct Issue {
    /// An issue without a title yet.
    public init() {}

    /// What a person does with an issue.
    public enum Action: Equatable, Sendable {
        /// Adds a comment.
        case comment(String)
        /// Ends the work on it; what it was to remind of is forgotten.
        case close
        /// Takes the work on it up again.
        case reopen
        /// Reminds of something after a while, unless the issue is closed before.
        case remind(after: Duration, of: String)
    }

    /// What happened to an issue.
    public enum Mutation: Equatable, Sendable {
        /// The tracker gave it its title.
        case titled(String)
        /// Somebody commented.
        case commented(String)
        /// It is done.
        case closed
        /// It is not.
        case reopened
        /// The time for a reminder has come.
        case reminded(of: String)
    }

    /// An issue as everybody sees it.
    public struct State: Equatable, Sendable {
        /// What it is about.
        public var title = ""
        /// Whether there is work to do.
        public var isOpen = true
        /// What people said, the oldest first.
        public var comments: [String] = []
        /// The reminders whose time has come, the oldest first.
        public var reminders: [String] = []

        /// An open issue without a title.
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
