import GuestbookCore
import ReactorTesting
import Testing

struct GuestbookTests {
    @Test("a guest signs, and strikes only what is there")
    func signing() {
        let store = TestStore(Guestbook())
        store.send(.sign(name: "Ada", text: "hello")) {
            $0.lastNumber = 1
            $0.entries[1] = "Ada: hello"
        }
        store.sendRejected(.strike(7), "unknown")
        store.finish()
    }

    @Test("what one guest signs, another sees")
    func mirrors() throws {
        let daemon = TestDaemon(Guestbook())
        let book = try daemon.connect().mirror(Guestbook.self)
        let ada = daemon.connect()
        _ = try ada.dispatch(Guestbook.Action.sign(name: "Ada", text: "hello"))
        #expect(book.state.entries[1] == "Ada: hello")
    }
}
