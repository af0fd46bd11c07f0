/// What went wrong for an action after its outcome was decided, for the client that sent it.
public struct LateFailure: Sendable, Equatable {
    /// Which client's which action it was.
    public var origin: Origin
    /// The kind: ``effectFailedCode``, or a ``FaultCode``.
    public var code: String
    /// What went wrong, for people.
    public var message: String

    /// The code of an effect that threw.
    public static let effectFailedCode = "effectFailed"

    /// Tells of a failure.
    public init(origin: Origin, code: String, message: String) {
        self.origin = origin
        self.code = code
        self.message = message
    }
}

extension Turn {
    /// Tells the log that what an action set off was cut, and its client, once for each action.
    func reportLoop(_ text: String, of origin: Origin) {
        news.complaints.append("\(FaultCode.loop): \(text)")
        let failure = LateFailure(origin: origin, code: FaultCode.loop.rawValue, message: text)
        if let last = failures.last, last.origin == origin, last.code == failure.code { return }
        news.failures.append(failure)
    }
}
