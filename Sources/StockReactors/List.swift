public import ReactorCore

/// The latest values of a series, such as the lines of a chat; one more than fit drops the oldest.
///
/// Rejections: `empty` for `removeFirst` where there is nothing, `too_large` for an item of more
/// than 64 KiB.
@Reactor
public struct List {
    /// Most items of a list.
    public static let capacityMax = 1_000_000
    /// Items that fit a list unless its author says otherwise.
    public static let capacityDefault = 1_000
    /// Largest item, in encoded bytes.
    public static let itemBytesMax = 64 << 10

    /// How many items fit.
    public let capacity: Int

    /// *Traps* unless `capacity` is 1 to ``capacityMax``.
    public init(capacity: Int = List.capacityDefault) {
        precondition(
            1...Self.capacityMax ~= capacity,
            "list: capacity \(capacity) is not 1 to \(Self.capacityMax)")
        self.capacity = capacity
    }

    /// What a client may ask of a list.
    public enum Action: Equatable, Sendable {
        /// Adds `value` at the end, and drops the first item if the list is full.
        case append(value: WireValue)
        /// Removes the first item, which is the oldest.
        case removeFirst
        /// Removes all items.
        case clear
    }

    /// What may happen to a list.
    public enum Mutation: Equatable, Sendable {
        // because a mirror does not know the daemon's capacity: what left is part of the fact
        /// `dropped` items left at the front, and `value` came at the end.
        case appended(value: WireValue, dropped: Int = 0)
        /// The first item left.
        case removedFirst
        /// No item is left.
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
