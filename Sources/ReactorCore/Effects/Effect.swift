import ReactorThreads

/// Asynchronous work that a reactor asks for.
///
/// It starts once the transaction that asked for it is committed, and runs in the daemon only. Each
/// mutation that it emits is a separate transaction. The tree drops what a cancelled effect still
/// emits. An effect that throws ends; its earlier mutations stay, and the error goes to
/// ``Reactor/error(_:action:state:context:)``.
public struct Effect<Mutation: Sendable>: Sendable {
    /// Name by which a later effect or action cancels this one; unique within a node.
    public var cancelID: String?
    /// The event that ends it, besides its own end and the removal of its reactor.
    public var lifetime: EffectLifetime
    /// Maximum duration; at its end the effect is cancelled and has failed.
    public var deadline: Duration?
    /// Whether a given action of its reactor ends the effect.
    var until: (@Sendable (any Sendable) -> Bool)?
    /// Whether it stands for a durable task that its reactor cannot perform.
    var isUnperformed = false
    /// The code that made it, for the log; `nil` if the library made it for an author.
    var location: CodeLocation?
    let run: @Sendable (Emit<Mutation>) async throws -> Void

    /// Work that emits any number of mutations. The log names the effect by `fileID` and `line`.
    public init(
        cancelID: String? = nil, lifetime: EffectLifetime = .reactor, deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ run: @escaping @Sendable (Emit<Mutation>) async throws -> Void
    ) {
        self.cancelID = cancelID
        self.lifetime = lifetime
        self.deadline = deadline
        location = CodeLocation(fileID: fileID, line: line)
        self.run = run
    }

    /// Emits the elements of an asynchronous sequence.
    public init<Source: AsyncSequence & Sendable>(
        cancelID: String? = nil, lifetime: EffectLifetime = .reactor,
        fileID: StaticString = #fileID, line: UInt = #line, _ source: Source
    ) where Source.Element == Mutation {
        self.init(cancelID: cancelID, lifetime: lifetime, fileID: fileID, line: line) { emit in
            for try await mutation in source { emit(mutation) }
        }
    }

    /// Ends the effect at the first action of its reactor for which `isEnd` is true, among the
    /// actions applied after the one that asked for the effect.
    public func until<Action: Sendable>(
        _ isEnd: @escaping @Sendable (Action) -> Bool
    ) -> Effect {
        var effect = self
        effect.until = { action in (action as? Action).map(isEnd) ?? false }
        return effect
    }
}

/// The code that made an effect.
struct CodeLocation: Sendable {
    let fileID: StaticString
    let line: UInt
}

/// What the log says about an effect that emits after its return.
struct LateReport: Sendable {
    /// Raised when the work has returned by itself; taken by the first report.
    let hasReturned = Flag()
    var cancelID: String?
    var location: CodeLocation?

    /// The effect: its name and its location, as far as they are known.
    var title: String {
        let name = cancelID.map { "effect \"\($0)\"" } ?? "an effect"
        return location.map { "\(name) of \($0.fileID):\($0.line)" } ?? name
    }
}

/// The event that ends an effect.
public enum EffectLifetime: Sendable, Equatable {
    /// Ends when its reactor is removed from the tree, at the latest.
    case reactor
    /// Ends also with the connection that sent the action.
    case connection
    /// Ends also when the reactor's life cycle is cancelled: see
    /// ``Mutations/cancellingLifecycle()``.
    case lifecycle
}

extension Effect {
    /// The answer of a reactor that cannot perform a durable task. It fails with
    /// ``UnperformedTask``.
    public static func unperformed(_ task: DurableTask) -> Effect {
        var effect = Effect { _ in throw UnperformedTask(name: task.name) }
        effect.isUnperformed = true
        return effect
    }
}

// MARK: - Effects of time
extension Effect {
    /// Emits one mutation after a pause.
    public static func after(
        _ pause: Duration, cancelID: String? = nil, _ mutation: Mutation
    ) -> Effect {
        Effect(cancelID: cancelID) { emit in
            try await emit.clock.sleep(for: pause)
            emit(mutation)
        }
    }

    /// Emits a mutation every `period` until it is cancelled. Each time is computed from the
    /// previous planned time, so that the timer does not drift.
    public static func every(
        _ period: Duration, cancelID: String? = nil,
        _ mutation: @escaping @Sendable () -> Mutation
    ) -> Effect {
        precondition(period > .zero, "a period of \(period) never ends")
        return Effect(cancelID: cancelID, lifetime: .lifecycle) { emit in
            var planned = emit.clock.now
            while true {
                planned += period
                // After a long stop of the process, the timer skips the missed periods.
                if planned < emit.clock.now { planned = emit.clock.now }
                try await emit.clock.sleep(until: planned)
                emit(mutation())
            }
        }
    }
}

/// Delivers the mutations of an effect to its reactor.
public struct Emit<Mutation: Sendable>: Sendable {
    /// The tree's clock.
    public let clock: TreeClock
    let deliver: @Sendable (@escaping Decide) -> Void

    let deliverLast: @Sendable (@escaping Decide) -> Void

    /// The mutation to emit, given the state at the time of delivery.
    typealias Decide = @Sendable (_ state: any Sendable) -> Mutation?

    /// Emits a mutation, applied as a separate transaction, in the order of the calls.
    public func callAsFunction(_ mutation: Mutation) { deliver { _ in mutation } }

    /// Emits a mutation and ends the effect in one transaction, so that the report of a durable
    /// effect is applied once, however often the effect was started. Later emissions are dropped.
    public func last(_ mutation: Mutation) { deliverLast { _ in mutation } }

    /// Emits the mutation that `decide` returns for the state at the time of delivery, unless
    /// `nil`.
    public func deciding<State: Sendable>(
        _ decide: @escaping @Sendable (State) -> Mutation?
    ) {
        deliver { state in (state as? State).flatMap(decide) }
    }
}

/// An effect that starts after its transaction is committed.
///
/// *Owner*: the tree's isolation; `start` is called once.
package struct PendingEffect {
    /// Sequence of the transaction that asked for it.
    package let sequence: UInt64
    let start: () -> Void
}
