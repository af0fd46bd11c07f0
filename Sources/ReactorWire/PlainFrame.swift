/// A whole frame of an expected kind, without flags.
///
/// *Place*: for runs of frames that are nearly always alike. For any other frame the caller uses
/// ``FrameHeader/decode(_:at:frameBytesMax:)``, which reports the fault.
@usableFromInline package struct PlainFrame: Equatable, Sendable {
    /// Number of the node or the subscription.
    @usableFromInline package var id: UInt32
    /// The frame's ordinal or sequence.
    @usableFromInline package var number: UInt64
    /// The range of the body.
    @usableFromInline package var range: Range<Int>

    /// Reads the frame at `offset` if it is of `kind`, complete, and no longer than allowed.
    @inlinable @inline(__always)
    package init?(
        _ kind: FrameKind, in bytes: Span<UInt8>, at offset: Int, frameBytesMax: Int
    ) {
        guard bytes.count &- offset >= FrameHeader.byteCount else { return nil }
        let head = bytes.word(at: offset, byteCount: 8)
        let length = Int(head & 0xffff_ffff)
        let start = offset &+ FrameHeader.byteCount
        // The upper half of the word: the kind, no flags, and zeros in the reserved bytes.
        guard head &>> 32 == UInt64(kind.rawValue), length <= frameBytesMax,
            bytes.count &- start >= length
        else { return nil }
        id = UInt32(truncatingIfNeeded: bytes.word(at: offset &+ 8, byteCount: 8))
        number = bytes.word(at: offset &+ 12, byteCount: 8)
        range = start..<(start &+ length)
    }
}
