/// The reason why a tree cannot be restored from its history.
public enum RecoveryError: Error, Equatable, Sendable {
    /// The history contains a reactor at a path where the daemon has none.
    case missing(path: String)
    /// The history and the daemon have different reactors at the path.
    case another(path: String, kept: String, now: String)
    /// Today's types cannot read a state, a mutation or a planned action.
    case unreadable(path: String, what: String, WireError)
    /// A step of a type refuses a state, a mutation or a planned action, or the value's version has
    /// no step; `reason` names place, type and version.
    case unconverted(path: String, what: String, reason: String)
    /// The versions and steps of a reactor's types have a mistake.
    case misversioned(path: String, reactor: String, problem: String)
    /// A durable task is pending, and its reactor can no longer perform it.
    case unperformed(path: String, reactor: String, task: String)
    /// The bytes are not what a daemon writes.
    case damaged(String)
    /// The replay of a reactor led to another state than before: its `reduce` changed, or depends
    /// on more than state and mutation.
    case diverged(path: String, sequence: UInt64)
}

extension RecoveryError: CustomStringConvertible {
    /// The obstacle, its place, and the next step.
    public var description: String {
        switch self {
        case .missing(let path):
            "the history has a reactor at \(path), and the daemon has none there: put it back, or "
                + "name it under `data: dropped:` to lose its state"
        case .another(let path, let kept, let now):
            "the history has a \(kept) at \(path), and the daemon has a \(now) there: put the "
                + "\(kept) back, or name \(path) under `data: dropped:` to lose its state; where "
                + "\(now) is the new name of \(kept), list that in its `formerNames`"
        case .unreadable(let path, let what, let error):
            "\(path): \(what) in the history cannot be read by the reactor's types of today: "
                + "\(error); name what was renamed in @WireAlias and removed fields in @WireRemoved, "
                + "give new fields a default, keep old cases, or give the type a version and a "
                + "step in `wireMigrations`"
        case .unconverted(let path, let what, let reason):
            "\(path): \(what) in the history cannot be converted to today's types: \(reason); "
                + "correct the step in `wireMigrations` or `migrate`, which `reactord --check` tries "
                + "without a change of the data"
        case .misversioned(let path, let reactor, let problem):
            "\(path): the types of \(reactor): \(problem)"
        case .unperformed(let path, let reactor, let task):
            "\(path): the durable task \(task.quoted()) waits in the history, and \(reactor) does "
                + "not perform it: keep the name in `perform` until it has ended"
        case .damaged(let text): "\(text); `reactord doctor` says more and salvages a copy"
        case .diverged(let path, let sequence):
            "\(path): replayed up to sequence \(sequence), the state is not the recorded one: "
                + "`reduce` was changed without need, or it depends on more than state and "
                + "mutation; `reactord rebaseline` starts from the replayed state"
        }
    }
}
