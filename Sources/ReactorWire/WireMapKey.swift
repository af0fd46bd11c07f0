/// A type whose values can be the keys of a dictionary on the wire, where every key is text.
///
/// Conform an identifier with a raw value by declaring it, nothing else:
///
///     struct JobID: RawRepresentable, Hashable, WireMapKey { var rawValue: Int }
public protocol WireMapKey: Hashable {
    /// Makes the key that `wireKeyText` gave for; `nil` if `text` is no key of this type in its
    /// one form.
    init?(wireKeyText text: String)

    /// The key as text, different for different keys.
    var wireKeyText: String { get }

    /// What a key looks like, for an error's sentence: "an integer".
    static var wireKeyKind: String { get }
}

extension String: WireMapKey {
    @inlinable public init?(wireKeyText text: String) { self = text }
    @inlinable public var wireKeyText: String { self }
    public static var wireKeyKind: String { "text" }
}

extension WireKey: WireMapKey {
    @inlinable public init?(wireKeyText text: String) { self.init(text) }
    @inlinable public var wireKeyText: String { text }
    public static var wireKeyKind: String { "text" }
}

extension FixedWidthInteger where Self: WireMapKey {
    /// Reads decimal digits in the form they are written: `7` and `-7`, not `07` or `+7`.
    public init?(wireKeyText text: String) {
        guard let value = Self(text), value.description == text else { return nil }
        self = value
    }

    public var wireKeyText: String { description }
    public static var wireKeyKind: String { "an integer from \(Self.min) to \(Self.max)" }
}

extension Int: WireMapKey {}
extension Int64: WireMapKey {}
extension Int32: WireMapKey {}
extension Int16: WireMapKey {}
extension Int8: WireMapKey {}
extension UInt: WireMapKey {}
extension UInt64: WireMapKey {}
extension UInt32: WireMapKey {}
extension UInt16: WireMapKey {}
extension UInt8: WireMapKey {}

extension RawRepresentable where Self: WireMapKey, RawValue: WireMapKey {
    public init?(wireKeyText text: String) {
        guard let rawValue = RawValue(wireKeyText: text) else { return nil }
        self.init(rawValue: rawValue)
    }

    public var wireKeyText: String { rawValue.wireKeyText }
    public static var wireKeyKind: String { "\(RawValue.wireKeyKind) that is a \(Self.self)" }
}
