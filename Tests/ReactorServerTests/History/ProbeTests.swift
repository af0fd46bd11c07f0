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

    // MARK: Short journals

    private static let second: UInt64 = 1_000_000_000

    /// A server without changes, and a client of `/moody`.
    private func fresh() throws -> (harness: ServerHarness, client: TestClient) {
        let recovery = Recovery(of: Moody.make(surcharge: 0), limits: ServerLimits())
        let harness = ServerHarness(try recovery.finish(epoch: 7, sequence: 0))
        let client = harness.client()
        client.open("/moody")
        harness.settle()
        return (harness, client)
    }

    /// Passes seconds with ticks, and computes the sums of each probe.
    private func pass(_ seconds: Int, _ harness: ServerHarness, _ summed: inout Int) {
        for _ in 0..<seconds {
            harness.now += Self.second
            harness.server.tick(at: harness.now)
            harness.settle()
            for probe in harness.probes.dropFirst(summed) {
                let (sums, byteCount) = probe.sums()
                harness.server.summed(sums, byteCount: byteCount)
                summed += 1
            }
        }
    }

    private func unverified(_ rows: [Batch]) throws -> UnverifiedRows {
        let recovery = Recovery(of: Moody.make(surcharge: 0), limits: ServerLimits())
        for row in rows { try recovery.replay(row) }
        return recovery.unverified
    }

    @Test("J70: a single change is summed within a minute, and an idle server writes no more rows")
    func trickle() throws {
        let (harness, client) = try fresh()
        var summed = 0
        client.dispatch(Moody.Action.add(by: 1))
        harness.turn()
        #expect(try unverified(harness.rows).description == "1 row, of sequence 1")
        pass(59, harness, &summed)
        #expect(harness.probes.isEmpty)
        pass(3, harness, &summed)
        #expect(harness.probes.count == 1)
        #expect(try unverified(harness.rows).count == 0)
        #expect(throws: RecoveryError.diverged(path: "/moody", sequence: 1)) {
            try recover(harness.rows, Moody.make(surcharge: 1))
        }
        let rowCount = harness.rows.count
        pass(600, harness, &summed)
        #expect(harness.rows.count == rowCount)
        #expect(harness.probes.count == 1)
    }

    @Test("J70: a slow trickle is probed once a minute, and the rows since then are counted")
    func slowTrickle() throws {
        let (harness, client) = try fresh()
        var summed = 0
        for _ in 0..<100 {
            client.dispatch(Moody.Action.add(by: 1))
            harness.turn()
            pass(6, harness, &summed)
        }
        #expect((9...10).contains(harness.probes.count), "\(harness.probes.count) in 600 s")
        let rest = try unverified(harness.rows)
        #expect(rest.count < 20)
        #expect(rest.verifiedSequence.map { $0 + rest.count == 100 } ?? true)
        try recover(harness.rows, Moody.make(surcharge: 0))
    }

    @Test("J70: the last batch holds the sums of the last state, also of one change")
    func lastProbe() throws {
        let (harness, client) = try fresh()
        #expect(harness.server.lastProbe() == nil)
        client.dispatch(Moody.Action.add(by: 1))
        harness.turn()
        let last = try #require(harness.server.lastProbe())
        #expect(last.after == 1 && last.sequence == 1)
        #expect(try unverified(harness.rows + [last]).count == 0)
        try recover(harness.rows + [last], Moody.make(surcharge: 0))
        #expect(throws: RecoveryError.diverged(path: "/moody", sequence: 1)) {
            try recover(harness.rows + [last], Moody.make(surcharge: 1))
        }
        #expect(harness.server.lastProbe() == nil)
    }

    @Test("J70: sums that arrived last are in the last batch, and changes after their probe too")
    func lateSums() throws {
        let (harness, client) = try fresh()
        client.dispatch(Moody.Action.add(by: 1))
        harness.turn()
        harness.now += 61 * Self.second
        harness.server.tick(at: harness.now)
        harness.settle()
        let (sums, byteCount) = try #require(harness.probes.first).sums()
        client.dispatch(Moody.Action.add(by: 1))
        harness.turn()
        harness.server.summed(sums, byteCount: byteCount)
        let last = try #require(harness.server.lastProbe())
        let facts = try TurnFact.list(last.facts.span)
        #expect(facts.count == 3 && facts.first == .sums(sums))
        #expect(try unverified(harness.rows + [last]).count == 0)
        try recover(harness.rows + [last], Moody.make(surcharge: 0))
    }

    @Test("J70: rows that a former run left unverified are summed within a minute")
    func formerRows() throws {
        let (harness, client) = try fresh()
        for _ in 0..<3 {
            client.dispatch(Moody.Action.add(by: 1))
            harness.turn()
        }
        let recovery = Recovery(of: Moody.make(surcharge: 0), limits: ServerLimits())
        for row in harness.rows { try recovery.replay(row) }
        #expect(recovery.unverified.description == "3 rows, of sequences 1 to 3")
        let next = ServerHarness(try recovery.finish(epoch: 7, sequence: 3))
        var summed = 0
        pass(65, next, &summed)
        #expect(summed == 1)
        #expect(try unverified(harness.rows + next.rows).count == 0)
        #expect(throws: RecoveryError.diverged(path: "/moody", sequence: 3)) {
            try recover(harness.rows + next.rows, Moody.make(surcharge: 1))
        }
    }

    @Test("the changed nodes of a probe are bounded, and the server knows that some are missing")
    func changedNodes() {
        var changed = ChangedNodes()
        for _ in 0..<3 { for number in 1...ChangedNodes.countMax { changed.add(UInt32(number)) } }
        #expect(changed.numbers.count == ChangedNodes.countMax && changed.isComplete)
        changed.add(999)
        #expect(changed.numbers.count == ChangedNodes.countMax && !changed.isComplete)
    }

    // MARK: Costs

    private func isDue(_ book: inout ProbeSchedule, behind byteCount: Int, at now: UInt64) -> Bool {
        book.count(behind: byteCount, at: now)
        return book.isDue(at: now)
    }

    @Test("checksums cost little beside the written bytes, and one probe at a time is in progress")
    func seldom() {
        var book = ProbeSchedule()
        var dueCount = 0
        for _ in 0..<ProbeSchedule.turnsMax where isDue(&book, behind: 10, at: 5) { dueCount += 1 }
        #expect(dueCount == 1)
        book.start(at: 5)
        #expect(!isDue(&book, behind: ProbeSchedule.bytesMax, at: 5))
        book.finish([1], byteCount: 1 << 20)
        #expect(!isDue(&book, behind: 1, at: 5), "sums wait to be written down")
        let sums = [book.takeSums(), book.takeSums()]
        #expect(sums == [[1], nil])
        #expect(!isDue(&book, behind: 32 << 20, at: 5))
        #expect(isDue(&book, behind: 64 << 20, at: 5))
        book.finish([2], byteCount: 1)
        let none = book.takeSums()
        #expect(none == nil, "no probe ordered these")
    }

    @Test("a state of ten mebibytes is probed every ten minutes while changes come slowly")
    func huge() {
        var book = ProbeSchedule()
        let minute = ProbeSchedule.interval
        #expect(!isDue(&book, behind: 10, at: 0))
        #expect(book.isDue(at: minute))
        book.start(at: minute)
        book.finish([1], byteCount: 10 << 20)
        _ = book.takeSums()
        var probedAt: [UInt64] = []
        for second in 60..<UInt64(1_500) {
            let now = second * Self.second
            guard isDue(&book, behind: 10, at: now) else { continue }
            probedAt.append(second)
            book.start(at: now)
            book.finish([1], byteCount: 10 << 20)
            _ = book.takeSums()
        }
        #expect(probedAt == [660, 1_260])
    }
}
