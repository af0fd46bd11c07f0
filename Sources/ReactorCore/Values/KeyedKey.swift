/// A key of a ``Keyed`` collection: two keys are equal only if their texts are, byte by byte.
///
/// ``WireKey`` and the integers conform. A custom identifier conforms by declaring it, if its raw
/// value is one of these types:
///
///     struct JobID: RawRepresentable, KeyedKey { var rawValue: UInt64 }
///
/// `String` does not: it treats the two Unicode forms of "é" as one key.
public protocol KeyedKey: WireMapKey, Sendable {}

extension WireKey: KeyedKey {}
extension Int: KeyedKey {}
extension Int64: KeyedKey {}
extension Int32: KeyedKey {}
extension UInt: KeyedKey {}
extension UInt64: KeyedKey {}
extension UInt32: KeyedKey {}
