import LoginExample
import ReactorCore
import Testing

@Suite("The login form's rules")
struct LoginRulesTests {
    @Test(
        "a user name has at least 7 characters",
        arguments: [
            ("", "the user name needs at least 7 characters"),
            ("Ada Lo", "the user name needs at least 7 characters"), ("Ada Lov", nil),
        ])
    func user(text: String, message: String?) throws {
        let store = Store(Login())
        try store.dispatch(.user(text))
        #expect(store.state.userMessage == message)
    }

    @Test(
        "a password has more than 7 characters, a capital, a digit and a special character",
        arguments: [
            ("Ab1-567", "the password needs more than 7 characters"),
            ("ab1-5678", "the password needs a capital"),
            ("Abc-efgh", "the password needs a digit"),
            ("Abc4efgh", "the password needs a special character"),
            ("Abc 4efgh", "the password needs a special character"), ("Ab1-5678", nil),
        ])
    func password(text: String, message: String?) throws {
        let store = Store(Login())
        try store.dispatch(.password(text))
        #expect(store.state.passwordMessage == message)
        #expect(store.state.passwordLength == text.count)
    }
}
