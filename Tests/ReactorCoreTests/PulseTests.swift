import Testing

@testable import ReactorCore

@Suite("Pulse")
struct PulseTests {
    @Test("F59: the count moves at every assignment, equal or in place, and wraps around")
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

    @Test("F59: stamped values are compared by their counts alone, which wrap around")
    func stamped() {
        var stamped = Stamped(value: "a", count: .max)
        let before = stamped
        stamped.value = "a"
        #expect(stamped.count == 0 && stamped != before)
        stamped.value.append("b")
        #expect(stamped == Stamped(value: "other", count: 1))
        #expect(stamped.hashValue == Stamped(value: "other", count: 1).hashValue)
    }

    @Test("F59: the count travels")
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

    @Test("F59: a store tells of each assignment from then on, and not of those before")
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
}

extension Memo {
    fileprivate init(wireBytes value: WireValue) throws {
        try self.init(wireBytes: value.wireBytes())
    }
}
