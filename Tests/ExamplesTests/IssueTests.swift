import ReactorCore
import Testing
import TrackerExample

@Suite("An issue")
struct IssueTests {
    @Test("an issue keeps comments, and rejects blank ones")
    func comment() throws {
        let store = Store(TrackerExample.Issue())
        try store.dispatch(.comment("I see it too"))
        #expect(store.state.comments == ["I see it too"])
        #expect(throws: Rejection.self) { try store.dispatch(.comment(" ")) }
        #expect(throws: Rejection.self) { try store.dispatch(.reopen) }
        try store.dispatch(.close)
        #expect(throws: Rejection.self) { try store.dispatch(.close) }
        try store.dispatch(.reopen)
        #expect(store.state.isOpen)
    }

    @Test("a reminder arrives after its delay, unless the issue was closed before")
    func remind() async throws {
        let desk = StoreDesk(TrackerExample.Issue())
        try desk.store.dispatch(.remind(after: .seconds(60), of: "forgotten"))
        try desk.store.dispatch(.close)
        #expect(throws: Rejection.self) {
            try desk.store.dispatch(.remind(after: .seconds(60), of: "too late"))
        }
        try desk.store.dispatch(.reopen)
        try desk.store.dispatch(.remind(after: .seconds(60), of: "ask Ada"))
        #expect(desk.store.state.reminders == [])
        desk.clock.run()
        await desk.until { !$0.reminders.isEmpty }
        #expect(desk.store.state.reminders == ["ask Ada"])
    }
}
