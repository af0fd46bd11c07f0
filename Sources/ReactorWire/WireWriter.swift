public import ReactorBytes

/// Appends CBOR items to a growing byte buffer.
///
/// *Place*: the server keeps one per turn, the client one per connection; whatever encodes itself
/// receives it `inout`. Everything it writes is deterministic (RFC 8949, section 4.2.1).
///
/// *Cost*: no allocation while the capacity lasts; ``removeAll()`` keeps it.
public struct WireWriter: Sendable {
    // because appending to an array byte by byte costs a capacity check and a count update each:
    // the array is always full length, and `count` says how much of it is written
    @usableFromInline var storage: [UInt8]
    /// Number of bytes written.
    public internal(set) var count: Int {
        @inlinable get { written }
        set { written = newValue }
    }
    @usableFromInline var written: Int

    /// Makes an empty writer with room for `capacity` bytes; one without room allocates nothing
    /// until it is written to.
    public init(capacity: Int = 256) {
        storage = [UInt8](repeating: 0, count: capacity)
        written = 0
    }

    /// The written bytes. *Cost*: copies them.
    public var bytes: [UInt8] { Array(storage[..<written]) }

    /// Lends the written bytes to `body`.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.span.extracting(0..<written))
    }

    /// Hands over the buffer, of which the first ``count`` bytes are written, and starts anew
    /// with `replacement` as room to write into.
    public mutating func take(replacement: [UInt8]) -> [UInt8] {
        let taken = storage
        storage = replacement
        written = 0
        return taken
    }

    /// Forgets what was written and keeps the capacity.
    @inlinable
    public mutating func removeAll() { written = 0 }

    /// Forgets everything after the first `newCount` bytes.
    @inlinable
    public mutating func truncate(to newCount: Int) {
        precondition(newCount <= written, "a writer cannot be truncated to more than it holds")
        written = newCount
    }

    /// Makes room for `extra` more bytes.
    @inlinable
    public mutating func reserve(_ extra: Int) {
        if storage.count &- written < extra { grow(by: extra) }
    }

    @usableFromInline
    mutating func grow(by extra: Int) {
        let newCount = max(storage.count * 2, written + extra, 64)
        storage.append(contentsOf: repeatElement(0, count: newCount - storage.count))
    }
}

// MARK: - Raw bytes
extension WireWriter {
    /// Appends one byte.
    @inlinable
    public mutating func byte(_ value: UInt8) {
        reserve(1)
        storage[written] = value
        written &+= 1
    }

    /// Appends the `byteCount` low bytes of `word`, lowest first; `byteCount` is 0 to 8.
    ///
    /// Names known at compile time are written this way: eight bytes a call, nothing looked up.
    @inlinable
    public mutating func word(_ word: UInt64, byteCount: Int) {
        reserve(8)
        ByteStore.store(word, into: &storage, at: written)
        written &+= byteCount
    }

    /// Appends `bytes` as they are.
    @inlinable
    public mutating func raw(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        ByteStore.store(bytes, into: &storage, at: written)
        written &+= bytes.count
    }

    /// Appends the first `byteCount` bytes of three words, lowest first.
    @inlinable
    mutating func words(
        _ first: UInt64, _ second: UInt64, _ third: UInt64, byteCount: Int
    ) {
        reserve(24)
        ByteStore.store(first, second, third, into: &storage, at: written)
        written &+= byteCount
    }

    /// Appends `bytes` as they are.
    @inlinable
    public mutating func raw(_ bytes: [UInt8]) { raw(bytes.span) }

    /// Overwrites four bytes at `offset` with `value`, little-endian.
    ///
    /// *Traps* if those bytes are not written yet.
    @inlinable
    public mutating func patch(_ value: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset &+ 4 <= written, "only written bytes can be patched")
        ByteStore.store(value, into: &storage, at: offset)
    }
}

// MARK: - CBOR items (RFC 8949, section 3)
extension WireWriter {
    /// Appends an item head: `major` type 0 to 7 and its argument in the shortest form.
    @inlinable
    public mutating func head(major: UInt8, _ argument: UInt64) {
        let top = major &<< 5
        if argument < 24 {
            byte(top | UInt8(truncatingIfNeeded: argument))
        } else if argument <= 0xff {
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

    @inlinable public mutating func bool(_ value: Bool) { byte(value ? 0xf5 : 0xf4) }

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
