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
}

/// Work that writes a state when it pleases.
public typealias AsyncHandler<State: WireCodable & Sendable> =
    @Sendable (_ write: StateWriter<State>) async throws -> Void

/// A state as a handler has written it.
public struct WrittenState<State> {
    /// The whole state.
    public let state: State

    init(_ state: State) { self.state = state }
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

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<WrittenState<State>> {
        var written = state
        try handle(action, state: &written)
        let mutations = Mutations(WrittenState(written))
        guard let handler = handler(for: action) else { return mutations }
        return mutations.effect(Effect { emit in try await handler(StateWriter(emit: emit)) })
    }

    public func reduce(state: inout State, mutation: WrittenState<State>) {
        state = mutation.state
    }
}
