/// Why a tree cannot be put back to where its history left it.
public enum RecoveryError: Error, Equatable, Sendable {
    /// The history speaks of a reactor that the daemon does not have any more.
    case missing(path: String)
    /// A state or a mutation cannot be read by the types of today.
    case unreadable(path: String, what: String, WireError)
    /// What was written is not what a daemon writes.
    case damaged(String)
    /// Replayed, a reactor came to another state than it had: its `reduce` changed, or depends on
    /// more than state and mutation.
    case diverged(path: String, sequence: UInt64)
}

extension RecoveryError: CustomStringConvertible {
    /// What stands in the way, where, and the next step.
    public var description: String {
        switch self {
        case .missing(let path):
            "the history has a reactor at \(path), and the daemon has none there: put it back, or "
                + "name it under `data: dropped:` to lose its state"
        case .unreadable(let path, let what, let error):
            "\(path): \(what) of the history cannot be read by the reactor's types of today: "
                + "\(error); give new fields a default, keep old cases, or write `migrate`"
        case .damaged(let text): "\(text); `reactord doctor` says more and salvages a copy"
        case .diverged(let path, let sequence):
            "\(path): replayed up to sequence \(sequence), the state is another than it was: "
                + "`reduce` was changed without need, or it depends on more than state and "
                + "mutation; `reactord rebaseline` starts from the replayed state"
        }
    }
}
