extension WireWriter {
    /// Appends the `byteCount` low bytes of two words, lowest first; `byteCount` is 9 to 16.
    ///
    /// Most names with the heads around them fit in sixteen bytes: one check for room and for
    /// uniqueness instead of two.
    @inlinable
    @inline(__always)
    public mutating func words(_ first: UInt64, _ second: UInt64, byteCount: Int) {
        reserve(16)
        let start = written
        var span = storage.mutableSpan
        precondition(start >= 0 && span.count &- start >= 16)
        var rest = first
        for index in 0..<8 {
            span[start &+ index] = UInt8(truncatingIfNeeded: rest)
            rest &>>= 8
        }
        rest = second
        for index in 8..<16 {
            span[start &+ index] = UInt8(truncatingIfNeeded: rest)
            rest &>>= 8
        }
        written = start &+ byteCount
    }
}
