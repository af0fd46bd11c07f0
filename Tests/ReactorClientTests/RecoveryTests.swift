import ReactorCore
import ReactorServer
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

/// A client whose daemon crashed and continues with its journal.
@Suite("A daemon that continues its journal")
struct RecoveryTests {
    private typealias Action = StockReactors.Counter.Action

    private func patient() -> ClientOptions {
        var options = ClientOptions()
        options.keepsTrying = true
        return options
    }

    @Test("C86: a daemon that crashed before its first commit adopts the session, and applies once")
    func beforeFirstCommit() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let client = rig.client(patient())
        let node = try client.open("/visits", rig)
        let mirror = try client.mirror("/visits", rig)
        rig.journal = .holds
        var outcomes: [ActionOutcome] = []
        for _ in 0..<3 {
            try client.machine.dispatch(Action.increment(by: 1), to: node) { outcomes.append($0) }
        }
        rig.run()
        #expect(outcomes == [])
        try rig.restart(epoch: 7)
        rig.run()
        #expect(client.machine.welcome?.isResumed == true)
        #expect(outcomes.map { $0.revision?.sequence } == [1, 2, 3])
        #expect(try rig.count(at: "/visits") == 3 && mirror.state.count == 3)
        #expect(client.machine.statistics.rollbacks == 0)
    }

    @Test("C85: a daemon that crashed between commit and outcome sends the original outcome")
    func beforeAck() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let client = rig.client(patient())
        let node = try client.open("/visits", rig)
        var outcomes: [ActionOutcome] = []
        let note = { outcomes.append($0) }
        try client.machine.dispatch(Action.increment(by: 5), to: node, then: note)
        rig.run()
        rig.journal = .isSilent
        try client.machine.dispatch(Action.increment(by: 1), to: node, then: note)
        try client.machine.dispatch(Action.increment(by: .max), to: node, then: note)
        rig.run()
        #expect(outcomes.count == 1)
        try rig.restart(epoch: 7)
        rig.run()
        #expect(rig.server.statistics.repeats == 2)
        #expect(
            outcomes[1] == .ownerEnded(Revision(epoch: 7, sequence: 2), reply: nil))
        guard case .rejected(let rejection) = outcomes[2] else {
            Issue.record("expected the rejection, got \(outcomes[2])")
            return
        }
        #expect(rejection.code == "overflow")
        #expect(try rig.count(at: "/visits") == 6)
    }

    @Test(
        "C85, C86: wherever a daemon crashes, each action is applied once and answered once",
        arguments: 0..<60 as Range<UInt64>)
    func anywhere(_ seed: UInt64) throws {
        let rig = try Rig(keepingHistoryOf: 7)
        var random = Seed(seed)
        let clients = (0..<2).map { _ in rig.client(patient()) }
        let nodes = try clients.map { try $0.open("/visits", rig) }
        let mirrors = try clients.map { try $0.mirror("/visits", rig) }
        var sequences: [UInt64] = []
        var sent: Int64 = 0
        for _ in 0..<40 {
            let index = Int(random.next() % 2)
            for _ in 0..<(random.next() % 4) {
                sent += 1
                try clients[index].machine.dispatch(Action.increment(by: 1), to: nodes[index]) {
                    sequences.append($0.revision?.sequence ?? 0)
                }
            }
            switch random.next() % 8 {
            case 0: rig.journal = .holds
            // A journal has no gaps.
            case 1: if rig.journal == .tells { rig.journal = .isSilent }
            case 2: rig.cut(clients[index])
            case 3, 4: try rig.restart(epoch: 7)
            default: break
            }
            rig.run(rounds: Int(random.next() % 5))
        }
        try rig.restart(epoch: 7)
        rig.run()
        #expect(sequences.sorted() == Array(1...UInt64(sent)))
        #expect(try rig.count(at: "/visits") == sent)
        #expect(mirrors.allSatisfy { $0.state.count == sent })
    }

    @Test("C90: a lost end of history is reported, removed from mirrors, and not applied again")
    func lostEnd() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let client = rig.client(patient())
        let node = try client.open("/visits", rig)
        let mirror = try client.mirror("/visits", rig)
        var told: [[Revision]] = []
        client.machine.onRollback = { told.append([$0, $1]) }
        for _ in 0..<3 {
            try client.machine.dispatch(Action.increment(by: 10), to: node)
            rig.run()
        }
        #expect(mirror.state.count == 30)
        let hasChanged = Flag()
        _ = mirror.notices.watch { _, _ in hasChanged.raise() }
        var outcome: ActionOutcome?
        rig.journal = .holds
        try client.machine.dispatch(Action.increment(by: 1), to: node) { outcome = $0 }
        rig.run()
        try rig.restart(epoch: 8, losing: 1)
        rig.run()
        #expect(
            told == [[Revision(epoch: 7, sequence: 3), Revision(epoch: 8, sequence: 3)]])
        // Two actions were kept, one was lost although it was acknowledged, and one is new.
        #expect(try rig.count(at: "/visits") == 21 && mirror.state.count == 21)
        #expect(outcome?.revision == Revision(epoch: 8, sequence: 3))
        #expect(hasChanged.isUp && mirror.phase == .live)
        #expect(client.machine.statistics.rollbacks == 1)
    }

    @Test("C90: without a mirror, a lost past is reported with the welcome, once")
    func lostWithoutMirrors() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let client = rig.client(patient())
        let node = try client.open("/visits", rig)
        var told: [[Revision]] = []
        client.machine.onRollback = { told.append([$0, $1]) }
        for _ in 0..<2 { try client.machine.dispatch(Action.increment(by: 1), to: node) }
        rig.run()
        try rig.restart(epoch: 8, losing: rig.rows.count)
        rig.run()
        rig.cut(client)
        rig.run()
        #expect(
            told == [[Revision(epoch: 7, sequence: 2), Revision(epoch: 8, sequence: 0)]])
    }

    @Test("C87: an evicted session is never resumed, not even after restarts")
    func evicted() throws {
        var limits = ServerLimits()
        limits.sessionsMax = 2
        let rig = try Rig(keepingHistoryOf: 7, limits: limits)
        let client = rig.client(patient())
        let node = try client.open("/visits", rig)
        try client.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        var outcome: ActionOutcome?
        rig.journal = .isSilent
        try client.machine.dispatch(Action.increment(by: 1), to: node) { outcome = $0 }
        rig.run()
        let session = client.machine.figures.session
        rig.crash(client)
        try rig.restart(epoch: 7)
        for _ in 0..<3 {
            let other = rig.client()
            let node = try other.open("/other", rig)
            try other.machine.dispatch(Action.increment(by: 1), to: node)
            rig.run()
            rig.crash(other)
        }
        try rig.restart(epoch: 7)
        rig.comeBack(client)
        rig.run()
        #expect(outcome == .unknown(.sessionExpired))
        #expect(client.machine.figures.session != session)
        #expect(try rig.count(at: "/visits") == 2)
    }
}
