import Testing

@testable import ReactorCore

/// An older thermometer with one case and one field that today's lacks.
@Reactor
private struct OldThermometer {
    enum Action: Sendable { case fahrenheit(Int) }

    struct State: Equatable, Sendable { var fahrenheit = 32 }

    func reduce(state: inout State, mutation: Action) {
        if case .fahrenheit(let degrees) = mutation { state.fahrenheit = degrees }
    }
}

/// Today's thermometer, which migrates the older one.
@Reactor
private struct Thermometer {
    static var formerNames: [String] { ["OldThermometer"] }

    enum Action: Sendable { case celsius(Int) }

    struct State: Equatable, Sendable { var celsius: Int }

    var initialState: State { State(celsius: 0) }

    func reduce(state: inout State, mutation: Action) {
        if case .celsius(let degrees) = mutation { state.celsius = degrees }
    }

    static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? {
        guard case .map(let map) = old, case .integer(let value)? = map["fahrenheit"],
            let degrees = Int(exactly: value),
            let celsius = WireInteger(exactly: Int128((degrees - 32) * 5 / 9))
        else { return nil }
        return ["celsius": .integer(celsius)]
    }
}

/// Today's thermometer without a migration.
@Reactor
private struct StrictThermometer {
    enum Action: Sendable { case celsius(Int) }

    struct State: Equatable, Sendable { var celsius: Int }

    var initialState: State { State(celsius: 0) }

    func reduce(state: inout State, mutation: Action) {}
}

@Suite("Migration")
struct MigrationTests {
    private func recover(_ reactor: some Reactor, _ deltas: [UInt8]) throws -> Tree {
        let tree = Tree(reactor, epoch: 1)
        let recovery = TreeRecovery(of: tree)
        try recovery.replay(deltas.span)
        try recovery.finish(epoch: 1, sequence: 2)
        return tree
    }

    @Test("mutations and states that today's types cannot decode are migrated by the reactor")
    func migrated() throws {
        let old = Tree(OldThermometer(), epoch: 1)
        try old.send(OldThermometer.Action.fahrenheit(50))
        try old.send(OldThermometer.Action.fahrenheit(212))
        let replayed = try recover(Thermometer(), old.turn.deltaBytes)
        #expect(try replayed.json() == #"{"celsius":100}"#)
        let snapshot = old.beginSnapshot()
        snapshot.gather(.max)
        var part = WireWriter()
        for node in snapshot.take() { node.encode(into: &part) }
        let restored = Tree(Thermometer(), epoch: 1)
        let recovery = TreeRecovery(of: restored)
        try recovery.restore(part.bytes.span)
        try recovery.finish(epoch: 1, sequence: 2)
        #expect(try restored.json() == #"{"celsius":100}"#)
    }

    @Test("without a migration the error names the path, the sequence and the remedy")
    func refused() throws {
        let old = Tree(OldThermometer(), epoch: 1)
        try old.send(OldThermometer.Action.fahrenheit(50))
        let error = #expect(throws: RecoveryError.self) {
            try recover(StrictThermometer(), old.turn.deltaBytes)
        }
        let text = "\(error as Any)"
        #expect(text.contains("at sequence 1") && text.contains("fahrenheit"), "\(text)")
    }
}
