/// A refused action: nothing was applied, and the caller receives the reason.
///
///     extension Rejection {
///         static let held = Rejection("held", "the lock is held by another connection")
///     }
public struct Rejection: Error, Equatable, Sendable {
    /// For programs: lower case, stable. Upper-case codes are the system's: see ``FaultCode``.
    public var code: String
    /// For people: the obstacle, and what to do.
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

/// The reason why an action's bytes did not become a transaction.
public enum StepFailure: Error, Sendable {
    /// The bytes are not an action of that reactor.
    case decode(WireError)
    /// The reactor, or a limit, refused it.
    case rejected(Rejection)
}
