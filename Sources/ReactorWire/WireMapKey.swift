/// A type whose values can be dictionary keys on the wire, where every key is text.
///
/// An identifier with a raw value conforms by declaring it, without a body:
///
///     struct JobID: RawRepresentable, Hashable, WireMapKey { var rawValue: Int }
public protocol WireMapKey:
    Hashable, `WireMapKey: declare it, or use String, WireKey or an integer`,
    `WireMapKey: import ReactorFoundation`
{
    /// Makes the key with the text `text`; `nil` if it is not the canonical text of a key of this
    /// type.
    init?(wireKeyText text: String)

    /// The key as text; different keys have different texts.
    var wireKeyText: String { get }

    /// The form of a key, for error texts: "an integer".
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
    /// Reads decimal digits in canonical form: `7` and `-7`, not `07` or `+7`.
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
