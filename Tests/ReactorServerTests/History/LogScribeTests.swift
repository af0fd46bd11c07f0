import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// What rows tell of who did what.
@Suite("LogScribe")
struct LogScribeTests {
    private func entries(
        _ harness: ServerHarness, below path: SlicePath = .root
    ) throws -> [LogEntry] {
        var scribe = LogScribe()
        return try harness.rows.flatMap { try scribe.entries(of: $0, at: 1_000, below: path) }
    }

    @Test("a run of actions is told action by action, with caller, node, action and mutations")
    func run() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        client.add(2)
        client.add(3)
        harness.turn()
        let told = try entries(harness)
        #expect(told.map(\.revision) == [1, 2].map { Revision(epoch: 7, sequence: $0) })
        let caller = LogCaller(uid: 1_000, gid: 1_000, pid: 42)
        #expect(told.map(\.caller) == [caller, caller])
        #expect(told.map(\.origin.ordinal) == [1, 2])
        #expect(told[1].actions.map(\.path) == ["/visits"])
        #expect(
            try told[1].actions[0].action.decode(as: WireValue.self) == ["add": ["by": 3]])
        #expect(told[1].mutations.map(\.path) == ["/visits"])
        #expect(try entries(harness, below: SlicePath("/elsewhere")).isEmpty)
    }

    @Test("an action that was refused stands where it came, without a revision")
    func refused() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        client.add(2)
        client.dispatch(["nonsense": [:]] as WireValue)
        client.add(3)
        harness.turn()
        let told = try entries(harness)
        #expect(told.map { $0.revision?.sequence } == [1, nil, 2])
        guard case .rejected(let code, _)? = told[1].outcome else {
            Issue.record("\(told[1])")
            return
        }
        #expect(code == "DECODE")
    }

    @Test("the last ordinal there is can be told as well")
    func lastOrdinal() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        let action = Tally.Action.add(by: 1)
        client.dispatch(action, ordinal: .max - 1, options: DispatchOptions(deadline: 1_000))
        harness.turn()
        client.dispatch(action, ordinal: .max)
        harness.turn()
        #expect(try entries(harness).map(\.origin.ordinal) == [.max - 1, .max])
    }
}
