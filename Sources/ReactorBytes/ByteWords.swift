/// Reads whole words from bytes, each with a single bounds check.
///
/// *Place*: under the codec. A loop over eight bytes costs eight checks, since the compiler does
/// not merge them. Here, one explicit check precedes one unchecked access.
@usableFromInline package enum ByteWords {
    /// The `byteCount` bytes at `start`, lowest first, as one number; `byteCount` is 0 to 8.
    ///
    /// *Traps* if the span is too short.
    @inlinable @inline(__always)
    package static func word(
        in bytes: Span<UInt8>, at start: Int, byteCount: Int
    ) -> UInt64 {
        let left = bytes.count &- start
        precondition(
            start >= 0 && byteCount >= 0 && byteCount <= 8 && left >= byteCount,
            "a word is read out of bounds")
        guard left >= 8 else { return shortWord(in: bytes, at: start, byteCount: byteCount) }
        let stored = unsafe bytes.bytes.unsafeLoadUnaligned(
            fromByteOffset: start, as: UInt64.self)
        let word = UInt64(littleEndian: stored)
        return byteCount == 8 ? word : word & ((1 &<< UInt64(8 &* byteCount)) &- 1)
    }

    // Fewer than eight bytes are left in the span, so they are read one by one.
    @usableFromInline
    static func shortWord(in bytes: Span<UInt8>, at start: Int, byteCount: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<byteCount {
            value |= UInt64(bytes[start &+ index]) &<< UInt64(8 &* index)
        }
        return value
    }

    /// Appends the bytes at `range` of `bytes` to `array`.
    @inlinable
    package static func append(_ bytes: Span<UInt8>, _ range: Range<Int>, to array: inout [UInt8]) {
        let source = bytes.extracting(range)
        unsafe source.withUnsafeBytes { unsafe array.append(contentsOf: $0) }
    }
}
