/// A point in the history of a root: an epoch, and a position in it.
///
/// Within an epoch the sequence counts transactions without gaps. A new epoch begins only when the
/// history lost a part, or may have.
public struct Revision: Hashable, Sendable {
    /// Random 64-bit number.
    public var epoch: UInt64
    /// Position in the history, counted in transactions; 0 for the initial state.
    public var sequence: UInt64

    /// Makes a revision of its parts.
    @inlinable
    public init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }
}

extension Revision: WireCodable {
    /// *Shape*: an array of two unsigned integers, epoch and sequence.
    public func encode(into writer: inout WireWriter) {
        writer.byte(0x82)
        writer.unsigned(epoch)
        writer.unsigned(sequence)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Revision {
        let pair = try UInt64Pair.decode(bytes, &cursor)
        return Revision(epoch: pair.first, sequence: pair.second)
    }

    public static var wireSchema: WireSchema { .array(UInt64.wireSchema) }
}

extension Revision: CustomStringConvertible {
    /// Epoch in hexadecimal, a colon, sequence in decimal: `9f86d081884c7d65:42`.
    public var description: String {
        let digits = String(epoch, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + ":\(sequence)"
    }

    /// Reads the form of ``description``.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 16, !parts[0].hasPrefix("+"),
            !parts[1].hasPrefix("+"), let epoch = UInt64(parts[0], radix: 16),
            let sequence = UInt64(parts[1])
        else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }
}

/// Two unsigned integers in an array: the common form of ``Revision`` and ``Origin``.
@usableFromInline
struct UInt64Pair {
    @usableFromInline var first: UInt64
    @usableFromInline var second: UInt64

    @usableFromInline
    static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> UInt64Pair {
        let start = cursor.offset
        var items = try cursor.openArray(in: bytes)
        guard try cursor.nextElement(in: bytes, &items) else { throw wrongCount(at: start) }
        let first = try cursor.unsigned(in: bytes)
        guard try cursor.nextElement(in: bytes, &items) else { throw wrongCount(at: start) }
        let second = try cursor.unsigned(in: bytes)
        guard try !cursor.nextElement(in: bytes, &items) else { throw wrongCount(at: start) }
        return UInt64Pair(first: first, second: second)
    }

    @usableFromInline
    init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    private static func wrongCount(at start: Int) -> WireError {
        WireError(.mismatch(expected: "an array of 2", got: "another count"), at: start)
    }
}
