import ReactorCore
import Testing

@Suite("StoreView")
struct StoreViewTests {
    private let store = Store(Adder())

    @Test("F54: an observer of a part is called only when the part changes")
    func dedup() throws {
        var sums: [Int] = []
        let view = store.scoped(to: \.sum)
        let token = view.observe { sums.append($0) }
        try view.dispatch(.add(1))
        try store.dispatch(.add(0))
        try store.dispatch(.add(2))
        #expect(sums == [0, 1, 3])
        #expect(view.state == 3)
        withExtendedLifetime(token) {}
    }

    @Test("F54: an observer of a part that dispatches in its first call is called with the result")
    func actingAtOnce() throws {
        var sums: [Int] = []
        let view = store.scoped(to: \.sum)
        let token = view.observe { sum in
            if sum == 0 { view.send(.add(1)) }
            sums.append(sum)
        }
        #expect(sums == [0, 1])
        withExtendedLifetime(token) {}
    }

    @Test("F55: an observer of a nested part is called only for its changes")
    func nested() throws {
        var counts: [Int] = []
        let token = store.scoped(to: \.seen).scoped(to: \.count).observe { counts.append($0) }
        try store.dispatch(.add(4))
        try store.dispatch(.addLater(4))
        #expect(counts == [0, 1])
        withExtendedLifetime(token) {}
    }

    @Test("F54: a view's middleware sees its part, and every action")
    func middleware() throws {
        var seen: [String] = []
        let view = store.scoped(to: \.sum)
        let token = view.addMiddleware { sum, action, dispatch in
            seen.append("\(action) \(sum())")
            if action == .add(1) { dispatch(.add(5)) }
        }
        view.send(.add(1))
        #expect(seen == ["add(1) 1", "add(5) 6"])
        withExtendedLifetime(token) {}
    }
}
