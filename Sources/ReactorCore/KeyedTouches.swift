/// Which keys of a ``Keyed`` collection were touched since somebody asked last.
public enum KeyedTouches<Key: KeyedKey>: Equatable, Sendable {
    /// These keys, each once, in the order in which they were touched first.
    case keys([Key])
    /// Any key may have been: too many were, or nobody has asked before.
    case all
}

/// The log behind ``KeyedTouches``.
@usableFromInline
struct KeyedLog<Key: KeyedKey>: Sendable {
    /// Touched keys with repetitions; `nil` once that says nothing any more.
    @usableFromInline var keys: [Key]?
    /// Which field of which state drained it last; 0 if none did.
    var stamp: UInt64 = 0

    // because a collection that nobody asks has no use for a log: it starts when one is drained
    @usableFromInline init() { keys = nil }

    @inlinable
    mutating func touch(_ key: Key) {
        guard let count = keys?.count else { return }
        if count > 0, keys?[count - 1] == key { return }
        if count < KeyedLimits.touchesMax {
            keys?.append(key)
        } else {
            keys = nil
        }
    }

    /// Whether somebody asks which keys were touched.
    @inlinable var isKept: Bool { keys != nil }

    /// Whether `key` was touched last.
    @inlinable
    func isLast(_ key: Key) -> Bool {
        guard let count = keys?.count, count > 0 else { return false }
        return keys?[count - 1] == key
    }

    // because what is equal to its author may be other bytes; and those cost, so that they are
    // looked at where somebody asks for changes, and the values are equal otherwise
    /// Whether a value differs from another in what of it travels.
    @usableFromInline
    static func differ<Value>(_ old: Value?, _ new: Value?) -> Bool {
        guard let old, let new else { return (old == nil) != (new == nil) }
        guard let one = old as? any Equatable, isEqual(one, new) else { return true }
        guard let one = old as? any WireCodable, let other = new as? any WireCodable else {
            return true
        }
        return one.wireBytes() != other.wireBytes()
    }

    private static func isEqual<Value: Equatable>(_ one: Value, _ other: Any) -> Bool {
        other as? Value == one
    }

    /// Says that any key may have been touched.
    @inlinable mutating func touchAll() { keys = nil }

    mutating func drain() -> KeyedTouches<Key> {
        defer { keys = [] }
        guard let keys else { return .all }
        var seen: Set<Key> = []
        return .keys(keys.filter { seen.insert($0).inserted })
    }
}

/// Ceilings of keyed collections.
public enum KeyedLimits {
    /// Most touches that a collection remembers between two drains; past it, all keys count as
    /// touched.
    public static let touchesMax = 1_024
}
