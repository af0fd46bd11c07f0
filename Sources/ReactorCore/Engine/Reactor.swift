// Re-exported, so that an author imports one module: reactors are made of the wire's types.
@_exported public import ReactorWire

/// A node of shared state: it receives actions, decides mutations, and applies them to its state.
///
///     @Reactor
///     struct Counter {
///         enum Action { case increment(by: Int) }
///         enum Mutation { case added(Int) }
///         struct State { var count = 0 }
///
///         var initialState: State { State() }
///
///         func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
///             switch action {
///             case .increment(let amount): [.added(amount)]
///             }
///         }
///
///         func reduce(state: inout State, mutation: Mutation) {
///             switch mutation {
///             case .added(let amount): state.count += amount
///             }
///         }
///     }
///
/// `mutate` decides and may refuse; it changes nothing. `reduce` is the only function that changes
/// state. It receives facts and cannot refuse, and it runs again wherever the state is rebuilt: in
/// a replay, and in the mirror of every client. So `reduce` must use nothing but its arguments.
public protocol Reactor<Action, State>: SendableMetatype {
    /// A client's intent.
    associatedtype Action: WireCodable & Sendable
    /// A decided fact; the only input of `reduce`.
    associatedtype Mutation: WireCodable & Sendable = Action
    associatedtype State: WireCodable & Sendable
    /// The reply to an action, beyond "applied".
    associatedtype Reply: WireCodable & Sendable = NoReply

    /// The state before the first mutation. Read once, when the reactor is mounted.
    var initialState: State { get }

    /// Decides what an action does. It returns before the first `reduce` runs.
    ///
    /// *Throws*: ``Rejection``; then nothing is applied and the revision does not move.
    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation>

    /// The form for reactors that need no context.
    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation>

    /// The form for reactors that need no state either.
    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation>

    /// Applies a fact in place.
    func reduce(state: inout State, mutation: Mutation)

    /// The form for reducers that return the new state.
    func reduce(state: State, mutation: Mutation) -> State

    /// Decides the reactor's first mutations and effects, such as effects that run as long as the
    /// reactor does. Called in the authoritative tree only, when the reactor is mounted and after
    /// each restart of the daemon.
    ///
    /// The context's caller and cause are those of the transaction that creates the reactor, and the
    /// daemon where the daemon starts. The tree drops a reply.
    func start(state: State, context: ReactorContext<Self>) -> Mutations<Mutation>

    /// The form for reactors that need no context.
    func start(state: State) -> Mutations<Mutation>

    /// Performs a task that the reactor promised with ``Mutations/undertaking(_:_:)``. Called when
    /// the promise is committed, and after each restart until the effect has ended, with the same
    /// ``DurableTask/id``. ``Effect/unperformed(_:)`` means that the reactor does not know the
    /// task; a start and `--check` refuse a history in which such a task waits, and call this
    /// function to find out. So the function itself must have no side effects, only the effect that
    /// it returns. The function may read from the context, such as the reactor's key; the tree
    /// drops what it requests, and logs that.
    func perform(
        _ task: DurableTask, state: State, context: ReactorContext<Self>
    ) -> Effect<Mutation>

    /// The form for reactors that need no context.
    func perform(_ task: DurableTask, state: State) -> Effect<Mutation>

    /// The kinds of the tasks that ``perform(_:state:context:)`` performs, with the types of their
    /// payloads, so that a start converts the payloads of earlier versions.
    static var durableTasks: [DurableTaskKind] { get }

