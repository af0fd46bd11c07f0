/// The reason why a saga could not continue.
public enum SagaError: Error, Equatable {
    /// `count` actions and mutations are lost to the saga, since more came between two of its takes
    /// than the log keeps. A saga that works for long without waiting uses a channel or a handler
    /// instead.
    case missed(count: UInt64)
    /// There are ``CoreLimits/sagasMax`` sagas, or ``CoreLimits/effectsMax`` effects and top-level
    /// sagas.
    case tooMany
    /// Sagas started sagas more than ``CoreLimits/sagaDepthMax`` levels deep.
    case tooDeep
    /// A mutation came to a full channel. Mutations cannot be refused, so the channel is closed and
    /// lacks this one and all later ones.
    case overrun(path: String, capacity: Int)
    /// The node is not in the tree, or its reactor is of another type.
    case gone(path: String)
    /// ``SagaContext/first(_:)`` was called without members.
    case noMembers
    /// The connection ended for good before the answer came; the action may have been applied.
    case unknownOutcome
    /// The action was not applied, for a reason other than a rejection.
    case failed(message: String)
}

extension SagaError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missed(let count):
            "a saga missed \(count) actions: more than \(CoreLimits.sagaLogMax) came before it "
                + "took the next; use a channel, or a handler such as takeEvery"
        case .tooMany:
            "no room for another saga: \(CoreLimits.sagasMax) may run, and top-level sagas "
                + "are among the effects of their tree, of which effectsMax may run"
        case .tooDeep:
            "sagas are nested at most \(CoreLimits.sagaDepthMax) levels deep: use a loop"
        case .overrun(let path, let capacity):
            "\(path): a channel of mutations has ended: \(capacity) waited, its maximum, and "
                + "another came: take them sooner, give it more room, or use a handler such as "
                + "takeEvery"
        case .gone(let path): "\(path): no such reactor, or it was removed"
        case .noMembers: "a race without members has no winner: give it at least one"
        case .unknownOutcome: "it is unknown whether the action was applied"
        case .failed(let message): message
        }
    }
}
