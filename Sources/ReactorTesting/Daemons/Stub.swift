public import ReactorCore
import ReactorThreads

/// Replaces a reactor in tests: records the actions it receives, and has the state that the test
/// sets.
///
///     let stub = Stub(Counter.self)
///     let daemon = TestDaemon(stub)
///     …
///     stub.force(Counter.State(count: 7))
///     #expect(stub.actions == [.increment(by: 2)])
///
/// The reactor's own `mutate` and `reduce` never run. The code under test uses its own client
/// against a real server (``TestDaemon`` without a socket, ``LiveDaemon`` with one), and mirrors
/// the path as the reactor's type: only the reactor is simulated.
///
/// A mirror follows a stub by values instead of mutations, as for any daemon whose reactor has
/// another version.
public final class Stub<R: Reactor>: Reactor, Sendable {
    public typealias Action = R.Action
    public typealias State = R.State
    public typealias Reply = R.Reply

    /// Answers an action with a reply, a rejection, or nil for a plain "applied".
    public typealias Answer = @Sendable (R.Action) throws(Rejection) -> R.Reply?

    /// Replaces the state by the state that the test sets.
    public struct Mutation: WireCodable, Sendable {
        let state: R.State
    }

    public let initialState: R.State
    private let record = Guarded(Record())

    private struct Record {
        var actions: [R.Action] = []
        var answer: Answer?
        /// The emitters of all trees that contain the stub.
        var ways: [Emit<Mutation>] = []
        /// The state that was set before the first emitter existed.
        var early: R.State?
    }

    /// Replaces `reactor`, beginning with its initial state.
    public init(_ reactor: R) { initialState = reactor.initialState }

    /// Replaces a reactor of type `type`.
    public convenience init(_ type: R.Type) where R: MirrorableReactor {
        self.init(R.makeForMirror())
    }

    /// The received actions in order, including rejected ones.
    public var actions: [R.Action] { record.withLock(\.actions) }

    /// Clears ``actions``.
    public func forgetActions() { record.withLock { $0.actions = [] } }

    /// Sets the closure that answers further actions.
    public func answer(_ answer: @escaping Answer) { record.withLock { $0.answer = answer } }

    /// Replaces the state, in a separate transaction, as soon as the daemon runs it.
    public func force(_ state: R.State) {
        let ways = record.withLock { record in
            if record.ways.isEmpty { record.early = state }
            return record.ways
        }
        for way in ways { way(Mutation(state: state)) }
    }
}

// MARK: - The reactor
extension Stub {
    public func mutate(
        action: R.Action, state: R.State, context: ReactorContext<Stub>
    ) throws(Rejection) -> Mutations<Mutation> {
        let answer = record.withLock { record in
            record.actions.append(action)
            return record.answer
        }
        if let reply = try answer?(action) { context.reply(reply) }
        return .none
    }

    public func reduce(state: inout R.State, mutation: Mutation) { state = mutation.state }

    public func start(state: R.State) -> Mutations<Mutation> {
        let record = record
        return Mutations(
            async: Effect(cancelID: "stub") { emit in
                let early = record.withLock { record in
                    record.ways.append(emit)
                    defer { record.early = nil }
                    return record.early
                }
                if let early { emit(Mutation(state: early)) }
                // The effect waits here, since an ended effect can no longer emit.
                let (nothing, end) = AsyncStream.makeStream(of: Never.self)
                for await _ in nothing {}
                end.finish()
            })
    }

    public static var documentation: String { R.documentation }

    /// The name of the reactor that the stub stands for, so that its mirrors accept the stub.
    public static var formerNames: [String] { [R.reactorName] + R.formerNames }

    // Another version number, so that clients do not interpret a stub's mutations as the
    // reactor's.
    public static var version: UInt32 { ~R.version }
}

// MARK: - Coding
extension Stub.Mutation {
    public func encode(into writer: inout WireWriter) { state.encode(into: &writer) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Stub.Mutation {
        Stub.Mutation(state: try R.State.decode(bytes, &cursor))
    }

    public static var wireSchema: WireSchema { R.State.wireSchema }
}
