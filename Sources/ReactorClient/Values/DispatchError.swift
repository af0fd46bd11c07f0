public import ReactorCore

/// Why an action was not applied, as ``DispatchOutcome/get()`` throws it.
public enum DispatchError: Error, Equatable, Sendable {
    /// Refused by the reactor or by the system before any change.
    case rejected(Rejection)
    /// The daemon cannot tell whether the action was applied, or the action was never sent.
    case failed(message: String)
    /// The client cannot know what became of the action: it may have been applied, or may yet be.
    case unknown(UnknownReason)
}

extension DispatchError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected(let rejection): "\(rejection)"
        case .failed(let message): message
        case .unknown(let reason):
            "the action may have been applied or not, look at the state: \(reason)"
        }
    }
}
