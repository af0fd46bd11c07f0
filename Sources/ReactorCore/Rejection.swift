/// A reactor's "no": nothing was applied, and the caller is told why.
///
///     extension Rejection {
///         static let held = Rejection("held", "the lock is held by another connection")
///     }
public struct Rejection: Error, Equatable, Sendable {
    /// For programs: lower case, stable. Upper case is the system's: see ``FaultCode``.
    public var code: String
    /// For people: what is in the way, and what to do.
    public var message: String

    /// A rejection by a reactor.
    public init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A rejection by the system.
    public init(_ code: FaultCode, _ message: String) {
        self.init(code.rawValue, message)
    }
}

extension Rejection: CustomStringConvertible {
    public var description: String { "\(code): \(message)" }
}

/// Why an action's bytes did not become a transaction.
public enum StepFailure: Error, Sendable {
    /// The bytes are not an action of that reactor.
    case decode(WireError)
    /// The reactor, or a limit, said no.
    case rejected(Rejection)
}
