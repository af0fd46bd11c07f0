public import ReactorCore

/// Values of any shape by key; stays fast with a million keys.
///
/// A slice can show a single entry: `/settings/entries/theme`.
///
/// Rejections: `full` beyond the capacity, `key_too_long` for a key of more than 1,024 bytes,
/// `too_large` for a value of more than 256 KiB.
@Reactor
public struct Map {
    /// Maximum capacity of a map.
    public static let capacityMax = 4_000_000
    /// Default capacity of a map.
    public static let capacityDefault = 2_000_000
    /// Maximum length of a key, in bytes of UTF-8.
    public static let keyBytesMax = 1_024
    /// Maximum size of a value, in encoded bytes.
    public static let valueBytesMax = 256 << 10

    /// Maximum number of entries.
    public let capacity: Int

    /// *Traps* unless `capacity` is 1 to ``capacityMax``.
    public init(capacity: Int = Map.capacityDefault) {
        precondition(
            1...Self.capacityMax ~= capacity,
            "map: capacity \(capacity) is not 1 to \(Self.capacityMax)")
        self.capacity = capacity
    }

    /// The actions of a map.
    public enum Action: Equatable, Sendable {
        /// Sets the value of `key`, replacing an earlier one.
        case set(key: WireKey, value: WireValue)
        /// Removes the value of `key`, if there is one.
        case remove(key: WireKey)
        /// Sets each of `entries`, and leaves all others.
        case merge(entries: WireMap)
        /// Removes all entries.
        case clear
    }

    /// The mutations of a map.
    public enum Mutation: Equatable, Sendable {
        /// Sets the value of `key`.
        case set(key: WireKey, value: WireValue)
        /// Removes the value of `key`.
        case removed(key: WireKey)
        /// Sets each of `entries`.
        case merged(entries: WireMap)
        /// Removes all entries.
        case cleared
    }

    /// The state of a map.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The values by their keys, which are compared byte by byte.
        public var entries: Keyed<WireKey, WireValue> = [:]

        /// Makes an empty map.
        public init() {}
    }

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .set(let key, let value):
            try check(key, value)
            if state.entries.count >= capacity, !state.entries.contains(key) { throw full }
            return Mutations(.set(key: key, value: value))
        case .remove(let key):
            return state.entries.contains(key) ? Mutations(.removed(key: key)) : .none
        case .merge(let entries):
            return try merge(entries, into: state)
        case .clear:
            return state.entries.isEmpty ? .none : Mutations(.cleared)
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .set(let key, let value): state.entries[key] = value
        case .removed(let key): state.entries.removeValue(forKey: key)
        case .merged(let entries):
            for pair in entries { state.entries[pair.key] = pair.value }
        case .cleared: state.entries.removeAll()
        }
    }

    private func merge(
        _ entries: WireMap, into state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        for pair in entries { try check(pair.key, pair.value) }
        if state.entries.count + entries.count > capacity {
            let new = entries.count { !state.entries.contains($0.key) }
            if state.entries.count + new > capacity { throw full }
        }
        return entries.isEmpty ? .none : Mutations(.merged(entries: entries))
    }

    private func check(_ key: WireKey, _ value: WireValue) throws(Rejection) {
        let keyBytes = key.text.utf8.count
        guard keyBytes <= Self.keyBytesMax else {
            throw Rejection(
                "key_too_long",
                "a key of \(keyBytes) bytes, at most \(Self.keyBytesMax) fit: shorten it")
        }
        try value.check(bytesMax: Self.valueBytesMax, "the value of \"\(key)\"")
    }

    private var full: Rejection {
        Rejection("full", "the map holds its \(capacity) entries: remove some first")
    }
}
