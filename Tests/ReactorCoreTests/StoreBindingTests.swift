import ReactorCore
import Testing

@Suite("StoreBinding")
struct StoreBindingTests {
    @Test("F66: a store's binding reads the state, and dispatches written values")
    func action() throws {
        let store = Store(Tally())
        var refused: [String] = []
        let sum = store.binding(
            \.sum, onRejection: { refused.append($0.code) },
            action: { $0 < 0 ? .refuse : .add($0) })
        sum.wrappedValue = 5
        sum.wrappedValue += 1
        #expect(sum.wrappedValue == 11 && store.sequence == 2)
        sum.wrappedValue = -1
        #expect(sum.wrappedValue == 11 && refused == ["refused"])
    }

    @Test("F68: a binding to a mutation bypasses the decision, only within the process")
    func mutation() throws {
        let store = Store(Tally())
        var seen: [Int] = []
        let token = store.observe { seen.append($0.sum) }
        let sum = store.binding(\.sum, mutation: { .added($0) })
        sum.wrappedValue = 3
        #expect(sum.wrappedValue == 3 && store.state.history == [3] && store.sequence == 1)
        #expect(seen == [0, 3])
        withExtendedLifetime(token) {}
    }

    @Test("F68: a mutation from inside an observer waits until the current action is complete")
    func nested() throws {
        let store = Store(Tally())
        let sum = store.binding(\.sum, mutation: { .added($0) })
        var seen: [Int] = []
        let token = store.observe { state in
            seen.append(state.sum)
            if state.sum == 1 { sum.wrappedValue = 10 }
        }
        try store.dispatch(.add(1))
        #expect(seen == [0, 1, 11] && store.state.history == [1, 10])
        withExtendedLifetime(token) {}
    }

    @Test("F66: a binding learns of the refusal of a value that an observer wrote")
    func refusedLater() throws {
        let store = Store(Tally())
        var refused: [String] = []
        let sum = store.binding(
            \.sum, onRejection: { refused.append($0.code) }, action: { _ in .refuse })
        let token = store.observe { if $0.sum == 1 { sum.wrappedValue = 9 } }
        try store.dispatch(.add(1))
        #expect(refused == ["refused"] && store.state.sum == 1)
        withExtendedLifetime(token) {}
    }
}
