public import ReactorBytes

/// Appends CBOR items to a growing byte buffer.
///
/// *Place*: the server has one per turn, the client one per connection; encoding functions receive
/// it `inout`. Its output is deterministic (RFC 8949, section 4.2.1).
///
/// *Cost*: no allocation within the capacity; ``removeAll()`` keeps it.
public struct WireWriter: ~Copyable {
    @usableFromInline var buffer: ByteBuffer

    /// Number of bytes written.
    @inlinable public var count: Int { buffer.count }

    /// Makes an empty writer with a capacity of `capacity` bytes; with 0, it allocates at the first
    /// write.
    @inlinable
    public init(capacity: Int = 256) { buffer = ByteBuffer(capacity: capacity) }

    /// Makes an empty writer that passes what it writes to `sink`.
    package init(to sink: ByteSink) { buffer = ByteBuffer(to: sink) }

    /// The written bytes. *Cost*: copies them.
    public var bytes: [UInt8] { buffer.copy(0..<count) }

    /// Replaces the bytes of `array` by the written ones. *Cost*: copies them; allocates only if
    /// another reference to the array's bytes exists, or if they do not fit.
    public func copy(into array: inout [UInt8]) { buffer.copy(into: &array) }

    /// Lends the written bytes to `body`.
    @inlinable
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withBytes(body)
    }

    /// Removes the written bytes and keeps the capacity.
    @inlinable
    package mutating func removeAll() { buffer.truncate(to: 0) }

    /// Removes the written bytes, and releases a capacity of more than `bytesMax`.
    @inlinable
    package mutating func removeAll(keepingAtMost bytesMax: Int) {
        buffer.removeAll(keepingAtMost: bytesMax)
    }

    /// Removes all bytes after the first `newCount`.
    @inlinable
    package mutating func truncate(to newCount: Int) { buffer.truncate(to: newCount) }

    /// Reserves capacity for `extra` more bytes.
    @inlinable
    package mutating func reserve(_ extra: Int) { buffer.reserve(extra) }

    /// Whether written bytes were passed on, or were dropped after they were counted.
    package var hasPassedOn: Bool { buffer.passedByteCount > 0 }
}

// MARK: - Raw bytes
extension WireWriter {
    /// Appends one byte.
    @inlinable @inline(__always)
    package mutating func byte(_ value: UInt8) { buffer.append(value) }

    /// Appends the `byteCount` low bytes of `word`, lowest first; `byteCount` is 0 to 8.
    ///
    /// The macro writes constant names this way: eight bytes a call, without a look-up.
    @inlinable @inline(__always)
    public mutating func word(_ word: UInt64, byteCount: Int) {
        buffer.append(word, byteCount: byteCount)
    }

    /// Appends the `byteCount` low bytes of two words, lowest first; `byteCount` is 9 to 16.
    ///
    /// Most names with the heads around them fit sixteen bytes: one check of the capacity instead
    /// of two.
    @inlinable @inline(__always)
    public mutating func words(_ first: UInt64, _ second: UInt64, byteCount: Int) {
        buffer.append(first, second, byteCount: byteCount)
    }

    /// Appends the first `byteCount` bytes of three words, lowest first.
    @inlinable @inline(__always)
    mutating func words(
        _ first: UInt64, _ second: UInt64, _ third: UInt64, byteCount: Int
    ) {
        buffer.append(first, second, third, byteCount: byteCount)
    }

    /// Appends `bytes` as they are.
    @inlinable
    public mutating func raw(_ bytes: Span<UInt8>) { buffer.append(bytes) }

    /// Appends `bytes` as they are.
    @inlinable
    public mutating func raw(_ bytes: [UInt8]) { buffer.append(bytes.span) }

    /// Overwrites four bytes at `offset` with `value`, little-endian.
    ///
    /// *Traps* if those bytes are not written yet.
    @inlinable @inline(__always)
    package mutating func patch(_ value: UInt32, at offset: Int) {
        buffer.patch(value, at: offset)
    }
}

// MARK: - CBOR items (RFC 8949, section 3)
extension WireWriter {
    /// Appends an item head: `major` type 0 to 7 and its argument in the shortest form.
    @inlinable
    package mutating func head(major: UInt8, _ argument: UInt64) {
        if argument < 24 {
            byte(major &<< 5 | UInt8(truncatingIfNeeded: argument))
        } else {
            longHead(major: major, argument)
        }
    }

    /// Appends the head of an item whose argument does not fit the first byte.
    @usableFromInline
    mutating func longHead(major: UInt8, _ argument: UInt64) {
        let top = major &<< 5
        if argument <= 0xff {
            word(UInt64(top | 24) | argument &<< 8, byteCount: 2)
        } else if argument <= 0xffff {
            let swapped = UInt64(UInt16(truncatingIfNeeded: argument).byteSwapped)
            word(UInt64(top | 25) | swapped &<< 8, byteCount: 3)
        } else if argument <= 0xffff_ffff {
            let swapped = UInt64(UInt32(truncatingIfNeeded: argument).byteSwapped)
            word(UInt64(top | 26) | swapped &<< 8, byteCount: 5)
        } else {
            byte(top | 27)
            word(argument.byteSwapped, byteCount: 8)
        }
    }

    /// Appends a non-negative integer.
    @inlinable public mutating func unsigned(_ value: UInt64) { head(major: 0, value) }

    /// Appends a signed integer.
    @inlinable
    public mutating func integer(_ value: Int64) {
        if value >= 0 {
            head(major: 0, UInt64(bitPattern: value))
        } else {
            head(major: 1, UInt64(bitPattern: ~value))
        }
    }

