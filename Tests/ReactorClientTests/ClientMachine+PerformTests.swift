import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// The machine's handling of the frame `done`.
struct ClientMachinePerformTests {
    private typealias Action = StockReactors.Counter.Action
    private static let actionCount = 20

    /// An action whose effects are awaited.
    private static func awaited(to node: NodeID) -> OutgoingAction {
        var action = OutgoingAction(Action.increment(by: 1), to: node)
        action.awaitsEffects = true
        return action
    }

    /// Performs and dispatches in turn, over a connection that is cut at the bytes in `cut`.
    private func converse(
        _ cut: (Rig.Joined) -> Void
    ) throws -> (count: Int64?, outcomes: [UInt64], awaited: Int, connects: Int) {
        let rig = Rig()
        var options = ClientOptions()
        options.inFlightMax = 4
        options.keepsTrying = true
        let client = rig.client(options)
        cut(client)
        let node = try client.open("/visits", rig)
        var outcomes: [UInt64] = []
        for index in 0..<Self.actionCount {
            let note = { (outcome: ActionOutcome) in
                outcomes.append(outcome.revision?.sequence ?? 0)
            }
            let action = Action.increment(by: 1)
            var outgoing =
                index % 3 == 2
                ? OutgoingAction(batch: [(node, WireEmbedded(action))])
                : OutgoingAction(action, to: node)
            outgoing.awaitsEffects = index % 3 != 0
            try client.machine.submit(outgoing, then: note)
        }
        rig.run()
        return (
            try rig.count(at: "/visits"), outcomes.sorted(),
            client.machine.figures.awaitedCount,
            client.connectCount
        )
    }

    private func check(_ cut: (Rig.Joined) -> Void) throws -> Int {
        let result = try converse(cut)
        #expect(result.count == Int64(Self.actionCount))
        #expect(result.outcomes == Array(1...UInt64(Self.actionCount)))
        #expect(result.awaited == 0)
        return result.connects
    }

    @Test("F47: cut after any byte that it sends, a client learns of every end once")
    func cutUp() throws {
        var offset = 0
        while try check({ $0.upBudget = offset }) > 1 { offset += 1 }
        #expect(offset > 500)
    }

    @Test("F47: cut after any byte that it receives, a client learns of every end once")
    func cutDown() throws {
        var offset = 0
        while try check({ $0.downBudget = offset }) > 1 { offset += 1 }
        #expect(offset > 500)
    }

    /// Returns a client that performed an action and received the daemon's frames `fromDaemon`.
    private func performed(
        _ change: @escaping ([Frame]) -> [Frame]
    ) throws -> (rig: Rig, client: Rig.Joined, outcomes: () -> [ActionOutcome]) {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        final class Box { var outcomes: [ActionOutcome] = [] }
        let box = Box()
        client.onDown = { change($0).bytes }
        try client.machine.submit(Self.awaited(to: node)) { box.outcomes.append($0) }
        rig.run()
        return (rig, client, { box.outcomes })
    }

    @Test("F47: an action's outcome arrives when it is done; until then it is in flight")
    func withheld() throws {
        let (rig, client, outcomes) = try performed { $0.filter { $0.kind != .done } }
        #expect(outcomes() == [])
        #expect(client.machine.pendingCount == 1)
        rig.forge(Frame(.done, number: 1).bytes, to: client)
        #expect(outcomes().compactMap { $0.revision?.sequence } == [1])
        #expect(client.machine.pendingCount == 0)
        // The daemon may repeat a `done` that the client has forgotten.
        rig.forge(Frame(.done, number: 1).bytes, to: client)
        #expect(outcomes().count == 1 && client.machine.phase == .live)
    }

    @Test("F47: a done for an action that was never sent is a fault of the daemon")
    func forged() throws {
        let (rig, client, _) = try performed { $0 }
        rig.forge(Frame(.done, number: 2).bytes, to: client)
        #expect(client.machine.phase == .connecting)
    }

    @Test("F47: a lost session makes unknown each action that may still run in the same daemon")
    func lostSession() throws {
        var limits = ServerLimits()
        limits.sessionsMax = 1
        let rig = Rig(limits: limits)
        let client = rig.client()
        let node = try client.open("/visits", rig)
        client.onDown = { $0.filter { $0.kind != .done }.bytes }
        var outcomes: [ActionOutcome] = []
        try client.machine.submit(Self.awaited(to: node)) { outcomes.append($0) }
        rig.run()
        #expect(outcomes == [])
        rig.cut(client)
        _ = rig.newcomer()
        rig.run()
        #expect(outcomes == [.unknown(.sessionExpired)])
    }

    @Test("F47: ends wait, like outcomes, for the updates before them")
    func held() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        var visits: ReactorClient.Mirror<StockReactors.Counter>? = try client.mirror("/other", rig)
        rig.forge(Frame(.lag).bytes, to: client)
        var outcomes: [ActionOutcome] = []
        try client.machine.submit(Self.awaited(to: node)) { outcomes.append($0) }
        rig.run()
        #expect(outcomes == [] && visits?.count == 0)
        visits = nil
        rig.run()
        #expect(outcomes.compactMap { $0.revision?.sequence } == [1])
    }

    @Test("F47: an unsent action fails, and one that waited for an ordinal gets another")
    func neverSent() throws {
        let machine = ClientMachine { 0 }
        var outcomes: [ActionOutcome] = []
        try machine.submit(Self.awaited(to: NodeID(rawValue: 0))) { outcomes.append($0) }
        machine.close()
        #expect(outcomes.count == 1)
        guard case .failed = outcomes.first else {
            Issue.record("an action that was never sent has the outcome \(outcomes)")
            return
        }
    }
}
