import ReactorCore
import Synchronization
import Testing

/// A tally that counts its decisions.
struct CountedTally: Reactor {
    /// Counts the decisions of all copies.
    final class Meter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    let meter: Meter
    var initialState: Tally.State { Tally.State() }

    func mutate(
        action: Tally.Action, state: Tally.State
    ) throws(Rejection) -> Mutations<Tally.Mutation> {
        meter.add()
        return try Tally().mutate(action: action, state: state)
    }

    func reduce(state: inout Tally.State, mutation: Tally.Mutation) {
        Tally().reduce(state: &state, mutation: mutation)
    }
}

@Suite("Overlay")
struct OverlayTests {
    private func replica(_ reactor: CountedTally) throws -> Replica<CountedTally> {
        let replica = Replica(reactor)
        try replica.stage(state: Tally.State().wireBytes().span)
        replica.commit()
        return replica
    }

    private func commit(_ amounts: [Int], to replica: Replica<CountedTally>) throws {
        for amount in amounts {
            try replica.stage(delta: Tally.Mutation.added(amount).wireBytes().span, from: 0)
            replica.commit()
        }
    }

    @Test("F70: previewed actions apply on top of new states, and are decided once per read")
    func replays() throws {
        let meter = CountedTally.Meter()
        let replica = try replica(CountedTally(meter: meter))
        let numbers = (1...50).map { replica.preview(.add($0)) }
        #expect(numbers.allSatisfy { $0 != nil } && meter.value == 50)
        #expect(replica.shown.sum == 1_275 && replica.state.sum == 0)
        try commit(Array(repeating: 1_000, count: 30), to: replica)
        #expect(meter.value == 50)
        #expect(replica.shown.sum == 31_275 && replica.state.sum == 30_000)
        #expect(Array(replica.shown.history.prefix(31)) == Array(repeating: 1_000, count: 30) + [1])
        #expect(meter.value == 100)
    }

    @Test("F70: a settled action is removed, and the others are decided without it")
    func settles() throws {
        let replica = try replica(CountedTally(meter: CountedTally.Meter()))
        let first = try #require(replica.preview(.add(1)))
        let second = try #require(replica.preview(.add(10)))
        #expect(replica.settle(preview: first))
        #expect(!replica.settle(preview: first))
        #expect(replica.shown.history == [10])
        #expect(replica.settle(preview: second))
        #expect(replica.shown == Tally.State())
    }

    @Test("F70: actions contained in the state are removed by ordinal; unsent ones stay")
    func contained() throws {
        let replica = try replica(CountedTally(meter: CountedTally.Meter()))
        for (amount, ordinal) in [(1, 7), (2, 8), (3, 9)] as [(Int, UInt64)] {
            let number = try #require(replica.preview(.add(amount)))
            replica.sent(preview: number, as: ordinal)
        }
        _ = replica.preview(.add(4))
        replica.settle(upTo: 8)
        #expect(replica.shown.history == [3, 4])
    }

    @Test("F70: a currently rejected action is shown once the state accepts it")
    func rejectedForNow() throws {
        let replica = Replica(Gate())
        try replica.stage(state: Gate.State().wireBytes().span)
        replica.commit()
        #expect(replica.preview(.pass) != nil)
        #expect(replica.shown == Gate.State())
        try replica.stage(delta: Gate.Mutation.opened.wireBytes().span, from: 0)
        replica.commit()
        #expect(replica.shown == Gate.State(isOpen: true, passed: 1))
    }

    @Test("F70: changes of the shown state are reported field by field, if the state records them")
    func changes() throws {
        func names(_ changes: StateChanges) -> [WireKey]? {
            if case .fields(let fields) = changes { fields.map(\.name) } else { nil }
        }
        let replica = Replica(Shelf())
        try replica.stage(state: Shelf.State().wireBytes().span)
        replica.commit()
        _ = replica.drainChanges()
        let first = try #require(replica.tryOut(.name("a")))
        #expect(names(first.changes) == ["name"])
        let second = try #require(replica.tryOut(.put(key: "k", value: 1)))
        #expect(names(second.changes) == ["entries"])
        #expect(names(try #require(replica.tryOut(.quiet)).changes) == [])
        // On another state the previewed actions are decided again, and both fields may differ.
        try replica.stage(delta: Shelf.Action.alert("x").wireBytes().span, from: 0)
        replica.commit()
        #expect(names(replica.drainChanges()) == ["alert", "stamp"])
        #expect(names(replica.takeOverlayChanges()) == ["name", "entries"])
        #expect(replica.settle(preview: first.number))
        #expect(names(replica.takeOverlayChanges()) == ["name", "entries"])
        #expect(replica.settle(preview: second.number))
        #expect(names(replica.takeOverlayChanges()) == ["entries"])
        #expect(names(replica.takeOverlayChanges()) == [])
        #expect(replica.shown.name.isEmpty && replica.shown.entries.isEmpty)
        let untracked = try self.replica(CountedTally(meter: CountedTally.Meter()))
        #expect(untracked.tryOut(.add(1))?.changes == .all)
    }

    @Test("F70: there is no preview without a state, above the limit, or with different types")
    func limits() throws {
        #expect(Replica(Tally()).preview(.add(1)) == nil)
        let replica = try replica(CountedTally(meter: CountedTally.Meter()))
        for _ in 0..<CoreLimits.previewsMax { #expect(replica.preview(.add(1)) != nil) }
        #expect(replica.preview(.add(1)) == nil)
        replica.setPreviewable(false)
        #expect(replica.shown == Tally.State())
        #expect(replica.preview(.add(1)) == nil)
    }
}

/// A gate: it accepts the action `pass` once it is open.
@Reactor
struct Gate {
    enum Action: Equatable, Sendable { case pass, open }
    enum Mutation: Equatable, Sendable { case passed, opened }
    struct State: Equatable, Sendable {
        var isOpen = false
        var passed = 0
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .pass:
            guard state.isOpen else { throw Rejection("closed", "open it first") }
            return [.passed]
        case .open: return [.opened]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .passed: state.passed += 1
        case .opened: state.isOpen = true
        }
    }
}
