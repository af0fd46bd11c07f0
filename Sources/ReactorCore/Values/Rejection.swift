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

// MARK: - In a batch
extension Rejection {
    private static let batchPrefix = "action "

    /// The same rejection, naming the index of the refused action in its batch, from 0.
    package func inBatch(at index: Int) -> Rejection {
        Rejection(code, "\(Self.batchPrefix)\(index): \(message)")
    }

    /// The rejection of a batch, taken apart: the index of the refused action, and the rejection
    /// of that action. `nil` if the batch was refused as a whole.
    package var partOfBatch: (index: Int, rejection: Rejection)? {
        guard message.hasPrefix(Self.batchPrefix) else { return nil }
        let rest = message.dropFirst(Self.batchPrefix.count)
        guard let colon = rest.firstIndex(of: ":"), let index = Int(rest[..<colon]), index >= 0
        else { return nil }
        return (index, Rejection(code, String(rest[colon...].dropFirst(2))))
    }
}

/// The reason why an action's bytes did not become a transaction.
public enum StepFailure: Error, Sendable {
    /// The bytes are not an action of that reactor.
    case decode(WireError)
    /// The reactor, or a limit, refused it.
    case rejected(Rejection)
}
