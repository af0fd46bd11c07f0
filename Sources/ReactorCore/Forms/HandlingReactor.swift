/// A reactor whose author writes the state directly, without mutations of its own.
///
///     struct Search: HandlingReactor {
///         func handle(_ action: Action, state: inout State) { state.text = action.text }
///
///         func handler(for action: Action) -> AsyncHandler<State>? {
///             { write in
///                 let found = try await find(action.text)
///                 write { $0.found = found }
///             }
///         }
///     }
///
/// Each write becomes a mutation that holds the whole state as it then is, so that replay and
/// mirrors need nothing of the handlers. That is the price: for large states, decide mutations.
public protocol HandlingReactor: Reactor where Mutation == WrittenState<State> {
    /// Changes the state at once; runs to its end before anybody sees it.
    ///
    /// *Throws*: ``Rejection``; then nothing has changed.
    func handle(_ action: Action, state: inout State) throws(Rejection)

    /// What is to be done besides, in its own time; it starts after ``handle(_:state:)`` is
    /// committed.
    func handler(for action: Action) -> AsyncHandler<State>?

    /// How the handler for an action is named and ended, and which handlers the action ends; plain by
    /// default.
    ///
    ///     func handlerOptions(for action: Action) -> HandlerOptions {
    ///         switch action {
    ///         case .find: HandlerOptions(cancelID: "find", deadline: .seconds(10))
    ///         case .stop: HandlerOptions(cancelling: ["find"])
    ///         }
    ///     }
    func handlerOptions(for action: Action) -> HandlerOptions
}

/// The name, the end and the deadline of a handler: see ``Effect``.
public struct HandlerOptions: Sendable, Equatable {
    /// Name by which a later handler or action ends this one; unique within a reactor.
    public var cancelID: String?
    /// What ends the handler, besides its own end and that of its reactor.
    public var lifetime: EffectLifetime
    /// How long the handler may take; then it is cancelled, and has failed with ``EffectExpired``.
    public var deadline: Duration?
    /// Names of the handlers that the action ends; what they still write is dropped.
    public var cancelling: [String]

    /// Names a handler and what ends it, and the handlers that the action ends.
    public init(
        cancelID: String? = nil, lifetime: EffectLifetime = .reactor, deadline: Duration? = nil,
        cancelling: [String] = []
    ) {
        self.cancelID = cancelID
        self.lifetime = lifetime
        self.deadline = deadline
        self.cancelling = cancelling
    }
}

/// Work that writes a state when it pleases.
public typealias AsyncHandler<State: WireCodable & Sendable> =
    @Sendable (_ write: StateWriter<State>) async throws -> Void

/// A state as a handler has written it.
public struct WrittenState<State> {
    /// The whole state.
    public let state: State

    /// Writes a whole state: for what ``Reactor/error(_:action:state:)`` decides.
    public init(_ state: State) { self.state = state }
}

extension WrittenState: Sendable where State: Sendable {}

extension WrittenState: WireCodable where State: WireCodable {
    public func encode(into writer: inout WireWriter) { state.encode(into: &writer) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WrittenState {
        WrittenState(try State.decode(bytes, &cursor))
    }

    public static var wireSchema: WireSchema { State.wireSchema }
}

/// The way from an asynchronous handler to the state.
public struct StateWriter<State: WireCodable & Sendable>: Sendable {
    let emit: Emit<WrittenState<State>>

    /// The time that the tree keeps.
    public var clock: TreeClock { emit.clock }

    /// Changes the state as it is when the change's turn comes: a transaction of its own, in the
    /// order of the calls, never lost to another writer.
    public func callAsFunction(_ change: @escaping @Sendable (inout State) -> Void) {
        emit.deciding { (state: State) in
            var written = state
            change(&written)
            return WrittenState(written)
        }
    }
}

extension HandlingReactor {
    public func handle(_ action: Action, state: inout State) throws(Rejection) {}

    public func handler(for action: Action) -> AsyncHandler<State>? { nil }

    public func handlerOptions(for action: Action) -> HandlerOptions { HandlerOptions() }

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<WrittenState<State>> {
        var written = state
        try handle(action, state: &written)
        let options = handlerOptions(for: action)
        var mutations = Mutations(WrittenState(written))
        for name in options.cancelling { mutations = mutations.cancelling(name) }
        guard let handler = handler(for: action) else { return mutations }
        return mutations.effect(
            Effect(
                cancelID: options.cancelID, lifetime: options.lifetime, deadline: options.deadline
            ) { emit in try await handler(StateWriter(emit: emit)) })
    }

    public func reduce(state: inout State, mutation: WrittenState<State>) {
        state = mutation.state
    }
}
