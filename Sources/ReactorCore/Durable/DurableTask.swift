/// Work that a reactor has promised, and that outlives the daemon's process.
///
/// The promise is part of a transaction: if the transaction is durable, so is the task. After a
/// restart the tree performs it again under the same ``id``. Ask for it with
/// ``Mutations/undertaking(_:_:)``, perform it in ``Reactor/perform(_:state:context:)``.
///
/// It runs at least once: pass the id to external systems, so that they recognise a repetition. A
/// mutation that it emits with ``Emit/last(_:)`` is applied exactly once. The task continues when
/// its reactor restarts or cancels other effects: only ``Mutations/dropping(_:)`` and the removal
/// of its reactor cancel it.
public struct DurableTask: Equatable, Sendable {
    /// The name that the reactor gave to it; a new task of the same name replaces it.
    public let name: String
    /// The same at every attempt. No other task has it, neither in this history nor in an earlier
    /// one that lost its end.
    public let id: UInt64
    /// The data that the reactor passed with the promise.
    public let payload: KeptPayload
}

/// The stored data of a ``DurableTask``.
public struct KeptPayload: Equatable, Sendable {
    private let stored: WireEmbedded

    init(_ stored: WireEmbedded) { self.stored = stored }

    /// Reads the data as `type`, as strictly as a stored state: an unknown field, or a missing one
    /// without a declared default, is an error.
    public func decode<Value: WireCodable>(
        as type: Value.Type = Value.self
    ) throws(WireError) -> Value {
        try Value(keptBytes: stored.bytes.span)
    }
}

/// The reactor does not know how to perform a durable task.
public struct UnperformedTask: Error, Equatable, CustomStringConvertible {
    /// The task's name.
    package var name: String

    public var description: String {
        "durable task \(name) is not performed: write `perform(_:state:)`"
    }
}

/// How a timer treats planned times that passed while the daemon was not running, or was stopped
/// for at least a second.
@WireCodable
public enum CatchUp: String, CaseIterable, Sendable {
    /// No action: the timer continues with the next time in the future.
    case skip
    /// One action for all of them, at once.
    case once
    /// One action for each of them, at once; at most ``CoreLimits/catchUpMax``.
    case all
}

/// A change of a reactor's durable tasks, as the journal stores it beside the deltas of its turn.
@WireCodable
package enum TaskFact: Equatable, Sendable {
    /// A planned `action`, to be dispatched to the node at `planned` (milliseconds since 1970) and
    /// then every `period` milliseconds, if there is one. `span` is the maximum wait for `planned`
    /// in milliseconds.
    case timer(
        node: UInt32, name: String, id: UInt64, planned: Int64, span: Int64, period: Int64?,
        catchUp: CatchUp, action: WireEmbedded)
    /// A durable effect to be performed.
    case effect(node: UInt32, name: String, id: UInt64, payload: WireEmbedded)
    /// The task of this name is done or dropped.
    case done(node: UInt32, name: String)
}

extension TaskFact {
    /// The node of the reactor that promised the task.
    var node: UInt32 {
        switch self {
        case .timer(let node, _, _, _, _, _, _, _), .effect(let node, _, _, _),
            .done(let node, _):
            node
        }
    }

    var name: String {
        switch self {
        case .timer(_, let name, _, _, _, _, _, _), .effect(_, let name, _, _),
            .done(_, let name):
            name
        }
    }

    /// The number of the task; 0 for `done`.
    var id: UInt64 {
        switch self {
        case .timer(_, _, let id, _, _, _, _, _), .effect(_, _, let id, _): id
        case .done: 0
        }
    }
}

/// A request of a decision for a durable task, or for the end of one.
enum TaskWish {
    case timer(name: String, span: Duration, period: Duration?, CatchUp, WireEmbedded)
    case effect(name: String, WireEmbedded)
    case drop(name: String)

    /// The name of the requested task; `nil` for `drop`.
    var promised: String? {
        switch self {
        case .timer(let name, _, _, _, _), .effect(let name, _): name
        case .drop: nil
        }
    }
}
