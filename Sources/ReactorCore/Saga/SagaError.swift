/// Why a saga could not go on.
public enum SagaError: Error, Equatable {
    /// More actions came than are kept while a saga is between two of its waits: so many are lost to
    /// it. A saga that works for long without waiting reads from a channel instead, or uses a handler.
    case missed(count: UInt64)
    /// There are ``CoreLimits/sagasMax`` sagas, or ``CoreLimits/effectsMax`` effects and sagas at the
    /// top.
    case tooMany
    /// A saga forked a saga that forked a saga, ``CoreLimits/sagaDepthMax`` deep.
    case tooDeep
    /// A mutation came to a channel that was full; mutations cannot be refused, so what came from then
    /// on is not in it.
    case overrun(path: String, capacity: Int)
    /// The node is not in the tree, or not any more, or its reactor is of another type.
    case gone(path: String)
    /// A race of nobody has no winner.
    case nobodyRaces
    /// It is not known whether the action was applied: the connection ended for good.
    case unknownOutcome
    /// The action was not applied, and not refused in an orderly way.
    case failed(message: String)
}

extension SagaError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missed(let count):
            "a saga missed \(count) actions: more than \(CoreLimits.sagaLogMax) came before it "
                + "took the next; use a channel, or a handler such as takeEvery"
        case .tooMany:
            "no room for another saga: \(CoreLimits.sagasMax) may be under way, and those at the top "
                + "are among the effects of their tree, of which effectsMax may run"
        case .tooDeep:
            "a saga is forked \(CoreLimits.sagaDepthMax) deep, and no deeper: use a loop"
        case .overrun(let path, let capacity):
            "\(path): a channel of mutations is over, for \(capacity) waited in it, the most, and "
                + "another came: take them sooner, give it more room, or use a handler such as "
                + "takeEvery"
        case .gone(let path): "\(path): no such reactor, or not any more"
        case .nobodyRaces: "a race of nobody has no winner: give it at least one member"
        case .unknownOutcome: "nobody can say whether the action was applied"
        case .failed(let message): message
        }
    }
}
