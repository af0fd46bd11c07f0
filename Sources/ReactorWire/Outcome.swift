/// What became of an action.
@WireCodable
public enum Outcome: Equatable, Sendable {
    /// Applied as the transaction with this sequence; `reply` is CBOR, if the reactor replied.
    /// `ownerEnded` marks the outcome of an action that was sent on a connection that ended since:
    /// what it owned is gone.
    case applied(sequence: UInt64, reply: WireEmbedded? = nil, ownerEnded: Bool = false)
    /// Applied as the transaction with this sequence, which handed it to a stream of its reactor:
    /// what that lets through comes later, as transactions of its own.
    case accepted(sequence: UInt64)
    /// Refused before anything was changed, by the reactor or by the system.
    case rejected(code: String, message: String)
    /// The daemon could not say yes or no in an orderly way.
    case failed(message: String)
}

/// News about an action whose outcome was told before.
@WireCodable
public struct Notice: Equatable, Sendable {
    /// `effectFailed`, `LOOP` or `EFFECTS_LOST`; others may come.
    public var code: String
    /// What happened, for people.
    public var message: String

    /// Makes a notice.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// Who caused a change: a client's public number and the ordinal of its action; zeros when the
/// daemon itself did.
public struct Origin: Equatable, Hashable, Sendable {
    /// The client.
    public var client: UInt64
    /// Its action.
    public var ordinal: UInt64

    /// Names an action.
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
        // because a daemon's first clients are the common case: both heads in one word
        if client < 24 {
            writer.word(0x82 | client &<< 8, byteCount: 2)
        } else {
            writer.byte(0x82)
            writer.unsigned(client)
        }
        writer.unsigned(ordinal)
    }

    @inlinable
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Origin {
        let pair = try UInt64Pair.decode(bytes, &cursor)
        return Origin(client: pair.first, ordinal: pair.second)
    }

    /// Moves past an origin that nobody wants to know.
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
