import ReactorCore
import Testing

@testable import TrackerExample

@Suite("The tracker")
struct TrackerTests {
    @Test("the tracker numbers the issues and keeps their titles")
    func open() throws {
        let store = Store(Tracker())
        try store.dispatch(.open(title: "Login is slow"))
        try store.dispatch(.open(title: "Logout hangs"))
        #expect(store.state.numbers == [1, 2])
        #expect(store.state.lines[2] == Tracker.Line(title: "Logout hangs"))
        #expect(throws: Rejection.self) { try store.dispatch(.open(title: "")) }
        #expect(store.state.lastNumber == 2)
    }

    @Test("F77: a terminal shows the current stage of a search")
    func searchText() throws {
        let store = Store(Tracker())
        try store.dispatch(.open(title: "Login is slow"))
        #expect(store.state.searchText == "look for something")
        try store.dispatch(.search("log"))
        #expect(store.state.searchText == "looking for log …")
        try store.dispatch(.find("log"))
        #expect(store.state.searchText == "1 Login is slow")
        try store.dispatch(.find("crash"))
        #expect(store.state.searchText == "nothing has crash in its title")
        var state = store.state
        state.search.found = .failed(LoadError(code: "busy", message: "try again"))
        #expect(state.searchText == "failed: busy: try again")
    }

    @Test("of several searches in a row only the last runs")
    func search() async throws {
        let desk = StoreDesk(Tracker())
        try desk.store.dispatch(.open(title: "Login is slow"))
        try desk.store.dispatch(.open(title: "Logout hangs"))
        try desk.store.dispatch(.search("log"))
        try desk.store.dispatch(.search("LOGIN"))
        #expect(desk.store.state.search == Tracker.Search(text: "LOGIN", found: .loading))
        while desk.clock.sleeperCount == 0 {
            desk.store.drain()
            await Task.yield()
        }
        desk.clock.run()
        await desk.until { !$0.search.found.isLoading }
        #expect(desk.store.state.search.found == .loaded([1]))
        #expect(desk.store.sequence == 5)
    }
}
