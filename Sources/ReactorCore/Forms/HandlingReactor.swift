/// A reactor whose author changes the state directly, without mutations of its own.
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
/// Each write becomes a mutation that contains the whole new state, so that a replay and mirrors do
/// not need the handlers. The cost grows with the state: for large states, decide mutations.
public protocol HandlingReactor: Reactor where Mutation == WrittenState<State> {
    /// Changes the state at once. It returns before any observer sees the change.
    ///
    /// *Throws*: ``Rejection``; then nothing has changed.
    func handle(_ action: Action, state: inout State) throws(Rejection)

    /// The asynchronous work of an action, which starts after ``handle(_:state:)`` is committed;
    /// `nil` if it has none.
    func handler(for action: Action) -> AsyncHandler<State>?

    /// The name and the lifetime of an action's handler, and the handlers that the action cancels;
    /// none of these by default.
    ///
    ///     func handlerOptions(for action: Action) -> HandlerOptions {
    ///         switch action {
    ///         case .find: HandlerOptions(cancelID: "find", deadline: .seconds(10))
    ///         case .stop: HandlerOptions(cancelling: ["find"])
    ///         }
    ///     }
    func handlerOptions(for action: Action) -> HandlerOptions
}

/// The name, the lifetime and the deadline of a handler: see ``Effect``.
public struct HandlerOptions: Sendable, Equatable {
    /// Name by which a later handler or action cancels this one; unique within a reactor.
    public var cancelID: String?
    /// The event that ends the handler, besides its own end and the removal of its reactor.
    public var lifetime: EffectLifetime
    /// Maximum duration; at its end the handler is cancelled and fails with ``EffectExpired``.
    public var deadline: Duration?
    /// Names of the handlers that the action cancels; their later writes are dropped.
    public var cancelling: [String]

    /// Makes options of their parts.
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

/// Asynchronous work that writes a state.
public typealias AsyncHandler<State: WireCodable & Sendable> =
    @Sendable (_ write: StateWriter<State>) async throws -> Void

/// A mutation that contains a whole state, as a handler wrote it.
public struct WrittenState<State> {
    /// The whole state.
    public let state: State

    /// Makes the mutation, for decisions of ``Reactor/error(_:action:state:context:)``.
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

/// Writes the state on behalf of an asynchronous handler.
public struct StateWriter<State: WireCodable & Sendable>: Sendable {
    let emit: Emit<WrittenState<State>>

    /// The tree's clock.
    public var clock: TreeClock { emit.clock }

    /// Changes the state at its current value, as a separate transaction, in the order of the
    /// calls. No write of another handler is lost.
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
        var effect = Effect<WrittenState<State>>(
            cancelID: options.cancelID, lifetime: options.lifetime, deadline: options.deadline
        ) { emit in try await handler(StateWriter(emit: emit)) }
        effect.location = nil
        return mutations.effect(effect)
    }

    public func reduce(state: inout State, mutation: WrittenState<State>) {
        state = mutation.state
    }
}
