/// A failure of an action after its outcome was decided, for the client that sent the action.
package struct LateFailure: Sendable, Equatable {
    /// The client and the number of the action.
    package var origin: Origin
    /// The kind: ``effectFailedCode``, or a ``FaultCode``.
    package var code: String
    /// The error text, for people.
    package var message: String

    /// The code of an effect that threw.
    package static let effectFailedCode = "effectFailed"

    /// Makes a failure of its parts.
    package init(origin: Origin, code: String, message: String) {
        self.origin = origin
        self.code = code
        self.message = message
    }
}

extension LateFailure {
    /// The failure of an effect that an action asked for.
    static func effectFailed(_ error: any Error, of origin: Origin) -> LateFailure {
        LateFailure(origin: origin, code: effectFailedCode, message: "\(error)")
    }
}
