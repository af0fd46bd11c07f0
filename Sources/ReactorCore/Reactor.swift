/// A node of shared state: actions come in, mutations are decided, state follows.
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
/// `mutate` decides and may refuse; it changes nothing. `reduce` is the only place that changes
/// state; it is given facts, cannot refuse, and runs again wherever the state is rebuilt: at
/// replay, and in the mirror of every client. So `reduce` uses nothing but its arguments.
public protocol Reactor<Action, State>: SendableMetatype {
    /// What a client asks for.
    associatedtype Action: WireCodable & Sendable
    /// A decided fact; the only input of `reduce`.
    associatedtype Mutation: WireCodable & Sendable = Action
    associatedtype State: WireCodable & Sendable
    /// What an action may be answered with, beyond "applied".
    associatedtype Reply: WireCodable & Sendable = NoReply

    /// The state before the first mutation. Read once, when the reactor is mounted.
    var initialState: State { get }

    /// Decides what an action does. Runs to its end before the first `reduce`.
    ///
    /// *Throws*: ``Rejection``; then nothing is applied and the revision does not move.
    func mutate(
        action: Action, state: State, context: Context<Self>
    ) throws(Rejection) -> Mutations<Mutation>

    /// The form for reactors that need no context.
    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation>

    /// The form for reactors that need no state either.
    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation>

    /// Applies a fact in place.
    func reduce(state: inout State, mutation: Mutation)

    /// The form for those who like their reducers to return the new state.
    func reduce(state: State, mutation: Mutation) -> State

    /// Decides what the reactor begins with: effects that run for as long as it does, mutations of
    /// its own. Called when it is mounted, in the authoritative tree only, and again after a
    /// restart of the daemon.
    func start(state: State) -> Mutations<Mutation>

    /// Does what the reactor promised with ``Mutations/undertaking(_:_:)``: asked when the promise is
    /// committed, and after each restart until the effect has ended, with the same ``DurableTask/id``.
    /// What is answered with ``Effect/unperformed(_:)`` is not known: a history in which such a task
    /// waits is refused. A start and `--check` ask for that, so only the effect does anything.
    func perform(_ task: DurableTask, state: State) -> Effect<Mutation>

    /// Decides what follows from an effect that threw, or from a source of a transform that failed;
    /// `action` asked for the effect. A cancelled effect has not failed.
    func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation>

    /// Decides what follows from an error of a child that the child itself had no answer to.
    func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation>

    /// Whether an action that was applied ends the effects of an earlier one.
    ///
    /// Write it without `throws`. What a reactor has if it says nothing throws
    /// ``NeverCancels``, and is asked no second time.
    func shouldCancel(current: Action, upcoming: Action) throws(NeverCancels) -> Bool

    /// Puts a pipeline in the way of actions: before `mutate`.
    func transform(action: Transform<Action>) -> Transform<Action>

    /// Puts a pipeline in the way of mutations: between `mutate`, or an effect, and `reduce`.
    func transform(mutation: Transform<Mutation>) -> Transform<Mutation>

    /// Puts a pipeline between the state that `reduce` makes and the one that is shown: `reduce` and
    /// `mutate` never see what comes out of it.
    func transform(state: Transform<State>) -> Transform<State>

    /// What looks at every action when its reduce is done.
    var middleware: [Middleware<Self>] { get }

    /// What the reactor does over time: started when it begins, in the authoritative tree only, and
    /// torn down with it.
    var sagas: [Saga<Self>] { get }

    /// Decides what follows from a child's mutation; stored as mutations of this reactor, in the
    /// same transaction. Called only if ``isReacting`` says so; functions with ``Reacts(to:)`` are
    /// the usual form, from which the macro writes it.
    func react(to change: ChildChange, state: State) -> Mutations<Mutation>

    /// Decides what follows from the end of a connection that owned something here.
    func connectionEnded(
        _ owned: Owned, state: State, context: Context<Self>
    ) -> Mutations<Mutation>

    /// Shows the static children and keyed collections to `visitor`; the macro writes it.
    func children(_ visitor: inout ChildVisitor)

