/// The result of an action.
@WireCodable
public enum Outcome: Equatable, Sendable {
    /// Applied as the transaction with this sequence; `reply` is CBOR, if the reactor replied.
    /// `ownerEnded` is true if the connection that sent the action has ended: the daemon has
    /// released what it owned.
    case applied(sequence: UInt64, reply: WireEmbedded? = nil, ownerEnded: Bool = false)
    /// Applied as the transaction with this sequence, which passed the action to a stream of its
    /// reactor. The outputs of the stream are separate transactions.
    case accepted(sequence: UInt64)
    /// Refused by the reactor or the system; nothing has changed.
    case rejected(code: String, message: String)
    /// The daemon cannot tell whether the action was applied or refused.
    case failed(message: String)
}

/// A later event of an action whose outcome was sent before.
@WireCodable
@MemberwiseInit
package struct Notice: Equatable, Sendable {
    /// `effectFailed`, `LOOP` or `EFFECTS_LOST`; later versions may add others.
    package var code: String
    /// The event, for people to read.
    package var message: String
}

/// The action that caused a change: the client's public number and the action's ordinal. Zeros for
/// the daemon itself.
public struct Origin: Equatable, Hashable, Sendable {
    /// The client's public number.
    public var client: UInt64
    /// The action's ordinal.
    public var ordinal: UInt64

    /// Makes an origin of its parts, for tests of a `reduce` that keeps it.
    @inlinable
    public init(client: UInt64, ordinal: UInt64) {
        self.client = client
        self.ordinal = ordinal
    }

    /// The daemon itself: a timer, an effect, a connection's end.
    public static let daemon = Origin(client: 0, ordinal: 0)
}

extension Origin: WireCodable {
    /// *Shape*: an array of two unsigned integers.
    @inlinable
    public func encode(into writer: inout WireWriter) {
        // A daemon's first clients are the common case: all three heads fit one word.
        if client < 24, ordinal <= 0xffff_ffff {
            let (head, byteCount) = Self.head(of: ordinal)
            writer.word(0x82 | client &<< 8 | head &<< 16, byteCount: 2 &+ byteCount)
        } else {
            writer.byte(0x82)
            writer.unsigned(client)
            writer.unsigned(ordinal)
        }
    }

    /// The head of an integer of at most 32 bits, lowest byte first, and its length.
    @inlinable @inline(__always)
    static func head(of value: UInt64) -> (word: UInt64, byteCount: Int) {
        if value < 24 { return (value, 1) }
        if value <= 0xff { return (24 | value &<< 8, 2) }
        if value <= 0xffff {
            return (25 | UInt64(UInt16(truncatingIfNeeded: value).byteSwapped) &<< 8, 3)
        }
        return (26 | UInt64(UInt32(truncatingIfNeeded: value).byteSwapped) &<< 8, 5)
    }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Origin {
        let pair = try UInt64Pair.decode(bytes, &cursor)
        return Origin(client: pair.first, ordinal: pair.second)
    }

    /// Skips an origin that the caller does not need.
    public static func skip(_ bytes: Span<UInt8>, _ cursor: inout WireCursor) throws(WireError) {
        var offset = cursor.offset
        if offset >= 0, offset < bytes.count, bytes[offset] == 0x82 {
            offset &+= 1
            for _ in 0..<2 {
                guard offset < bytes.count, bytes[offset] < 0x1c else {
                    _ = try decode(bytes, &cursor)
                    return
                }
                let info = bytes[offset]
                offset &+= info < 24 ? 1 : 1 &+ (1 &<< Int(info &- 24))
            }
            if offset <= bytes.count {
                cursor.offset = offset
                return
            }
        }
        _ = try decode(bytes, &cursor)
    }

    public static var wireSchema: WireSchema { .array(UInt64.wireSchema) }
}
