public import ReactorCore

/// The ready-made reactors, by their names in a configuration.
///
/// *Place*: `reactord` registers every kind with its catalog, and reads the option `capacity` of
/// the kinds that have it.
public enum StockKind: String, CaseIterable, Sendable {
    case counter
    case value
    case map
    case list
    case set
    case presence
    case lock
    case queue

    /// The range and the default of the option `capacity`; `nil` for a kind without this option.
    public var capacity: (range: ClosedRange<Int>, fallback: Int)? {
        switch self {
        case .map: (1...Map.capacityMax, Map.capacityDefault)
        case .list: (1...List.capacityMax, List.capacityDefault)
        case .set: (1...MemberSet.capacityMax, MemberSet.capacityDefault)
        case .queue: (1...Queue.capacityMax, Queue.capacityDefault)
        case .counter, .value, .presence, .lock: nil
        }
    }

    /// Makes a reactor of this kind.
    ///
    /// *Traps* if `capacity` is out of range; a kind without the option ignores it.
    public func make(capacity given: Int? = nil) -> any Reactor {
        let capacity = given ?? capacity?.fallback ?? 0
        switch self {
        case .counter: return Counter()
        case .value: return Value()
        case .map: return Map(capacity: capacity)
        case .list: return List(capacity: capacity)
        case .set: return MemberSet(capacity: capacity)
        case .presence: return Presence()
        case .lock: return Lock()
        case .queue: return Queue(capacity: capacity)
        }
    }
}
