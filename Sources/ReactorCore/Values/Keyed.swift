public import HashTreeCollections

/// Values by key, for large states.
///
///     struct State { var entries: Keyed<String, WireValue> = [:] }
///
/// A copy is O(1) and shares every entry that does not change afterwards, so a snapshot of a
/// million entries takes no noticeable time. The collection logs which keys were touched, for
/// observers that transfer changes key by key: see ``drainTouched()``. Equality, hashing and coding
/// ignore the log.
///
/// The keys have any type that declares ``KeyedKey``, such as `String`, `Int`, ``WireKey``, or an
/// author's enum or identifier.
///
/// *Shape*: on the wire a map, in ascending order of the encoded keys; in memory unordered.
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

    /// The keys, unordered.
    @inlinable public var keys: some Collection<Key> { entries.keys }

    /// The values, unordered.
    @inlinable public var values: some Collection<Value> { entries.values }

    /// The value under `key`; setting `nil` removes it. Changes in place.
    ///
    /// Setting an equal value with the same encoding does not touch the key; a change in place
    /// does, whatever its result. The comparison happens only while an observer asks for changes.
    @inlinable
    public subscript(key: Key) -> Value? {
        get { entries[key] }
        set {
            if !log.isKept || log.isLast(key) || KeyedLog<Key>.differ(entries[key], newValue)
                || !(Key.equalsByText || hasText(of: key))
            {
                touch(key)
            }
            entries[key] = newValue
        }
        _modify {
            touch(key)
            yield &entries[key]
        }
    }

    /// The value under `key`, or `fallback` if there is none; a change in place adds it.
    @inlinable
    public subscript(key: Key, default fallback: @autoclosure () -> Value) -> Value {
        get { entries[key] ?? fallback() }
        _modify {
            touch(key)
            yield &entries[key, default: fallback()]
        }
    }

    /// Whether there is a value under `key`.
    @inlinable public func contains(_ key: Key) -> Bool { entries.keys.contains(key) }

    /// Removes and returns the value under `key`.
    @inlinable
    @discardableResult
    public mutating func removeValue(forKey key: Key) -> Value? {
        // Only the entry shows which text the key has in this collection.
        if !Key.equalsByText, log.isKept, contains(key) { touch(key) }
        let removed = entries.removeValue(forKey: key)
        if Key.equalsByText, removed != nil { log.touch(key) }
        return removed
    }

    /// Logs a key. If the entry's key has another text, any key counts as touched.
    @inlinable
    mutating func touch(_ key: Key) {
        if Key.equalsByText || !log.isKept || hasText(of: key) {
            log.touch(key)
        } else {
            log.touchAll()
        }
    }

    /// Whether the entry under `key`, if there is one, has the text of this key.
    @usableFromInline
    func hasText(of key: Key) -> Bool {
        guard let index = entries.index(forKey: key) else { return true }
        return entries[index].key.pathKey == key.pathKey
    }

    /// Removes everything.
    @inlinable
    public mutating func removeAll() {
        log.touchAll()
        entries = TreeDictionary()
    }

    /// The keys touched since the last call; restarts the log.
    ///
    /// The first call returns ``KeyedTouches/all``.
    package mutating func drainTouched() -> KeyedTouches<Key> { log.drain() }

    /// The keys touched since the collection got the stamp `expected`; sets the stamp to `next`.
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
    /// The entries, unordered.
    @inlinable
    public func makeIterator() -> some IteratorProtocol<(key: Key, value: Value)> {
        entries.makeIterator()
    }
}

extension Keyed: ExpressibleByDictionaryLiteral {
    /// *Traps* if a key occurs twice.
    @inlinable
    public init(dictionaryLiteral elements: (Key, Value)...) {
        self.init()
        for (key, value) in elements {
            precondition(
                entries.updateValue(value, forKey: key) == nil, "key \(key) occurs twice")
        }
    }
}
