/// Asynchronous work that a reactor asks for.
///
/// It starts once the transaction that asked for it is committed, runs in the daemon only, and
/// each mutation it emits is a transaction of its own. What a cancelled effect still emits is
/// dropped. An effect that throws ends; what it emitted before stays, and the error goes to
/// ``Reactor/error(_:action:state:)``.
public struct Effect<Mutation: Sendable>: Sendable {
    /// Name by which a later effect or action cancels this one; unique within a node.
    public var cancelID: String?
    /// What ends it, besides its own end and that of its reactor.
    public var lifetime: EffectLifetime
    /// How long it may take; then it is cancelled, and has failed.
    public var deadline: Duration?
    /// Whether an action of its reactor ends it.
    var until: (@Sendable (any Sendable) -> Bool)?
    /// Whether it stands for a task that its reactor does not know.
    var isUnperformed = false
    let run: @Sendable (Emit<Mutation>) async throws -> Void

    /// Work that emits any number of mutations.
    public init(
        cancelID: String? = nil, lifetime: EffectLifetime = .reactor, deadline: Duration? = nil,
        _ run: @escaping @Sendable (Emit<Mutation>) async throws -> Void
    ) {
        self.cancelID = cancelID
        self.lifetime = lifetime
        self.deadline = deadline
        self.run = run
    }

    /// Emits what an asynchronous sequence yields.
    public init<Source: AsyncSequence & Sendable>(
        cancelID: String? = nil, lifetime: EffectLifetime = .reactor, _ source: Source
    ) where Source.Element == Mutation {
        self.init(cancelID: cancelID, lifetime: lifetime) { emit in
            for try await mutation in source { emit(mutation) }
        }
    }

    /// Ends the effect at the first action of its reactor, applied after the one that asked for it,
    /// that `isEnd` says.
    public func until<Action: Sendable>(
        _ isEnd: @escaping @Sendable (Action) -> Bool
    ) -> Effect {
        var effect = self
        effect.until = { action in (action as? Action).map(isEnd) ?? false }
        return effect
    }
}

/// What an effect is bound to.
public enum EffectLifetime: Sendable, Equatable {
    /// Lives at most as long as its reactor is in the tree.
    case reactor
    /// Ends with the connection that sent the action, too.
    case connection
    /// Ends when the reactor's life cycle is cancelled, too: see
    /// ``Mutations/cancellingLifecycle()``.
    case lifecycle
}

extension Effect {
    /// What a reactor answers that does not know a durable task; it fails with ``UnperformedTask``.
    public static func unperformed(_ task: DurableTask) -> Effect {
        var effect = Effect { _ in throw UnperformedTask(name: task.name) }
        effect.isUnperformed = true
        return effect
    }
}

// MARK: - Effects of time
extension Effect {
    /// Emits one mutation after a while.
    public static func after(
        _ pause: Duration, cancelID: String? = nil, _ mutation: Mutation
    ) -> Effect {
        Effect(cancelID: cancelID) { emit in
            try await emit.clock.sleep(for: pause)
            emit(mutation)
        }
    }

    /// Emits a mutation every `period`, for as long as it is not cancelled; the next is planned from
    /// the time the last was planned for, so that it does not drift.
    public static func every(
        _ period: Duration, cancelID: String? = nil,
        _ mutation: @escaping @Sendable () -> Mutation
    ) -> Effect {
        precondition(period > .zero, "a period of \(period) never ends")
        return Effect(cancelID: cancelID, lifetime: .lifecycle) { emit in
            var planned = emit.clock.now
            while true {
                planned += period
                // because a process that stood still for an hour is not to catch up on all of it
                if planned < emit.clock.now { planned = emit.clock.now }
                try await emit.clock.sleep(until: planned)
                emit(mutation())
            }
        }
    }
}

/// The way from an effect back to its reactor.
public struct Emit<Mutation: Sendable>: Sendable {
    /// The time that the tree keeps.
    public let clock: TreeClock
    let deliver: @Sendable (@escaping Decide) -> Void

    let deliverLast: @Sendable (@escaping Decide) -> Void

    /// What to emit, given the state at that moment.
    typealias Decide = @Sendable (_ state: any Sendable) -> Mutation?

    /// Hands over a mutation; applied as a transaction of its own, in the order of the calls.
    public func callAsFunction(_ mutation: Mutation) { deliver { _ in mutation } }

    /// Hands over a mutation and ends the effect, in one transaction: so that what a durable effect
    /// reports is applied once, however often it was begun. What it emits after that is dropped.
    public func last(_ mutation: Mutation) { deliverLast { _ in mutation } }

    /// Hands over what `decide` makes of the state when its turn comes; nothing where that is nil.
    public func deciding<State: Sendable>(
        _ decide: @escaping @Sendable (State) -> Mutation?
    ) {
        deliver { state in (state as? State).flatMap(decide) }
    }
}

/// Work that waits for its transaction to be committed.
///
/// *Owner*: the tree's isolation; `start` is called once.
public struct PendingEffect {
    /// Sequence of the transaction that asked for it.
    public let sequence: UInt64
    let start: () -> Void
}

/// An effect that runs, to be told apart from those that ran before it.
struct EffectID: Hashable, Sendable {
    var node: UInt32
    var number: UInt64
}
