public import ReactorCore

/// Why an action was not applied, as ``DispatchOutcome/get()`` throws it.
public enum DispatchError: Error, Equatable, Sendable {
    /// Refused before anything was changed, by the reactor or by the system.
    case rejected(Rejection)
    /// The daemon could not say yes or no in an orderly way, or the action was never sent.
    case failed(message: String)
    /// The action was sent, and nobody can say any more what became of it.
    case unknown
}

extension DispatchError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected(let rejection): "\(rejection)"
        case .failed(let message): message
        case .unknown: "nobody can say what became of the action: look at the state"
        }
    }
}
