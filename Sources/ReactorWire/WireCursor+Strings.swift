// Text and bytes.

extension WireCursor {
    /// Reads text, of definite or indefinite length.
    public mutating func text(in bytes: Span<UInt8>) throws(WireError) -> String {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 3 else { throw mismatch("text", head, at: start) }
        return try text(head, at: start, in: bytes)
    }

    /// Reads the text whose `head` stood at `start`.
    mutating func text(
        _ head: WireHead, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> String {
        guard head.isIndefinite else { return try textBody(head.argument, in: bytes, at: start) }
        var whole = ""
        while true {
            let chunkStart = offset
            let chunk = try rawHead(in: bytes)
            if chunk.major == 7, chunk.isIndefinite { return whole }
            guard chunk.major == 3, !chunk.isIndefinite else {
                throw mismatch("a chunk of text", chunk, at: chunkStart)
            }
            whole += try textBody(chunk.argument, in: bytes, at: chunkStart)
        }
    }

    private mutating func textBody(
        _ byteCount: UInt64, in bytes: Span<UInt8>, at start: Int
    ) throws(WireError) -> String {
        let range = try take(byteCount, in: bytes, at: start)
        do {
            let view = try UTF8Span(validating: bytes.extracting(range))
            return String(copying: view)
        } catch {
            throw WireError(.invalidText, at: start)
        }
    }

    /// Reads a byte string, of definite or indefinite length.
    public mutating func byteString(in bytes: Span<UInt8>) throws(WireError) -> [UInt8] {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 2 else { throw mismatch("bytes", head, at: start) }
        return try byteString(head, at: start, in: bytes)
    }

    /// Reads the byte string whose `head` stood at `start`.
    mutating func byteString(
        _ head: WireHead, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> [UInt8] {
        var whole: [UInt8] = []
        guard head.isIndefinite else {
            whole.append(contentsOf: bytes, try take(head.argument, in: bytes, at: start))
            return whole
        }
        while true {
            let chunkStart = offset
            let chunk = try rawHead(in: bytes)
            if chunk.major == 7, chunk.isIndefinite { return whole }
            guard chunk.major == 2, !chunk.isIndefinite else {
                throw mismatch("a chunk of bytes", chunk, at: chunkStart)
            }
            whole.append(contentsOf: bytes, try take(chunk.argument, in: bytes, at: chunkStart))
        }
    }

    /// Moves past `byteCount` bytes and says where they stand.
    @inlinable
    mutating func take(
        _ byteCount: UInt64, in bytes: Span<UInt8>, at start: Int
    ) throws(WireError) -> Range<Int> {
        let left = bytes.count &- offset
        guard left >= 0, byteCount <= UInt64(left) else { throw WireError(.truncated, at: start) }
        let range = offset..<(offset &+ Int(byteCount))
        offset = range.upperBound
        return range
    }
}
