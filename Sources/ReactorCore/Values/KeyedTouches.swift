/// The keys of a ``Keyed`` collection that were touched since the last drain.
package enum KeyedTouches<Key: KeyedKey>: Equatable, Sendable {
    /// These keys, each once, in the order of their first touch.
    case keys([Key])
    /// Any key may have been touched: too many were, or the log was not kept.
    case all
}

/// The log behind ``KeyedTouches``.
@usableFromInline
struct KeyedLog<Key: KeyedKey>: Sendable {
    /// Touched keys, possibly repeated; `nil` while the log is not kept or has overflowed.
    @usableFromInline var keys: [Key]?
    /// Identifies the state field that drained the log last; 0 before the first.
    var stamp: UInt64 = 0

    // The log starts at the first drain: a collection without an observer does not pay for it.
    @usableFromInline init() { keys = nil }

    @inlinable
    mutating func touch(_ key: Key) {
        guard let count = keys?.count else { return }
        if count > 0, let last = keys?[count - 1], last == key,
            Key.equalsByText || KeyedLog.haveSameText(last, key)
        {
            return
        }
        if count < KeyedLimits.touchesMax {
            keys?.append(key)
        } else {
            keys = nil
        }
    }

    /// Whether two equal keys have the same text.
    @usableFromInline
    static func haveSameText(_ one: Key, _ other: Key) -> Bool { one.pathKey == other.pathKey }

    /// Whether an observer asks which keys were touched.
    @inlinable var isKept: Bool { keys != nil }

    /// Whether `key` was touched last.
    @inlinable
    func isLast(_ key: Key) -> Bool {
        guard let count = keys?.count, count > 0 else { return false }
        return keys?[count - 1] == key
    }

    // Values that compare equal may have different encodings. Encoding costs more than comparing,
    // so it happens only between equal values, and only while an observer asks for changes.
    /// Whether two values differ in their encoding.
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

    /// Records that any key may have been touched.
    @inlinable mutating func touchAll() { keys = nil }

    mutating func drain() -> KeyedTouches<Key> {
        defer { keys = [] }
        guard let keys else { return .all }
        var seen: Set<Key> = []
        var touched: [Key] = []
        for key in keys {
            let (isNew, first) = seen.insert(key)
            if isNew {
                touched.append(key)
            } else if !Key.equalsByText, !KeyedLog.haveSameText(first, key) {
                // An observer would find the entry of one text under the other.
                return .all
            }
        }
        return .keys(touched)
    }
}

/// Limits of keyed collections.
@usableFromInline
package enum KeyedLimits {
    /// Maximum touches that a collection records between two drains; past it, every key counts as
    /// touched.
    @usableFromInline package static let touchesMax = 1_024
}