    /// Decides the reaction to an effect that threw, or to a source of a transform that failed;
    /// `action` asked for the effect. A cancelled effect has not failed.
    ///
    /// The context's caller is the daemon, its cause the action that asked for the effect.
    func error(
        _ error: any Error, action: Action?, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation>

    /// The form for reactors that need no context.
    func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation>

    /// Decides the reaction to the end of one of ``sagas`` by an error, whether the saga starts
    /// again or not. By default, it calls ``error(_:action:state:context:)``.
    func sagaFailed(
        _ failure: SagaFailure, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation>

    /// The form for reactors that need no context.
    ///
    /// Write it without `throws`. The default implementation throws ``NoReaction``.
    func sagaFailed(
        _ failure: SagaFailure, state: State
    ) throws(NoReaction) -> Mutations<Mutation>

    /// Decides the reaction to an error of a child to which the child itself did not react.
    func childFailed(
        _ failure: ChildFailure, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation>

    /// The form for reactors that need no context.
    func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation>

    /// Whether an applied action ends the effects of an earlier one.
    ///
    /// Write it without `throws`. The default implementation throws ``NeverCancels``, and the tree
    /// does not call it again.
    func shouldCancel(current: Action, upcoming: Action) throws(NeverCancels) -> Bool

    /// Adds stages to the pipeline of actions, which runs before `mutate`.
    func transform(action: Transform<Action>) -> Transform<Action>

    /// Adds stages to the pipeline of mutations, between `mutate` or an effect, and `reduce`.
    func transform(mutation: Transform<Mutation>) -> Transform<Mutation>

    /// Adds stages between the state that `reduce` makes and the shown state; `reduce` and `mutate`
    /// never see their output.
    func transform(state: Transform<State>) -> Transform<State>

    /// Functions that observe every action after its reduce.
    var middleware: [Middleware<Self>] { get }

    /// The reactor's sagas, which run from its start until its removal, in the authoritative tree
    /// only.
    var sagas: [Saga<Self>] { get }

    /// Decides the reaction to a child's mutation: mutations of this reactor, in the same
    /// transaction. Called only if ``isReacting`` is true. Authors usually write functions with
    /// ``Reacts(to:)``, from which the macro generates it.
    ///
    /// The context's caller and cause are those of the transaction. A reaction can answer deferred
    /// replies, own keys and dispatch followers; the reply to the current action is the child's.
    func react(
        to change: ChildChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation>

    /// The form for reactors that need no context.
    func react(to change: ChildChange, state: State) -> Mutations<Mutation>

    /// Decides the reaction to a child that was created in a collection, or removed from it, by
    /// this reactor or by a lease: mutations in the same transaction. Called after the child's own
    /// ``start(state:)``, or after the removal. Replays do not call it, and neither does the removal
    /// of this reactor itself.
    func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation>

    /// Decides what follows from the refusal of an action that this reactor dispatched, in a
    /// separate transaction with the follower's caller and cause. If it requests nothing, the
    /// refusal goes to the log.
    ///
    /// Called as well for what was left out of a decision that cannot be refused, such as a
    /// reaction: a sent action that was refused, a change of a child with a wrong key, and the whole
    /// decision if it exceeds a limit; the path is then that of this reactor.
    func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation>

    /// Decides the reaction to the end of a connection that owned keys of this reactor.
    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation>

    /// Passes the static children and keyed collections to `visitor`; the macro generates it.
    func children(_ visitor: inout ChildVisitor)

    /// Passes the key paths of the children to `visitor`, for ``PathTable``; the macro generates
    /// it.
    static func childPaths(_ visitor: inout ChildPathVisitor<Self>)

    /// Converts a value that an older version of the reactor wrote and today's types cannot read;
    /// `nil` if it cannot be converted. Today's types refuse unknown fields: the result leaves them
    /// out.
    static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue?

    /// Earlier names of the reactor's type, under which a history may contain its state.
    ///
    ///     static var formerNames: [String] { ["Counter"] }
    static var formerNames: [String] { get }

    /// Whether to call ``react(to:state:context:)``; the macro sets it to true where it finds reactions.
    static var isReacting: Bool { get }

    /// The author's number for the meaning of `reduce`: raise it when the types stay the same but
    /// the same mutations lead to another state.
    static var version: UInt32 { get }

    /// The documentation comment of the reactor's type.
    static var documentation: String { get }

    // A default body in a protocol extension is specialised in the author's module, where the
    // concrete types are known: 45 ns an action, against 100 ns and more through a generic class.
    /// Decodes one action, decides and applies it; not for authors.
    static func _step(
        _ node: Node<Self>, _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure)

    /// Reduces mutations from the history; not for authors.
    static func _redo(
        _ node: Node<Self>, _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError)

    /// Decodes mutations for a replica; not for authors.
    static func _stage(
        _ delta: Span<UInt8>, from offset: Int, into staged: inout [Mutation]
    ) throws(WireError)

    /// Applies and removes a replica's mutations; not for authors.
    static func _commit(_ staged: inout [Mutation], to state: inout State, by reactor: Self)

    /// Decides and applies one action; not for authors.
    static func _carryOut(
        _ action: Action, _ node: Node<Self>, _ turn: Turn
    ) throws(Rejection)

    /// The fields of a state that changed since the last call; not for authors.
    static func _drain(_ state: inout State) -> StateChanges

    /// The fields of the state whose changes are recorded; not for authors.
    static var _trackedFields: [TrackedField<State>] { get }
}

/// A reactor that a client can mirror by its type alone, since the type makes the instance.
///
///     let visits = try await client.mirror(Counter.self, at: "/visits")
///
/// `@Reactor` adds the conformance where `Self()` compiles: each stored property has a default
/// value, or each parameter of an initializer in the body has. Other reactors implement
/// ``makeForMirror()`` in the body, or are mirrored by an instance.
public protocol MirrorableReactor: Reactor {
    /// Makes an instance for a mirror. The mirror uses its `initialState`, `reduce` and
    /// `transform(state:)`; a mirror that previews actions also mounts its children and uses
    /// `mutate` and the other transforms, on any thread that sends or reads.
    static func makeForMirror() -> Self
}

/// The reply of a reactor that never replies.
public enum NoReply: WireCodable, Sendable, Equatable {
    public func encode(into writer: inout WireWriter) {}

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> NoReply {
        throw WireError(.refused("this reactor sends no reply"), at: cursor.offset)
    }

    public static var wireSchema: WireSchema {
        .choice(WireSchema.Choice(name: "NoReply", cases: []))
    }
}

// MARK: - Default implementations
extension Reactor {
    @inlinable
    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        try mutate(action: action, state: state)
    }

    @inlinable
    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        try mutate(action: action)
    }

    @inlinable
    public func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> { .none }

    @inlinable
    public func reduce(state: inout State, mutation: Mutation) {
        let next: State = reduce(state: state, mutation: mutation)
        state = next
    }

    @inlinable
    public func reduce(state: State, mutation: Mutation) -> State { state }

    public func start(state: State, context: ReactorContext<Self>) -> Mutations<Mutation> {
        start(state: state)
    }

    public func start(state: State) -> Mutations<Mutation> { .none }

    public func perform(
        _ task: DurableTask, state: State, context: ReactorContext<Self>
    ) -> Effect<Mutation> {
        perform(task, state: state)
    }

    public func perform(_ task: DurableTask, state: State) -> Effect<Mutation> {
        .unperformed(task)
    }

    public func error(
        _ error: any Error, action: Action?, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        self.error(error, action: action, state: state)
    }

    public func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { .none }

    public func sagaFailed(
        _ failure: SagaFailure, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        do throws(NoReaction) {
            return try sagaFailed(failure, state: state)
        } catch {
            return self.error(failure.error, action: nil, state: state, context: context)
        }
    }

    public func sagaFailed(
        _ failure: SagaFailure, state: State
    ) throws(NoReaction) -> Mutations<Mutation> { throw NoReaction() }

    public func childFailed(
        _ failure: ChildFailure, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        childFailed(failure, state: state)
    }

    public func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation> { .none }

    public func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool { throw NeverCancels() }

    public func transform(action: Transform<Action>) -> Transform<Action> { action }

    public func transform(mutation: Transform<Mutation>) -> Transform<Mutation> { mutation }

    public func transform(state: Transform<State>) -> Transform<State> { state }

    public var middleware: [Middleware<Self>] { [] }

    public var sagas: [Saga<Self>] { [] }

    @inlinable
    public func react(
        to change: ChildChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        react(to: change, state: state)
    }

    public func react(to change: ChildChange, state: State) -> Mutations<Mutation> { .none }

    public func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> { .none }

    public func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> { .none }

    public func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> { .none }

    public func children(_ visitor: inout ChildVisitor) {}

    public static func childPaths(_ visitor: inout ChildPathVisitor<Self>) {}

    /// Converts nothing.
    public static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? { nil }

    public static var isReacting: Bool { false }

    public static var version: UInt32 { 1 }

    public static var documentation: String { "" }

    /// Fingerprint of the types that a replica must share: state, mutation and ``version``.
    public static var fingerprint: UInt64 { form.fingerprint }

    /// The name of the reactor in histories and on the wire.
    package static var reactorName: String { form.name }

    /// The name that clients receive for a collection of such reactors.
    package static var collectionName: String { collectionName(of: reactorName) }

    /// The names that clients received for a collection of such reactors before.
    package static var formerCollectionNames: [String] { formerNames.map(collectionName(of:)) }

    private static func collectionName(of reactor: String) -> String { "collection of \(reactor)" }

    /// The name of the type, and the fingerprint.
    static var form: ReactorForm {
        ReactorForm.of(Self.self) {
            State.wireSchema.fingerprint &* 0x100_0000_01b3
                ^ Mutation.wireSchema.fingerprint &+ UInt64(version)
        }
    }

    /// The types in the reactor's values, with the steps from earlier versions.
    static var versionedTypes: VersionedTypes {
        VersionedTypes.of(Self.self) {
            [State.wireSchema, Mutation.wireSchema, Action.wireSchema] + durableTasks.map(\.schema)
        }
    }

    public static var formerNames: [String] { [] }

    public static var durableTasks: [DurableTaskKind] { [] }
}

// MARK: - Following the mutations
// A default body in a protocol extension is specialised in the author's module, where the concrete
// types are known.
extension Reactor {
    @inlinable
    public static func _stage(
        _ delta: Span<UInt8>, from offset: Int, into staged: inout [Mutation]
    ) throws(WireError) {
        var cursor = WireCursor(offset: offset)
        while cursor.offset < delta.count { staged.append(try Mutation.decode(delta, &cursor)) }
    }

    @inlinable
    public static func _commit(
        _ staged: inout [Mutation], to state: inout State, by reactor: Self
    ) {
        for mutation in staged { reactor.reduce(state: &state, mutation: mutation) }
        staged.removeAll(keepingCapacity: true)
    }

    public static func _drain(_ state: inout State) -> StateChanges { .all }

    public static var _trackedFields: [TrackedField<State>] { [] }
}

extension Reactor where State: TrackedState {
    public static func _drain(_ state: inout State) -> StateChanges { state.drainChanges() }

    public static var _trackedFields: [TrackedField<State>] { State.trackedFields }
}

extension Reactor where Mutation == Action {
    /// Passes the action through as the mutation.
    @inlinable
    public func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        Mutations(action)
    }
}

/// Makes a struct or a final class a ``Reactor``: makes its nested `Action`, `Mutation` and `State`
/// ``WireCodable``, registers its children, and calls its functions with ``Reacts(to:)``.
///
/// Instead of the macro, an author can implement the protocol by hand or inherit from
/// ``BaseReactor``.
///
/// The macro also adds ``MirrorableReactor`` if the body shows that the reactor can be made
/// without arguments.
@attached(memberAttribute)
@attached(member, names: arbitrary)
@attached(extension, conformances: Reactor, MirrorableReactor)
public macro Reactor() = #externalMacro(module: "ReactorMacros", type: "ReactorMacro")
