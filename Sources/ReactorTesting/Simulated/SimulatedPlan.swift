public import ReactorCore

/// A planned action of a reactor in a simulated daemon: see ``SimulatedTree/plans(of:at:)``.
public struct SimulatedPlan<Action> {
    /// The name that the reactor gave to the plan.
    public let name: String
    /// When the daemon dispatches the action.
    public let due: WallTime
    /// The time from one dispatch to the next; nil if there is only one.
    public let period: Duration?
    /// The action.
    public let action: Action
}

extension SimulatedPlan: Equatable where Action: Equatable {}

/// A key of a reactor in a simulated daemon, and the connection that owns it: see
/// ``SimulatedTree/owners(at:)``.
public struct SimulatedOwner: Equatable, Sendable {
    /// The key that the reactor named in `context.own`.
    public let key: WireKey
    /// The number of the connection.
    public let connection: UInt64

    /// The key as the type that the reactor named; `nil` if its text is no such key.
    public func key<Key: ChildKey>(as type: Key.Type = Key.self) -> Key? {
        Key(wireKeyText: key.text)
    }
}

extension Tree {
    /// The owned keys of the reactor at `path`, in the order in which they were taken.
    func owners(at path: String) -> [SimulatedOwner] {
        guard let number = number(at: path) else { return [] }
        return copyOwnership()().compactMap { fact in
            guard case .own(number, let key, let connection, _) = fact else { return nil }
            return SimulatedOwner(key: key, connection: connection)
        }
    }

    /// The planned actions of the reactor of type `type` at `path`, in the order in which they were
    /// planned.
    func plans<R: Reactor>(of type: R.Type, at path: String) -> [SimulatedPlan<R.Action>] {
        guard let number = number(at: path), node(number) is Node<R> else { return [] }
        return copyTasks()().compactMap { fact in
            guard
                case .timer(number, let name, _, let planned, _, let period, _, let encoded) = fact,
                let action = try? encoded.decode(as: R.Action.self)
            else { return nil }
            return SimulatedPlan(
                name: name, due: WallTime(milliseconds: planned),
                period: period.map { .milliseconds($0) }, action: action)
        }
    }

    private func number(at path: String) -> UInt32? {
        (try? SlicePath(path)).flatMap { node(at: $0) }?.number
    }
}
