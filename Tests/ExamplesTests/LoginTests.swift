import LoginExample
import ReactorCore
import Testing

@Suite("The login form")
struct LoginTests {
    @Test("it tells the user's fault first, then the password's, and lets in when there is none")
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
