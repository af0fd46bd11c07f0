/// A text key that is equal to another only if their bytes are.
///
/// Swift's `String` regards "é" in its two Unicode forms as one string; a key that came from
/// another language must not meet another key that way.
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
        // because equal bytes are equal strings, and comparing those costs a quarter; unequal
        // bytes can be equal strings too, though not in ASCII
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
    /// The order of encoded keys (RFC 8949, section 4.2.1): the shorter first, then by bytes.
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
