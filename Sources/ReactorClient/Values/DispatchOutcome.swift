public import ReactorCore

/// The outcome of an action.
///
/// Cancelling the task that awaits it ends the wait, not the action: it may still be applied.
public enum DispatchOutcome<Reply: Sendable>: Sendable {
    /// Applied as the transaction with this revision; the client's mirrors already show it.
    case applied(Revision, reply: Reply?)
    /// Applied, but the connection that sent it has ended since, and what it owned there is
    /// released: join or acquire again.
    case ownerEnded(Revision, reply: Reply?)
    /// Applied as the transaction with this revision, and passed to a stream of its reactor; the
    /// stream's results come later, as separate transactions.
    case accepted(Revision)
    /// Refused by the reactor or by the system before any change.
    case rejected(Rejection)
    /// The daemon cannot tell whether the action was applied, or the action was never sent.
    case failed(message: String)
    /// The client cannot know what became of the action: it may have been applied, or may yet be.
    case unknown(UnknownReason)
}

/// Why a client cannot know what became of an action.
public enum UnknownReason: Sendable, Equatable {
    /// The task that waited was cancelled, and the action was not.
    case cancelled
    /// The client ended before the outcome came.
    case ended
    /// The client ended; the action is in its ``ClientOptions/journal``, and the next run with that
    /// file sends it again; it is applied once.
    case kept
    /// The daemon has forgotten the client's session, as too many newer sessions followed: an
    /// action that was sent may have been applied, and is not sent again.
    case sessionExpired
    /// The daemon had the action before, and has forgotten its outcome, as too many actions
    /// followed it.
    case forgotten
    /// The daemon's history lost a part that contained the session: the changes of the action may
    /// be lost as well.
    case historyLost
}

/// An outcome whose reply, if any, is still encoded.
public typealias ActionOutcome = DispatchOutcome<WireEmbedded>

extension DispatchOutcome: Equatable where Reply: Equatable {}

extension DispatchOutcome {
    /// The revision, if the action was applied.
    public var revision: Revision? {
        switch self {
        case .applied(let revision, _), .ownerEnded(let revision, _), .accepted(let revision):
            revision
        case .rejected, .failed, .unknown: nil
        }
    }
}

extension DispatchOutcome {
    /// True where the client cannot know what became of the action.
    public var isUnknown: Bool {
        if case .unknown = self { true } else { false }
    }

    /// The outcome of an action whose connection has ended.
    var withoutOwner: DispatchOutcome {
        guard case .applied(let revision, let reply) = self else { return self }
        return .ownerEnded(revision, reply: reply)
    }
}

extension DispatchOutcome {
    /// The revision of an action that was applied, and its reply, if the reactor gave one.
    ///
    ///     let number = try await tracker.dispatch(.open(title: "Rain")).get().reply
    ///
    /// *Throws*: ``DispatchError``, if the action was not applied or the client cannot know.
    @discardableResult
    public func get() throws(DispatchError) -> (revision: Revision, reply: Reply?) {
        switch self {
        case .applied(let revision, let reply), .ownerEnded(let revision, let reply):
            return (revision, reply)
        case .accepted(let revision): return (revision, nil)
        case .rejected(let rejection): throw .rejected(rejection)
        case .failed(let message): throw .failed(message: message)
        case .unknown(let reason): throw .unknown(reason)
        }
    }
}

extension ActionOutcome {
    /// The outcome that the daemon sent, in the history with this epoch.
    init(_ outcome: Outcome, epoch: UInt64) {
        switch outcome {
        case .applied(let sequence, let reply, let ownerEnded):
            let revision = Revision(epoch: epoch, sequence: sequence)
            self =
                ownerEnded
                ? .ownerEnded(revision, reply: reply)
                : .applied(revision, reply: reply)
        case .accepted(let sequence):
            self = .accepted(Revision(epoch: epoch, sequence: sequence))
        // The daemon concluded the action long ago: it is not refused now.
        case .rejected(FaultCode.ordinal.rawValue, _): self = .unknown(.forgotten)
        case .rejected(let code, let message): self = .rejected(Rejection(code, message))
        case .failed(let message): self = .failed(message: message)
        }
    }

    /// The same outcome with its reply decoded as `type`; a reply that cannot be decoded is a
    /// failure.
    package func typed<Value: WireCodable & Sendable>(as type: Value.Type) -> DispatchOutcome<Value>
    {
        do throws(WireError) {
            switch self {
            case .applied(let revision, let reply):
                return .applied(revision, reply: try Self.read(reply))
            case .ownerEnded(let revision, let reply):
                return .ownerEnded(revision, reply: try Self.read(reply))
            case .accepted(let revision): return .accepted(revision)
            case .rejected(let rejection): return .rejected(rejection)
            case .failed(let message): return .failed(message: message)
            case .unknown(let reason): return .unknown(reason)
            }
        } catch {
            return .failed(message: "applied, but its reply cannot be read: \(error)")
        }
    }

    private static func read<Value: WireCodable>(
        _ reply: WireEmbedded?
    ) throws(WireError) -> Value? {
        guard let reply else { return nil }
        return try reply.decode(as: Value.self)
    }
}

extension UnknownReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cancelled: "the task that waited for it was cancelled"
        case .ended: "the client ended before the outcome came"
        case .kept: "the client ended, and its journal keeps the action"
        case .sessionExpired: "session expired: the daemon no longer has it"
        case .forgotten: "the daemon no longer has its outcome"
        case .historyLost: "the daemon has lost a part of its history"
        }
    }
}
