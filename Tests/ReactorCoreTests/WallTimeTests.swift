import ReactorCore
import Testing

/// Keeps the times of its actions, and which of them were the daemon's own.
@Reactor
private struct Diary {
    enum Action: Equatable, Sendable { case note }
    enum Mutation: Equatable, Sendable { case noted(at: WallTime, isDaemon: Bool) }
    struct State: Equatable, Sendable {
        var times: [WallTime] = []
        var daemonCount = 0
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        [.noted(at: context.now, isDaemon: context.caller.isDaemon)]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let time, let isDaemon):
            state.times.append(time)
            if isDaemon { state.daemonCount += 1 }
        }
    }
}

@Suite("WallTime")
struct WallTimeTests {
    @Test("a decision reads the wall clock of its tree, and knows the daemon as its caller")
    func now() throws {
        let tree = Tree(
            Diary(), epoch: 1,
            environment: TreeEnvironment(post: { _ in }, wallClock: { 1_700_000_000_123 }))
        #expect(try tree.send(Diary.Action.note) == "applied 1")
        let result = tree.dispatch(
            to: tree.root, Diary.Action.note.wireBytes().span, by: .daemon, ordinal: 0)
        #expect(try result.text == "applied 2")
        let state = try tree.state(of: Diary.self)
        #expect(state.times.map(\.milliseconds) == [1_700_000_000_123, 1_700_000_000_123])
        #expect(state.daemonCount == 1)
    }

    @Test("a mirror does not preview a decision that reads the time")
    func preview() throws {
        let preview = Preview(Diary())
        let error = #expect(throws: Rejection.self) { try preview.apply(.note) }
        #expect(error?.code == Rejection.previewCode && preview.state.times == [])
    }

    @Test("a time is an integer on the wire, has an order, and a distance without overflow")
    func value() throws {
        let (first, last) = (WallTime(milliseconds: .min), WallTime(milliseconds: .max))
        #expect(try WireValue(wireBytes: WallTime(milliseconds: -5).wireBytes()).json() == "-5")
        #expect(try WallTime(wireBytes: last.wireBytes()) == last)
        #expect(first < last && !(last < first))
        #expect(last.since(first) == .milliseconds(Int128(UInt64.max)))
        #expect(first.since(last) < .zero)
    }
}
