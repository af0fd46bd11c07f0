/// A whole frame of one kind, without flags, where one stands.
///
/// *Place*: for runs of frames that nearly always are the same: what this is not, is left to
/// ``FrameHeader/decode(_:at:frameBytesMax:)``, which says why.
public struct PlainFrame: Equatable, Sendable {
    /// Number of the node or the subscription.
    public var id: UInt32
    /// The frame's ordinal or sequence.
    public var number: UInt64
    /// Where the body stands.
    public var range: Range<Int>

    /// Reads the frame at `offset` if it is of `kind`, is whole, and is no longer than allowed.
    @inlinable @inline(__always)
    public init?(
        _ kind: FrameKind, in bytes: Span<UInt8>, at offset: Int, frameBytesMax: Int
    ) {
        guard bytes.count &- offset >= FrameHeader.byteCount else { return nil }
        let head = bytes.word(at: offset, byteCount: 8)
        let length = Int(head & 0xffff_ffff)
        let start = offset &+ FrameHeader.byteCount
        // because the other half of the word is the kind, no flags, and nothing reserved
        guard head &>> 32 == UInt64(kind.rawValue), length <= frameBytesMax,
            bytes.count &- start >= length
        else { return nil }
        id = UInt32(truncatingIfNeeded: bytes.word(at: offset &+ 8, byteCount: 8))
        number = bytes.word(at: offset &+ 12, byteCount: 8)
        range = start..<(start &+ length)
    }
}
