public import ReactorCore

/// Why an action was not applied, as ``DispatchOutcome/get()`` throws it.
public enum DispatchError: Error, Equatable, Sendable {
    /// Refused before anything was changed, by the reactor or by the system.
    case rejected(Rejection)
    /// The daemon could not say yes or no in an orderly way, or the action was never sent.
    case failed(message: String)
    /// Nobody here can say what became of the action: it may have been applied, or may yet be.
    case unknown(UnknownReason)
}

extension DispatchError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected(let rejection): "\(rejection)"
        case .failed(let message): message
        case .unknown(let reason):
            "nobody can say what became of the action, look at the state: \(reason)"
        }
    }
}
