public import HashTreeCollections

/// Values by key, for state that has many of them.
///
///     struct State { var entries: Keyed<WireKey, WireValue> = [:] }
///
/// A copy costs nothing and shares all that is not changed afterwards, so that a snapshot of a
/// million entries delays nobody. Which keys were touched is logged for those who show changes
/// key by key: see ``drainTouched()``. The log is no part of equality, hashing or coding.
///
/// *Shape*: on the wire a map, in ascending order of the encoded keys; in memory without an order.
///
/// *Cost*: getting, setting and removing are O(log n), a few levels for a million keys.
public struct Keyed<Key: KeyedKey, Value> {
    @usableFromInline var entries: TreeDictionary<Key, Value>
    @usableFromInline var log: KeyedLog<Key>

    /// Makes an empty collection.
    @inlinable
    public init() {
        entries = TreeDictionary()
        log = KeyedLog()
    }

    /// Number of entries.
    @inlinable public var count: Int { entries.count }

    /// Whether there are no entries.
    @inlinable public var isEmpty: Bool { entries.isEmpty }

    /// The keys, in no order.
    @inlinable public var keys: some Collection<Key> { entries.keys }

    /// The values, in no order.
    @inlinable public var values: some Collection<Value> { entries.values }

    /// The value under `key`; setting `nil` removes it. Changes in place.
    ///
    /// A value that is set to an equal one, of the same bytes, is not touched; one that is changed in
    /// place is, whatever came of it. The two are compared only while changes are asked for.
    @inlinable
    public subscript(key: Key) -> Value? {
        get { entries[key] }
        set {
            if !log.isKept || log.isLast(key) || KeyedLog<Key>.differ(entries[key], newValue) {
                log.touch(key)
            }
            entries[key] = newValue
        }
        _modify {
            log.touch(key)
            yield &entries[key]
        }
    }

    /// The value under `key`, or `fallback` if there is none; a change in place adds it.
    @inlinable
    public subscript(key: Key, default fallback: @autoclosure () -> Value) -> Value {
        get { entries[key] ?? fallback() }
        _modify {
            log.touch(key)
            yield &entries[key, default: fallback()]
        }
    }

    /// Whether something stands under `key`.
    @inlinable public func contains(_ key: Key) -> Bool { entries.keys.contains(key) }

    /// Removes what stands under `key`, and gives it.
    @inlinable
    @discardableResult
    public mutating func removeValue(forKey key: Key) -> Value? {
        let removed = entries.removeValue(forKey: key)
        if removed != nil { log.touch(key) }
        return removed
    }

    /// Removes everything.
    @inlinable
    public mutating func removeAll() {
        log.touchAll()
        entries = TreeDictionary()
    }

    /// Which keys were touched since the last call: read, the log starts anew.
    ///
    /// A collection that was never drained says ``KeyedTouches/all``.
    public mutating func drainTouched() -> KeyedTouches<Key> { log.drain() }

    /// Which keys were touched since the collection got the stamp `expected`; it gets `next`.
    mutating func drainTouched(expecting expected: UInt64, next: UInt64) -> KeyedTouches<Key> {
        let isOwn = log.stamp == expected
        log.stamp = next
        let touches = log.drain()
        return isOwn ? touches : .all
    }
}

extension Keyed: Sendable where Value: Sendable {}

extension Keyed: Equatable where Value: Equatable {
    @inlinable
    public static func == (left: Keyed, right: Keyed) -> Bool { left.entries == right.entries }
}

extension Keyed: Hashable where Value: Hashable {
    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

extension Keyed: Sequence {
    /// The entries, in no order.
    @inlinable
    public func makeIterator() -> some IteratorProtocol<(key: Key, value: Value)> {
        entries.makeIterator()
    }
}

extension Keyed: ExpressibleByDictionaryLiteral {
    /// *Traps* if a key stands twice.
    @inlinable
    public init(dictionaryLiteral elements: (Key, Value)...) {
        self.init()
        for (key, value) in elements {
            precondition(
                entries.updateValue(value, forKey: key) == nil, "key \(key) stands twice")
        }
    }
}
