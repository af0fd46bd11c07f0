import ReactorBytes
import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// One of every ready-made reactor.
@Reactor
private struct Cabinet {
    @Child var counter = StockReactors.Counter()
    @Child var value = StockReactors.Value()
    @Child var map = StockReactors.Map()
    @Child var list = StockReactors.List()
    @Child var set = StockReactors.MemberSet()
    @Child var presence = StockReactors.Presence()
    @Child var lock = StockReactors.Lock()
    @Child var queue = StockReactors.Queue()

    enum Action { case nothing }
    enum Mutation { case nothing }
    struct State { var name = "cabinet" }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> { .none }

    func reduce(state: inout State, mutation: Mutation) {}
}

/// Values that are nested deeper in a state or mutation than in the action.
@Suite("Deep values")
struct NestingTests {
    /// A value of this many nested arrays.
    private static func nested(_ levels: Int) -> WireValue {
        var value = WireValue.array([])
        for _ in 1..<levels { value = [value] }
        return value
    }

    /// Actions whose deepest value is at level 2, for every reactor that takes a value.
    private static func actions(_ value: WireValue) -> [(String, WireEmbedded)] {
        [
            ("/value", WireEmbedded(StockReactors.Value.Action.set(value: value))),
            ("/map", WireEmbedded(StockReactors.Map.Action.set(key: "a", value: value))),
            ("/list", WireEmbedded(StockReactors.List.Action.append(value: value))),
            ("/presence", WireEmbedded(StockReactors.Presence.Action.join(info: value))),
            ("/queue", WireEmbedded(StockReactors.Queue.Action.push(job: value))),
            ("/queue", WireEmbedded(StockReactors.Queue.Action.claim)),
            ("/queue", WireEmbedded(StockReactors.Queue.Action.push(job: value))),
        ]
    }

    /// Sends actions and returns their outcomes.
    private func send(
        _ actions: [(String, WireEmbedded)], by client: Rig.Joined, _ rig: Rig
    ) throws -> [ActionOutcome] {
        var outcomes: [ActionOutcome] = []
        for (path, action) in actions {
            let node = try client.open(path, rig)
            try client.machine.dispatch(action, to: node) { outcomes.append($0) }
            rig.run()
        }
        return outcomes
    }

    private func value(_ tree: Tree) throws -> WireValue {
        var writer = WireWriter()
        _ = tree.root.encodeValue(at: [], into: &writer)
        return try WireValue(wireBytes: writer.bytes)
    }

    private func mirror<R: MirrorableReactor>(
        _ reactor: R, _ path: String, by client: Rig.Joined, _ rig: Rig
    ) throws -> ReactorClient.Mirror<R> {
        var result: Result<ReactorClient.Mirror<R>, ClientError>?
        client.machine.mirror(reactor, at: path) { result = $0 }
        rig.run()
        return try #require(try result?.get())
    }

    @Test("W11: the deepest value that any reactor takes is followed, answered and recovered")
    func deepest() throws {
        let rig = try Rig(keepingHistoryOf: 7) { Cabinet() }
        var options = ClientOptions()
        options.keepsTrying = true
        let client = rig.client(options)
        let follower = rig.client(options)
        let deepest = Self.nested(WireLimits.actionDepthMax - 2)
        let early = try mirror(StockReactors.Queue(), "/queue", by: follower, rig)
        let outcomes = try send(Self.actions(deepest), by: client, rig)
        #expect(outcomes.allSatisfy { $0.revision != nil }, "\(outcomes)")
        let claimed = outcomes[5].typed(as: StockReactors.Queue.Reply.self)
        #expect(try claimed.get().reply?.job == deepest)
        let late = try mirror(StockReactors.Queue(), "/queue", by: follower, rig)
        let presence = try mirror(StockReactors.Presence(), "/presence", by: follower, rig)
        #expect(early.state.waiting.first?.job == deepest && late.state == early.state)
        #expect(presence.state.members.values.map(\.info) == [deepest])
        // The outcome that contains the job is not confirmed, so its session keeps it.
        let recovery = Recovery(of: Tree(Cabinet(), epoch: 7), limits: ServerLimits())
        for row in rig.rows { try recovery.replay(row) }
        let whole = try recovery.finish(epoch: 7, sequence: rig.rows.last?.sequence ?? 0)
        #expect(try value(whole.tree) == value(rig.server.tree))
        let snapshot = whole.beginSnapshot()
        let again = Recovery(of: Tree(Cabinet(), epoch: 7), limits: ServerLimits())
        while !snapshot.isComplete {
            for part in snapshot.gather() { try again.restore(part()) }
        }
        let sequence = whole.tree.revision.sequence
        #expect(try value(again.finish(epoch: 7, sequence: sequence).tree) == value(whole.tree))
        try rig.restart(epoch: 7)
        rig.run()
        #expect(early.state.waiting.count == 2)
    }

    @Test("W11: an action that is nested deeper is refused, alone or in a batch")
    func deeper() throws {
        let rig = try Rig(keepingHistoryOf: 7) { Cabinet() }
        let client = rig.client()
        let deeper = Self.nested(WireLimits.actionDepthMax - 1)
        let actions = Self.actions(deeper).filter { $0.0 != "/queue" }
        for outcome in try send(actions, by: client, rig) {
            guard case .rejected(let rejection) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(rejection.code == FaultCode.decode.rawValue)
            #expect(rejection.message.contains("at most 40 levels in an action"))
        }
        #expect(rig.server.tree.revision.sequence == 0)
    }
}
