/// Takes the bytes of a ``ByteBuffer`` that keeps only the latest.
///
///     var buffer = ByteBuffer(to: ByteSink { piece in checksum.add(piece) })
///     …                                   // appends any number of bytes
///     buffer.finish()
///
/// Without a function it only has the bytes counted, after the first `keptMax` of them.
///
/// *Place*: under encodings that are measured, summed or written and not needed in one piece.
/// *Owner*: its buffer.
@usableFromInline package final class ByteSink {
    /// Called with consecutive pieces; the bytes are valid for the call.
    let take: ((Span<UInt8>) -> Void)?
    /// Number of bytes that the buffer keeps before it passes on the first.
    let keptMax: Int

    /// Number of bytes in a piece, unless one value has more.
    package static let pieceByteCount = 256 << 10

    /// Takes pieces of about `byteCount` bytes.
    package init(pieces byteCount: Int = pieceByteCount, _ take: @escaping (Span<UInt8>) -> Void) {
        (self.take, keptMax) = (take, byteCount)
    }

    /// Has the bytes counted; the buffer keeps them all if there are at most `byteCount`.
    package init(keepingAtMost byteCount: Int) { (take, keptMax) = (nil, byteCount) }
}
