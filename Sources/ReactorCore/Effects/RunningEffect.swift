/// Identifies a run of an effect; a later run has another number.
struct EffectID: Hashable, Sendable {
    var node: UInt32
    var number: UInt64
}

/// An effect that was requested and has not ended.
struct RunningEffect {
    var cancelID: String?
    /// The name under which the client of its action may cancel it.
    var scope: CancelScope?
    var origin: Origin
    /// Sequence of the transaction that asked for it.
    var sequence: UInt64
    /// The connection whose end ends the effect, if there is one.
    var connection: UInt64?
    var isLifecycle = false
    /// Whether it reads a source, or a stream of a transform, as long as its reactor lives.
    var isSource = false
    /// The name of the durable task that it performs.
    var task: String?
    /// Cancels its work; `nil` before the work has started.
    var cancel: (@Sendable () -> Void)?
}

/// A request of a transaction to cancel earlier effects.
struct EffectCancellation {
    var node: UInt32
    var selection: EffectSelection
    /// The last effect that the request covers; later effects continue.
    var last: UInt64
}

/// Selects effects of one node for cancellation.
enum EffectSelection: Hashable {
    case all
    case named(String)
    case lifecycle
    /// The effects that one client's actions started under a name.
    case scoped(CancelScope)
}

extension EffectSelection {
    // A durable task is cancelled under its own name only, or a restart would perform it again.
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

/// Names the effects that the actions of one client to one node started, so that the client can
/// cancel them.
///
/// Two clients may use the same name; neither can cancel effects that the other's actions started.
struct CancelScope: Hashable, Sendable {
    /// The client's public number, which is also its session's.
    var client: UInt64
    var name: String
}
