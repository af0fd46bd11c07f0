public import ReactorCore

/// The latest values of a series, such as the lines of a chat; at the capacity, a new value drops
/// the oldest.
///
/// Rejections: `empty` for `removeFirst` on an empty list, `too_large` for an item of more than 64
/// KiB.
@Reactor
public struct List {
    /// Maximum capacity of a list.
    public static let capacityMax = 1_000_000
    /// Default capacity of a list.
    public static let capacityDefault = 1_000
    /// Maximum size of an item, in encoded bytes.
    public static let itemBytesMax = 64 << 10

    /// Maximum number of items.
    public let capacity: Int

    /// *Traps* unless `capacity` is 1 to ``capacityMax``.
    public init(capacity: Int = List.capacityDefault) {
        precondition(
            1...Self.capacityMax ~= capacity,
            "list: capacity \(capacity) is not 1 to \(Self.capacityMax)")
        self.capacity = capacity
    }

    /// The actions of a list.
    public enum Action: Equatable, Sendable {
        /// Adds `value` at the end, and drops the first item if the list is full.
        case append(value: WireValue)
        /// Removes the first item, the oldest.
        case removeFirst
        /// Removes all items.
        case clear
    }

    /// The mutations of a list.
    public enum Mutation: Equatable, Sendable {
        // A mirror does not know the daemon's capacity, so the fact contains the number of dropped
        // items.
        /// Drops `dropped` items from the front, then appends `value`.
        case appended(value: WireValue, dropped: Int = 0)
        /// Removes the first item.
        case removedFirst
        /// Removes all items.
        case cleared
    }

    /// The state of a list.
    public struct State: Equatable, Sendable {
        /// The items, the oldest first.
        public var items: SlidingArray<WireValue> = []

        /// An empty list.
        public init() {}
    }

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .append(let value):
            try value.check(bytesMax: Self.itemBytesMax, "the item")
            let dropped = max(0, state.items.count - capacity + 1)
            return Mutations(.appended(value: value, dropped: dropped))
        case .removeFirst:
            guard !state.items.isEmpty else {
                throw Rejection("empty", "the list has no item to remove")
            }
            return Mutations(.removedFirst)
        case .clear:
            return state.items.isEmpty ? .none : Mutations(.cleared)
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .appended(let value, let dropped):
            state.items.removeFirst(dropped)
            state.items.append(value)
        case .removedFirst: state.items.removeFirst()
        case .cleared: state.items.removeAll()
        }
    }
}
