/// A key of a child in a collection: see ``Children``.
///
/// ``WireKey``, `String` and the integers conform. An identifier or an enum with a raw value of one
/// of these types conforms by declaring it:
///
///     struct RunID: RawRepresentable, ChildKey { var rawValue: UInt64 }
///     enum Floor: String, ChildKey { case ground, first }
///
/// Other types implement ``ReactorWire/WireMapKey``. Two `String` keys that are equal in Swift and
/// differ in their bytes, as the two Unicode forms of "é" do, cannot be in one collection: the tree
/// refuses the second.
public protocol ChildKey: WireMapKey, Sendable {
    /// Whether `left` comes before `right` in lists of keys.
    ///
    /// The default is the type's `<`, else that of its raw value, else the order of ``WireKey``.
    static func isOrdered(_ left: Self, before right: Self) -> Bool
}

extension ChildKey {
    /// The key as a component of a path.
    package var pathKey: WireKey { WireKey(wireKeyText) }

    public static func isOrdered(_ left: Self, before right: Self) -> Bool {
        left.pathKey < right.pathKey
    }
}

extension ChildKey where Self: Comparable {
    public static func isOrdered(_ left: Self, before right: Self) -> Bool { left < right }
}

extension ChildKey where Self: RawRepresentable, RawValue: Comparable {
    public static func isOrdered(_ left: Self, before right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

// Without it, the two above are ambiguous for a type that is both.
extension ChildKey where Self: Comparable & RawRepresentable, RawValue: Comparable {
    public static func isOrdered(_ left: Self, before right: Self) -> Bool { left < right }
}

/// A key of a ``Keyed`` collection: two keys are equal only if their texts are, byte by byte.
///
/// ``WireKey`` and the integers conform. A custom identifier conforms by declaring it, if its raw
/// value is one of these types:
///
///     struct JobID: RawRepresentable, KeyedKey { var rawValue: UInt64 }
///
/// Each is also a ``ChildKey``. `String` is only that: it treats the two Unicode forms of "é" as
/// one key.
public protocol KeyedKey: ChildKey {}

extension WireKey: KeyedKey {}
extension String: ChildKey {}
extension Int: KeyedKey {}
extension Int64: KeyedKey {}
extension Int32: KeyedKey {}
extension UInt: KeyedKey {}
extension UInt64: KeyedKey {}
extension UInt32: KeyedKey {}