    /// Shows the key paths of the children, by which ``PathTable`` names them; the macro writes it.
    static func childPaths(_ visitor: inout ChildPathVisitor<Self>)

    /// Makes something readable of what an older version of the reactor wrote and the types of today do
    /// not read; nil where nothing can be made of it. A field that today's types do not know is not
    /// read: the answer leaves it out.
    static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue?

    /// Names that the reactor's type had before, under which a history may have kept its state.
    ///
    ///     static var formerNames: [String] { ["Counter"] }
    static var formerNames: [String] { get }

    /// Whether ``react(to:state:)`` is to be called; the macro says so where it is written.
    static var isReacting: Bool { get }

    /// The author's number for the meaning of `reduce`: raise it when the types stay the same but
    /// the same mutations lead to another state.
    static var version: UInt32 { get }

    /// What the reactor is for, from the documentation comment of its type.
    static var documentation: String { get }

    // because a default body in a protocol extension is specialised in the author's module, where
    // the concrete types are known: 45 ns an action against 100 and more through a generic class
    /// Decodes one action and carries it out; not for authors.
    static func _step(
        _ node: Node<Self>, _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure)

    /// Reduces mutations that were decided before; not for authors.
    static func _redo(
        _ node: Node<Self>, _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError)

    /// Decodes mutations for a replica; not for authors.
    static func _stage(
        _ delta: Span<UInt8>, from offset: Int, in replica: Replica<Self>
    ) throws(WireError)

    /// Applies a replica's mutations; not for authors.
    static func _commit(_ replica: Replica<Self>)

    /// Decides and applies one action; not for authors.
    static func _carryOut(
        _ action: Action, _ node: Node<Self>, _ turn: Turn
    ) throws(Rejection)

    /// What of a state was changed since the last call; not for authors.
    static func _drain(_ state: inout State) -> StateChanges

    /// The fields of the state whose changes are recorded; not for authors.
    static var _trackedFields: [TrackedField<State>] { get }
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

// MARK: - What a reactor does unless its author says otherwise
extension Reactor {
    @inlinable
    public func mutate(
        action: Action, state: State, context: Context<Self>
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

    public func start(state: State) -> Mutations<Mutation> { .none }

    public func perform(_ task: DurableTask, state: State) -> Effect<Mutation> {
        .unperformed(task)
    }

    public func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { .none }

    public func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation> { .none }

    public func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool { throw NeverCancels() }

    public func transform(action: Transform<Action>) -> Transform<Action> { action }

    public func transform(mutation: Transform<Mutation>) -> Transform<Mutation> { mutation }

    public func transform(state: Transform<State>) -> Transform<State> { state }

    public var middleware: [Middleware<Self>] { [] }

    public var sagas: [Saga<Self>] { [] }

    public func react(to change: ChildChange, state: State) -> Mutations<Mutation> { .none }

    public func connectionEnded(
        _ owned: Owned, state: State, context: Context<Self>
    ) -> Mutations<Mutation> { .none }

    public func children(_ visitor: inout ChildVisitor) {}

    public static func childPaths(_ visitor: inout ChildPathVisitor<Self>) {}

    public static var isReacting: Bool { false }

    public static var version: UInt32 { 1 }

    public static var documentation: String { "" }

    /// Fingerprint of the types that a replica must share: state, mutation and ``version``.
    public static var fingerprint: UInt64 { ReactorForm.of(Self.self).fingerprint }

    public static var formerNames: [String] { [] }
}

extension Reactor {
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

/// Makes a struct or a final class a ``Reactor``: its nested `Action`, `Mutation` and `State`
/// become ``WireCodable``, its children are wired, its functions with ``Reacts(to:)`` are called.
///
/// The same is reached by hand, with the protocol, or by inheriting from ``BaseReactor``.
///
/// It becomes a ``MirrorableReactor`` as well if its body shows that it can be made without
/// arguments.
@attached(memberAttribute)
@attached(member, names: arbitrary)
@attached(extension, conformances: Reactor, MirrorableReactor)
public macro Reactor() = #externalMacro(module: "ReactorMacros", type: "ReactorMacro")
