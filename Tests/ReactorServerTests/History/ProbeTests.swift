import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// A count whose `reduce` a test can change.
private struct Moody: Reactor {
    @WireCodable
    enum Action: Sendable { case add(by: Int) }

    @WireCodable
    enum Mutation: Sendable { case added(by: Int) }

    @WireCodable
    struct State: Sendable, Equatable { var count = 0 }

    /// The number that `reduce` adds in addition.
    let surcharge: Int

    var initialState: State { State() }

    func mutate(
        action: Action, state: State, context: ReactorContext<Moody>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount): [.added(by: amount)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount + surcharge
        }
    }

    static func make(surcharge: Int) -> Tree {
        Tree(ReactorGroup([("moody", Moody(surcharge: surcharge))]), epoch: 7, environment: .inert)
    }
}

/// The checksums that a replay must reproduce.
@Suite("Probes of states")
struct ProbeTests {
    /// A server that was probed, and the sequence of the probe.
    private func probed() throws -> (harness: ServerHarness, sequence: UInt64) {
        let recovery = Recovery(of: Moody.make(surcharge: 0), limits: ServerLimits())
        let harness = ServerHarness(try recovery.finish(epoch: 7, sequence: 0))
        let client = harness.client()
        client.open("/moody")
        while harness.probes.isEmpty {
            client.dispatch(Moody.Action.add(by: 1))
            harness.turn()
            try #require(harness.server.tree.turn.sequence < 10_000)
        }
        let sequence = harness.server.tree.turn.sequence
        // The checksums may come late, when the state has changed.
        client.dispatch(Moody.Action.add(by: 1))
        harness.turn()
        let (sums, byteCount) = try #require(harness.probes.first).sums()
        harness.server.summed(sums, byteCount: byteCount)
        client.dispatch(Moody.Action.add(by: 1))
        harness.turn()
        return (harness, sequence)
    }

    private func recover(
        _ rows: [Batch], _ tree: Tree, acceptsDivergence: Bool = false
    ) throws {
        let recovery = Recovery(of: tree, limits: ServerLimits())
        if acceptsDivergence { recovery.acceptDivergence() }
        for row in rows { try recovery.replay(row) }
        _ = try recovery.finish(epoch: 7, sequence: rows.last?.sequence ?? 0)
    }

    @Test("J70, R99: a reduce that replays to another state is found, with path and sequence")
    func changed() throws {
        let (harness, sequence) = try probed()
        try recover(harness.rows, Moody.make(surcharge: 0))
        #expect(throws: RecoveryError.diverged(path: "/moody", sequence: sequence)) {
            try recover(harness.rows, Moody.make(surcharge: 1))
        }
        try recover(harness.rows, Moody.make(surcharge: 1), acceptsDivergence: true)
    }

    @Test("J70: checksums of a probe before the snapshot are ignored")
    func cut() throws {
        let (harness, sequence) = try probed()
        let rows = harness.rows.filter { $0.sequence > sequence }
        let recovery = Recovery(of: Moody.make(surcharge: 1), limits: ServerLimits())
        try recovery.nodes.assign(harness.server.tree.staticRecords)
        for row in rows { try recovery.replay(row) }
        #expect(rows.contains { row in hasSums(row) })
    }

    private func hasSums(_ row: Batch) -> Bool {
        let facts = (try? TurnFact.list(row.facts.span)) ?? []
        return facts.contains { if case .sums = $0 { true } else { false } }
    }

    @Test("checksums cost little beside the written bytes, and one probe at a time is in progress")
    func seldom() {
        var book = ProbeSchedule()
        var dueCount = 0
        for _ in 0..<ProbeSchedule.turnsMax where book.isDue(behind: 10) { dueCount += 1 }
        #expect(dueCount == 1)
        book.start()
        var isDue = book.isDue(behind: ProbeSchedule.bytesMax)
        #expect(!isDue)
        book.finish([1], byteCount: 1 << 20)
        isDue = book.isDue(behind: 1)
        #expect(!isDue, "sums wait to be written down")
        let sums = [book.takeSums(), book.takeSums()]
        #expect(sums == [[1], nil])
        isDue = book.isDue(behind: 32 << 20)
        #expect(!isDue)
        isDue = book.isDue(behind: 64 << 20)
        #expect(isDue)
        book.finish([2], byteCount: 1)
        let none = book.takeSums()
        #expect(none == nil, "nobody asked for these")
    }
}