    /// Opens an array of `count` items, which the caller appends next.
    @inlinable public mutating func array(count: Int) { head(major: 4, UInt64(count)) }

    /// Opens a map of `count` pairs, which the caller appends next in ascending order of their
    /// encoded keys.
    @inlinable public mutating func map(count: Int) { head(major: 5, UInt64(count)) }

    /// Appends `true` or `false`.
    @inlinable public mutating func bool(_ value: Bool) { byte(value ? 0xf5 : 0xf4) }

    /// Appends `null`.
    @inlinable public mutating func null() { byte(0xf6) }

    /// Appends a text string.
    @inlinable
    public mutating func text(_ value: String) {
        let utf8 = value.utf8
        head(major: 3, UInt64(utf8.count))
        raw(utf8.span)
    }

    /// Appends a byte string.
    @inlinable
    public mutating func byteString(_ value: Span<UInt8>) {
        head(major: 2, UInt64(value.count))
        raw(value)
    }

    /// Appends a byte string of what `body` appends. *Cost*: moves those bytes once; unlike a second
    /// writer for them, it needs no further memory. A writer that passes its bytes on calls `body`
    /// twice.
    package mutating func byteString(of body: (inout WireWriter) -> Void) {
        if buffer.isPassing {
            head(major: 2, UInt64(Self.byteCount(of: body)))
            return body(&self)
        }
        let start = count
        body(&self)
        let end = count
        head(major: 2, UInt64(end - start))
        buffer.moveLast(count - end, to: start)
    }

    /// Appends a floating-point number in the shortest of the three forms that keeps its value
    /// (RFC 8949, section 4.2.2). The default NaN is `f9 7e00`; any other NaN keeps its payload.
    public mutating func double(_ value: Double) {
        if value.isNaN {
            if value.bitPattern == Double.nan.bitPattern {
                word(0x00_7e_f9, byteCount: 3)
            } else {
                byte(0xfb)
                word(value.bitPattern.byteSwapped, byteCount: 8)
            }
            return
        }
        let single = Float(value)
        guard Double(single) == value else {
            byte(0xfb)
            word(value.bitPattern.byteSwapped, byteCount: 8)
            return
        }
        if let half = HalfFloat.bits(exactly: single) {
            word(UInt64(0xf9) | UInt64(half.byteSwapped) << 8, byteCount: 3)
        } else {
            word(UInt64(0xfa) | UInt64(single.bitPattern.byteSwapped) << 8, byteCount: 5)
        }
    }

    /// Appends a floating-point number in half or single width, whichever keeps its value. The
    /// default NaN is `f9 7e00`; any other NaN keeps its bits in single width.
    public mutating func float(_ value: Float) {
        if value.isNaN, value.bitPattern == Float.nan.bitPattern {
            word(0x00_7e_f9, byteCount: 3)
        } else if let half = HalfFloat.bits(exactly: value) {
            word(UInt64(0xf9) | UInt64(half.byteSwapped) << 8, byteCount: 3)
        } else {
            word(UInt64(0xfa) | UInt64(value.bitPattern.byteSwapped) << 8, byteCount: 5)
        }
    }
}

// MARK: - Encodings that are not needed as a whole
extension WireWriter {
    /// Number of bytes that `body` writes. *Cost*: encodes them, in memory for a piece.
    package static func byteCount(of body: (inout WireWriter) -> Void) -> Int {
        var writer = WireWriter(to: ByteSink(keepingAtMost: ByteSink.pieceByteCount))
        body(&writer)
        return writer.count
    }

    /// Passes what `body` writes to `take`, in consecutive pieces of about `byteCount` bytes; each is
    /// valid for the call.
    package static func pieces(
        of byteCount: Int = ByteSink.pieceByteCount, _ body: (inout WireWriter) -> Void,
        to take: (Span<UInt8>) -> Void
    ) {
        withoutActuallyEscaping(take) { take in
            var writer = WireWriter(to: ByteSink(pieces: byteCount, take))
            body(&writer)
            writer.buffer.finish()
        }
    }

    /// What `body` writes, in an array without spare room, and the number of bytes; nil instead if they
    /// are more than `byteCountMax`. *Cost*: calls `body` a second time if it writes more than
    /// ``wholeByteCountMax``; unlike ``bytes``, it never holds so many bytes twice.
    package static func bytes(
        atMost byteCountMax: Int = .max, of body: (inout WireWriter) -> Void
    ) -> (bytes: [UInt8]?, byteCount: Int) {
        var writer = WireWriter(to: ByteSink(keepingAtMost: wholeByteCountMax))
        body(&writer)
        let byteCount = writer.count
        guard byteCount <= byteCountMax else { return (nil, byteCount) }
        guard writer.hasPassedOn else { return (writer.bytes, byteCount) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        writer.removeAll(keepingAtMost: 0)
        pieces(of: ByteSink.pieceByteCount, body) { piece in
            bytes.append(contentsOf: piece, 0..<piece.count)
        }
        return (bytes, byteCount)
    }

    /// Maximum bytes of an encoding that is made as a whole.
    package static let wholeByteCountMax = 4 << 20
}

extension WireChecksum {
    /// The checksum of what `body` writes, and the number of bytes. *Cost*: memory for a piece.
    package static func of(
        _ body: (inout WireWriter) -> Void
    ) -> (value: UInt64, byteCount: Int) {
        var (checksum, byteCount) = (WireChecksum(), 0)
        WireWriter.pieces(of: ByteSink.pieceByteCount, body) { piece in
            checksum.add(piece)
            byteCount += piece.count
        }
        return (checksum.value, byteCount)
    }
}
