public import ReactorCore
import ReactorThreads

/// Stands in for a reactor: it keeps the actions that it gets, in order, and its state is what a test
/// says.
///
///     let stub = Stub(Counter.self)
///     let daemon = TestDaemon(stub)
///     …
///     stub.force(Counter.State(count: 7))
///     #expect(stub.actions == [.increment(by: 2)])
///
/// Neither `mutate` nor `reduce` of the reactor ever runs. The code under test uses its own client
/// against a real server (``TestDaemon`` without a socket, ``LiveDaemon`` behind one), and mirrors
/// the path as the reactor's type: what is simulated is the reactor alone.
///
/// A mirror follows a stub by its value and not by its mutations, as it does wherever the daemon's
/// reactor is of another version.
public final class Stub<R: Reactor>: Reactor, Sendable {
    public typealias Action = R.Action
    public typealias State = R.State
    public typealias Reply = R.Reply

    /// How an action is answered: with a reply, a rejection, or nothing beyond "applied".
    public typealias Answer = @Sendable (R.Action) throws(Rejection) -> R.Reply?

    /// What a test says that the state is.
    public struct Mutation: WireCodable, Sendable {
        let state: R.State
    }

    public let initialState: R.State
    private let record = Guarded(Record())

    private struct Record {
        var actions: [R.Action] = []
        var answer: Answer?
        /// The way into each tree that the stub stands in.
        var ways: [Emit<Mutation>] = []
        /// What was said before there was one.
        var early: R.State?
    }

    /// Stands in for `reactor`, from its initial state on.
    public init(_ reactor: R) { initialState = reactor.initialState }

    /// Stands in for a reactor of type `type`.
    public convenience init(_ type: R.Type) where R: MirrorableReactor {
        self.init(R.makeForMirror())
    }

    /// The actions that came, in order, those that were rejected too.
    public var actions: [R.Action] { record.withLock(\.actions) }

    /// Forgets the actions that came.
    public func forgetActions() { record.withLock { $0.actions = [] } }

    /// Has `answer` say what becomes of the actions from now on.
    public func answer(_ answer: @escaping Answer) { record.withLock { $0.answer = answer } }

    /// Makes the state another: a transaction of its own, as soon as the daemon gets to it.
    public func force(_ state: R.State) {
        let ways = record.withLock { record in
            if record.ways.isEmpty { record.early = state }
            return record.ways
        }
        for way in ways { way(Mutation(state: state)) }
    }
}

// MARK: - As a reactor
extension Stub {
    public func mutate(
        action: R.Action, state: R.State, context: Context<Stub>
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
                // because an effect that has ended can emit nothing any more
                let (nothing, end) = AsyncStream.makeStream(of: Never.self)
                for await _ in nothing {}
                end.finish()
            })
    }

    public static var documentation: String { R.documentation }

    // because a stub's mutations are none of the reactor's, even where their types look alike
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
