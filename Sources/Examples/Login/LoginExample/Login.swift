public import ReactorCore

/// A login form that is checked as it is typed, and says what is missing.
///
/// The password stays in the action: what every process may mirror is how long it is, and what it
/// lacks.
@Reactor
public struct Login {
    /// An empty form.
    public init() {}

    /// What a person does with the form.
    public enum Action: Equatable, Sendable {
        /// The user's name is now this.
        case user(String)
        /// The password is now this.
        case password(String)
        /// Asks to be let in; refused for as long as the form has a message.
        case logIn
    }

    /// What happened to the form.
    public enum Mutation: Equatable, Sendable {
        /// The user's name was typed; `message` is what it lacks.
        case typedUser(text: String, message: String?)
        /// A password of this length was typed; `message` is what it lacks.
        case typedPassword(length: Int, message: String?)
        /// The person was let in.
        case loggedIn
    }

    /// The form as everybody sees it.
    public struct State: Equatable, Sendable {
        /// What stands in the field of the user.
        public var user = ""
        /// How many characters stand in the field of the password.
        public var passwordLength = 0
        /// What the user's name lacks.
        public var userMessage: String? = LoginRules.message(user: "")
        /// What the password lacks.
        public var passwordMessage: String? = LoginRules.message(password: "")
        /// Whether the person was let in.
        public var isLoggedIn = false

        /// A form in which nothing stands.
        public init() {}

        /// What to mend first; none if all is well.
        public var message: String? { userMessage ?? passwordMessage }
    }

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .user(let text):
            return [.typedUser(text: text, message: LoginRules.message(user: text))]
        case .password(let text):
            let message = LoginRules.message(password: text)
            return [.typedPassword(length: text.count, message: message)]
        case .logIn:
            if let message = state.message { throw Rejection("incomplete", message) }
            return [.loggedIn]
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .typedUser(let text, let message):
            state.user = text
            state.userMessage = message
        case .typedPassword(let length, let message):
            state.passwordLength = length
            state.passwordMessage = message
        case .loggedIn: state.isLoggedIn = true
        }
    }
}
