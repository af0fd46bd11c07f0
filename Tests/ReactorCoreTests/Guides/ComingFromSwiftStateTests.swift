import ReactorCore
import Testing

// The code of the guide for users of SwiftState, line for line.

@WireCodable
struct AddTodo: Equatable, Sendable { var title: String }

@WireCodable
struct Undo: Equatable, Sendable {}

@WireCodable
struct Todos: Equatable, Sendable {
    var titles: [String] = []
    var undone = 0
}

let reducer: Reducer<Todos> = Reducers.combine(
    (
        \.titles,
        { titles, action in
            if let add = action.as(AddTodo.self) { titles.append(add.title) }
            if action.as(Undo.self) != nil, !titles.isEmpty { titles.removeLast() }
        }
    ),
    (\.undone, Reducers.on(Undo.self) { undone, _ in undone += 1 })
)

@Suite("guide: coming from SwiftState")
struct ComingFromSwiftStateTests {
    @Test("F20, F21, F54: a root store combines reducers, and notifies observers of a part")
    func store() throws {
        var shown: [[String]] = []
        var lines: [String] = []
        let store = Store(RootReactor(Todos(), reducer: reducer))
        let titles = store.scoped(to: \.titles)
        let token = titles.observe { titles in shown.append(titles) }
        let logging = store.addMiddleware(
            Middleware { getState, action, _ in
                lines.append("\(action.name): \(getState().titles.count)")
            })
        try store.dispatch(AddTodo(title: "milk"))
        try store.dispatch(Undo())
        #expect(store.state == Todos(titles: [], undone: 1))
        #expect(shown == [[], ["milk"], []])
        #expect(lines == ["AddTodo: 1", "Undo: 0"])
        withExtendedLifetime((token, logging)) {}
    }
}
