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

/// A key of a ``Keyed`` collection.
///
/// `String`, ``WireKey`` and the integers conform. An identifier or an enum conforms by declaring it,
/// if its raw value is one of these types:
///
///     struct JobID: RawRepresentable, KeyedKey { var rawValue: UInt64 }
///     enum Floor: String, KeyedKey { case ground, first }
///
/// Each is also a ``ChildKey``. `String` treats the two Unicode forms of "é" as one key, so a value
/// that is set under one form replaces the value of the other; ``WireKey`` keeps both.
public protocol KeyedKey: ChildKey, `KeyedKey: declare it, or use String, WireKey or an integer` {
    /// Whether equal keys have the same text, byte by byte: true for integers, ``WireKey`` and
    /// identifiers with such a raw value, false for other types.
    ///
    /// Where it is false, the collection compares the texts of equal keys when it logs a change. A
    /// type with a `==` that the compiler has not written, and a raw value for which it is true,
    /// declares `false`.
    static var equalsByText: Bool { get }
}

extension KeyedKey {
    @inlinable public static var equalsByText: Bool { false }
}

extension KeyedKey where Self: FixedWidthInteger {
    @inlinable public static var equalsByText: Bool { true }
}

extension KeyedKey where Self: RawRepresentable, RawValue: KeyedKey {
    @inlinable public static var equalsByText: Bool { RawValue.equalsByText }
}

extension WireKey: KeyedKey {
    @inlinable public static var equalsByText: Bool { true }
}
extension String: KeyedKey {}
extension Int: KeyedKey {}
extension Int64: KeyedKey {}
extension Int32: KeyedKey {}
extension UInt: KeyedKey {}
extension UInt64: KeyedKey {}
extension UInt32: KeyedKey {}

/// The compiler names this protocol where the key of a ``Keyed`` field is no ``KeyedKey``.
@_marker public protocol `KeyedKey: declare it, or use String, WireKey or an integer` {}

/// The name that `@WireCodable` uses for the key of a ``Keyed`` field: see `WireForm`.
public enum KeyedKeyForm<Key: `KeyedKey: declare it, or use String, WireKey or an integer`> {
    /// The type itself.
    public typealias Checked = Key
}
