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
