/// A text key that equals another only if their bytes are equal.
///
/// Swift's `String` treats the two Unicode forms of "é" as equal; keys from another language must
/// not collide that way.
public struct WireKey: Sendable {
    /// The key as text.
    public var text: String

    /// Makes a key.
    @inlinable
    public init(_ text: String) {
        self.text = text
        self.text.makeContiguousUTF8()
    }
}

extension WireKey: Hashable {
    @inlinable
    public static func == (left: WireKey, right: WireKey) -> Bool {
        // Equal bytes are equal strings, whose comparison costs a quarter. Outside ASCII, strings
        // with different bytes can be equal too.
        guard left.text == right.text else { return false }
        let byteCount = left.text.utf8.count
        guard byteCount == right.text.utf8.count else { return false }
        if byteCount <= 64, left.text.utf16.count == byteCount { return true }
        let left = left.text.utf8
        let right = right.text.utf8
        return left.span.isEqual(to: right.span)
    }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        let utf8 = text.utf8
        utf8.span.feed(&hasher)
    }
}

extension WireKey: Comparable {
    /// The order of encoded keys (RFC 8949, section 4.2.1): shorter ones first, then by bytes.
    @inlinable
    public static func < (left: WireKey, right: WireKey) -> Bool {
        let left = left.text.utf8
        let right = right.text.utf8
        return left.count != right.count
            ? left.count < right.count : left.span.precedes(right.span)
    }
}

extension WireKey: ExpressibleByStringLiteral, CustomStringConvertible {
    @inlinable public init(stringLiteral value: String) { self.init(value) }
    public var description: String { text }
}

extension WireKey: WireCodable {
    @inlinable
    public func encode(into writer: inout WireWriter) { writer.text(text) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireKey {
        WireKey(try cursor.text(in: bytes))
    }

    public static var wireSchema: WireSchema { .text }
}
