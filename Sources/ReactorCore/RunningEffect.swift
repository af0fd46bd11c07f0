/// An effect that was asked for and has not ended.
struct RunningEffect {
    var cancelID: String?
    /// Under which name the client of its action may cancel it.
    var scope: CancelScope?
    var origin: Origin
    /// Sequence of the transaction that asked for it.
    var sequence: UInt64
    /// The connection whose end ends it, if any does.
    var connection: UInt64?
    var isLifecycle = false
    /// Whether it reads a source, or a stream of a transform, for as long as its reactor lives.
    var isSource = false
    /// The name of the durable task that it performs.
    var task: String?
    /// Ends its work; nothing before that has begun.
    var cancel: (@Sendable () -> Void)?
}

/// A wish of a transaction to cancel effects that were asked for before.
struct EffectCancellation {
    var node: UInt32
    var selection: EffectSelection
    /// The last effect that is meant: those after it came later.
    var last: UInt64
}

extension EffectSelection {
    // because what was promised is taken back by its own name alone, or would be done after a restart
    func contains(_ effect: RunningEffect) -> Bool {
        guard effect.task == nil else { return false }
        return switch self {
        case .all: true
        case .named(let name): effect.cancelID == name
        case .lifecycle: effect.isLifecycle
        case .scoped(let scope): effect.scope == scope
        }
    }
}
