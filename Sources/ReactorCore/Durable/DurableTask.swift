/// Work that a reactor has promised, and that outlives the daemon's process.
///
/// It is part of the transaction that promised it: whoever saw the one can rely on the other. After
/// a restart it is taken up again under the same ``id``. Ask for it with
/// ``Mutations/undertaking(_:_:)``, do it in ``Reactor/perform(_:state:)``.
///
/// It runs at least once: what it does to the world outside should be told the id, by which a second
/// time is known. What it reports with ``Emit/last(_:)`` is applied exactly once. It goes on when its
/// reactor is restarted, or cancels other effects: only ``Mutations/dropping(_:)``, and the end of its
/// reactor, take it back.
public struct DurableTask: Equatable, Sendable {
    /// The name that the reactor gave to it; a new one of the same name takes its place.
    public let name: String
    /// The same at every attempt, and no other task's: neither of this history, nor of one whose end was
    /// lost.
    public let id: UInt64
    /// What the reactor said beside it.
    public let payload: WireEmbedded
}

/// A reactor was asked for a durable task that it does not know how to perform.
public struct UnperformedTask: Error, Equatable, CustomStringConvertible {
    /// The task's name.
    public var name: String

    public var description: String {
        "durable task \(name) is not performed: write `perform(_:state:)`"
    }
}

/// What becomes of planned times that passed while nothing could be done: the daemon was not
/// running, or the machine stood still for a second at least.
@WireCodable
public enum CatchUp: String, CaseIterable, Sendable {
    /// Nothing: the next is the first that is still to come.
    case skip
    /// One action for all of them, at once.
    case once
    /// An action for each of them, at once; at most ``CoreLimits/catchUpMax``.
    case all
}

/// A change of what is promised, as it rests beside the deltas of its turn.
@WireCodable
public enum TaskFact: Equatable, Sendable {
    /// `action` is to be dispatched to the node at `planned` (milliseconds since 1970), and again every
    /// `period` milliseconds where there is one; `span` is the longest that this can be away.
    case timer(
        node: UInt32, name: String, id: UInt64, planned: Int64, span: Int64, period: Int64?,
        catchUp: CatchUp, action: WireEmbedded)
    /// An effect is to be performed.
    case effect(node: UInt32, name: String, id: UInt64, payload: WireEmbedded)
    /// What had this name is done, or not wanted any more.
    case done(node: UInt32, name: String)
}

extension TaskFact {
    /// Whose promise it is.
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

    /// The number of the task; 0 where there is none any more.
    var id: UInt64 {
        switch self {
        case .timer(_, _, let id, _, _, _, _, _), .effect(_, _, let id, _): id
        case .done: 0
        }
    }
}
