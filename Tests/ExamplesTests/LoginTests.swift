import LoginExample
import ReactorCore
import Testing

@Suite("The login form")
struct LoginTests {
    @Test(
        "the message names the user's problem, then the password's; without one, logging in works"
    )
    func messages() throws {
        let store = Store(Login())
        #expect(store.state.message?.contains("user name") == true)
        try store.dispatch(.user("Ada Lovelace"))
        #expect(store.state.message?.contains("password") == true)
        let rejection = #expect(throws: Rejection.self) { try store.dispatch(.logIn) }
        #expect(rejection?.message == store.state.message)
        #expect(!store.state.isLoggedIn)
        try store.dispatch(.password("Analytical-1"))
        #expect(store.state.message == nil)
        try store.dispatch(.logIn)
        #expect(store.state.isLoggedIn)
    }
}
