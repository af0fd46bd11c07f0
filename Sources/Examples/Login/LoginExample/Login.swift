public import ReactorCore

/// A login form that validates its fields while a person types.
///
/// Passwords occur only in actions. The state, which every process may mirror, has only the
/// password's length and the message about it.
@Reactor
public struct Login {
    /// Creates an empty form.
    public init() {}

    /// An input to the form.
    public enum Action: Equatable, Sendable {
        /// Sets the user's name.
        case user(String)
        /// Sets the password.
        case password(String)
        /// Logs in; rejected as long as the form has a message.
        case logIn
    }

    /// A change of the form.
    public enum Mutation: Equatable, Sendable {
        /// A new user's name; `message` says why it is invalid.
        case typedUser(text: String, message: String?)
        /// A new password of this length; `message` says why it is invalid.
        case typedPassword(length: Int, message: String?)
        /// The person has logged in.
        case loggedIn
    }

    /// The form's state, for all mirrors.
    public struct State: Equatable, Sendable {
        /// The content of the field for the user's name.
        public var user = ""
        /// The number of characters in the field for the password.
        public var passwordLength = 0
        /// Says why the user's name is invalid; nil if it is valid.
        public var userMessage: String? = LoginRules.message(user: "")
        /// Says why the password is invalid; nil if it is valid.
        public var passwordMessage: String? = LoginRules.message(password: "")
        /// Whether the person has logged in.
        public var isLoggedIn = false

        /// Creates the state of an empty form.
        public init() {}

        /// The first problem to correct; nil if the form is valid.
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

/// The rules for user names and passwords.
enum LoginRules {
    /// Says why `user` is not a valid user name; nil if it is.
    static func message(user: String) -> String? {
        user.count < 7 ? "the user name needs at least 7 characters" : nil
    }

    /// Says why `password` is not a valid password; nil if it is.
    static func message(password: String) -> String? {
        if password.count <= 7 { return "the password needs more than 7 characters" }
        if !password.contains(where: \.isUppercase) { return "the password needs a capital" }
        if !password.contains(where: \.isNumber) { return "the password needs a digit" }
        if !password.contains(where: \.isSpecial) {
            return "the password needs a special character"
        }
        return nil
    }
}

extension Character {
    fileprivate var isSpecial: Bool { !isLetter && !isNumber && !isWhitespace }
}
