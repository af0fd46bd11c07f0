import Testing

@testable import ReactorCore

@Suite("Pulse")
struct PulseTests {
    @Test("F59: the count changes at every assignment, equal or in place, and wraps around")
    func count() {
        var pulse = Pulse<String?>(wrappedValue: nil)
        pulse.wrappedValue = "a"
        pulse.wrappedValue = "a"
        pulse.wrappedValue?.append("b")
        #expect(pulse.count == 3 && pulse.value == "ab")
        var last = Pulse(value: 1, count: .max)
        last.wrappedValue = 1
        #expect(last.count == 0)
        #expect(Pulse(value: 1, count: 1) != Pulse(value: 1, count: 2))
        #expect(Set([Pulse(value: 1, count: 1), Pulse(value: 1, count: 1)]).count == 1)
    }

    @Test("F59: stamped values are compared only by their counts, which wrap around")
    func stamped() {
        var stamped = Stamped(value: "a", count: .max)
        let before = stamped
        stamped.value = "a"
        #expect(stamped.count == 0 && stamped != before)
        stamped.value.append("b")
        #expect(stamped == Stamped(value: "other", count: 1))
        #expect(stamped.hashValue == Stamped(value: "other", count: 1).hashValue)
    }

    @Test("F59: the count is encoded")
    func coding() throws {
        let pulse = Pulse(value: "a", count: 3)
        #expect(try WireValue(wireBytes: pulse.wireBytes()) == ["count": 3, "value": "a"])
        #expect(try Pulse<String>(wireBytes: pulse.wireBytes()) == pulse)
        let stamped = Stamped(value: 7, count: 4)
        #expect(try WireValue(wireBytes: stamped.wireBytes()) == ["count": 4, "value": 7])
        let read = try Stamped<Int>(wireBytes: stamped.wireBytes())
        #expect(read == stamped && read.value == 7)
        var writer = WireWriter()
        #expect(pulse.encode(at: ["count"], into: &writer) == .found && writer.bytes == [3])
        #expect(Pulse<String>.wireSchema == Stamped<String>.wireSchema)
        let memo = try Memo(wireBytes: ["count": 1, "limit": 2, "noise": 0] as WireValue)
        #expect(memo.$alert.count == 0 && memo.alert == nil)
    }

    @Test(
        "F59: a store's observer is notified of assignments from then on, and not of earlier ones")
    func store() throws {
        let store = Store(Shelf())
        try store.dispatch(.alert("before"))
        var alerts: [String?] = []
        var stamps: [String] = []
        var token: StoreToken? = store.pulse(\.$alert) { alerts.append($0) }
        let other = store.pulse(\.stamp) { stamps.append($0) }
        #expect(alerts.isEmpty)
        try store.dispatch(.alert("a"))
        try store.dispatch(.name("x"))
        try store.dispatch(.alert("a"))
        #expect(alerts == ["a", "a"] && stamps == ["a", "a"])
        token = nil
        try store.dispatch(.alert("b"))
        #expect(alerts == ["a", "a"] && stamps.last == "b" && token == nil)
        _ = other
    }

    @Test("F59: a pulse assigned in a replacing state notifies")
    func replaced() throws {
        let store = Store(Ringer())
        var rings: [String] = []
        let token = store.pulse(\.$alert) { rings.append($0) }
        let stamps = store.pulse(\.stamp) { rings.append("stamp \($0)") }
        try store.dispatch(.ring("a"))
        try store.dispatch(.replace("b"))
        try store.dispatch(.replace("b"))
        #expect(rings == ["a", "stamp a", "b", "stamp b", "b", "stamp b"])
        // A new state whose pulse was not assigned does not notify.
        try store.dispatch(.reset)
        try store.dispatch(.ring("c"))
        #expect(rings.suffix(2) == ["c", "stamp c"] && rings.count == 8)
        withExtendedLifetime((token, stamps)) {}
    }

    @Test("F59: a listener distinguishes decoded values by their counts")
    func listener() throws {
        var listener = PulseListener(Pulse(value: "a", count: 3))
        #expect(listener.isTold(of: Pulse(value: "a", count: 3)) == false)
        #expect(listener.isTold(of: Pulse(value: "b", count: 5)) == true)
        var pulse = Pulse(value: "b", count: 5)
        #expect(listener.isTold(of: pulse) == false)
        pulse.wrappedValue = "c"
        #expect(listener.isTold(of: pulse) == true)
        #expect(listener.isTold(of: pulse) == false)
        #expect(listener.isTold(of: Pulse(value: "", count: 0)) == false)
    }

    @Test("F59: a decoded value with another value was assigned, even if it has the same count")
    func decoded() throws {
        func read(_ value: String, count: UInt64) throws -> Pulse<String> {
            try Pulse(wireBytes: Pulse(value: value, count: count).wireBytes())
        }
        var listener = PulseListener(try read("a", count: 1))
        #expect(listener.isTold(of: try read("a", count: 1)) == false)
        #expect(listener.isTold(of: try read("b", count: 1)) == true)
        #expect(listener.isTold(of: try read("b", count: 1)) == false)
        // A value that was never assigned is the initial one of a replaced state.
        #expect(listener.isTold(of: try read("", count: 0)) == false)
        #expect(listener.isTold(of: try read("b", count: 1)) == true)
    }

    @Test("F59: a decoded value that differs from itself is told once for each count")
    func notANumber() throws {
        func read(count: UInt64) throws -> Pulse<Double> {
            try Pulse(wireBytes: Pulse(value: Double.nan, count: count).wireBytes())
        }
        var listener = PulseListener(try read(count: 1))
        #expect(listener.isTold(of: try read(count: 1)) == false)
        #expect(listener.isTold(of: try read(count: 2)) == true)
        #expect(listener.isTold(of: try read(count: 2)) == false)
    }
}

/// Replaces its whole state.
@Reactor
private struct Ringer {
    enum Action: Equatable, Sendable {
        case ring(String)
        case replace(String)
        case reset
    }

    struct State: Equatable, Sendable {
        @Pulse var alert: String = ""
        var stamp: Stamped<String> = Stamped("")
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .ring(let text):
            state.alert = text
            state.stamp.value = text
        case .replace(let text):
            state = State()
            state.alert = text
            state.stamp.value = text
        case .reset: state = State()
        }
    }
}

extension Memo {
    fileprivate init(wireBytes value: WireValue) throws {
        try self.init(wireBytes: value.wireBytes())
    }
}
