import ReactorWire
import Testing

@testable import ReactorCore

/// A number for the reactors of a program.
struct TypesFingerprintTests {
    private static func tree(_ children: [(name: WireKey, reactor: any Reactor)]) -> Tree {
        Tree(ReactorGroup(children), epoch: 1)
    }

    private static func value(_ children: [(name: WireKey, reactor: any Reactor)]) -> UInt64 {
        TypesFingerprint(of: tree(children)).value
    }

    @Test("states and the children of collections do not change the number of a program")
    func states() throws {
        let tree = Self.tree([("shop", Shop()), ("sum", Tally())])
        let value = TypesFingerprint(of: tree).value
        try tree.send(Shop.Action.open("hall"), to: "/shop")
        try tree.send(Tally.Action.add(4), to: "/sum", ordinal: 2)
        #expect(tree.mountedCount > 5)
        #expect(TypesFingerprint(of: tree).value == value)
        #expect(Self.value([("sum", Tally()), ("shop", Shop())]) == value, "the order is no part")
    }

    @Test("another place, another type, another version and another action change the number")
    func differences() {
        let values = [
            Self.value([("sum", Tally())]), Self.value([("total", Tally())]),
            Self.value([("sum", Echo())]), Self.value([("sum", Tally()), ("more", Tally())]),
            Self.value([("sum", First())]), Self.value([("sum", Second())]),
            Self.value([("sum", Third())]), Self.value([]),
        ]
        #expect(Set(values).count == values.count)
    }
}

/// Three reactors that differ in their names, and in the version or the actions.
private struct First: Reactor {
    @WireCodable
    enum Action: Sendable { case add }
    @WireCodable
    struct State: Sendable { var sum = 0 }
    var initialState: State { State() }
    func reduce(state: State, mutation: Action) -> State { state }
}

private struct Second: Reactor {
    @WireCodable
    enum Action: Sendable { case add }
    typealias State = First.State
    static let version: UInt32 = 2
    var initialState: State { State() }
    func reduce(state: State, mutation: Action) -> State { state }
}

private struct Third: Reactor {
    @WireCodable
    enum Action: Sendable { case add, take }
    typealias State = First.State
    var initialState: State { State() }
    func reduce(state: State, mutation: Action) -> State { state }
}
