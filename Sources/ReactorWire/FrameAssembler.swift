/// Keeps the bytes of a stream that its reader could not use yet: a frame whose bytes arrived in
/// several reads, or everything that arrived while the reader was paused.
///
/// A reader handles complete frames in place, in the span that it was lent, and hands over the
/// rest. Only a partial frame is copied.
///
///     var start = 0
///     while !assembler.isEmpty, start < bytes.count {
///         start = assembler.complete(from: bytes, at: start)
///         guard assembler.isReady else { return }
///         let held = assembler.take()
///         let progress = read(held)       // read(held.bytes.span, from: held.start)
///         assembler.restore(held, after: progress)
///     }
///     assembler.keep(bytes, after: read(bytes, from: start))
///
/// *Place*: the server has one for each connection, the client has one.
///
/// *Shape*: one array and three cursors. `start` is the first byte that the reader has not used,
/// `end` is after the last byte that arrived. The reader can continue once `end` reaches
/// `start + needed`. ``invariants()`` states the invariants.
package struct FrameAssembler: ~Copyable {
    /// The bytes from before `start` up to `end`.
    @usableFromInline var storage: [UInt8] = []
    /// Bytes of ``storage`` that the reader has used.
    private var start = 0
    /// Number of bytes after ``start`` that the reader needs before it can continue; 0 if none.
    private var needed = 0

    /// Limit of the capacity, in bytes, that an empty assembler keeps.
    static let idleByteCountMax = 4_096

    /// Makes an assembler that holds nothing.
    package init() {}

    /// Whether the assembler holds no bytes.
    @inlinable package var isEmpty: Bool { storage.isEmpty }

    /// Bytes that arrived and were not used.
    package var byteCount: Int { storage.count - start }

    /// Number of bytes of memory that hold the unused bytes.
    package var storedByteCount: Int { storage.count }

    /// A copy of all held bytes, with those in front that were used.
    package var storedBytes: [UInt8] { Array(storage[...]) }

    /// A copy of the bytes that arrived and were not used.
    package var unusedBytes: [UInt8] { Array(storage[start...]) }

    /// Whether the held bytes let the reader continue.
    package var isReady: Bool { !storage.isEmpty && byteCount >= needed }

    /// Appends from `bytes` only the missing part of the partial frame; returns the index after
    /// that part.
    package mutating func complete(from bytes: Span<UInt8>, at offset: Int) -> Int {
        let end = min(bytes.count, offset + max(0, needed - byteCount))
        storage.append(contentsOf: bytes, offset..<end)
        invariants()
        return end
    }

    /// Appends the unused bytes of a span that the reader was lent.
    package mutating func keep(_ bytes: Span<UInt8>, after progress: FrameProgress) {
        guard progress.end < bytes.count else { return }
        if storage.isEmpty { needed = progress.needed }
        storage.append(contentsOf: bytes, progress.end..<bytes.count)
        invariants()
    }

    /// Moves all held bytes out, for a reader that may clear the assembler while it reads.
    package mutating func take() -> HeldBytes {
        let held = HeldBytes(bytes: storage, start: start)
        removeAll()
        return held
    }

    /// Takes back the bytes that the reader took and has not used.
    ///
    /// *Cost*: the bytes are moved to the front once the reader has used half of them, so that each
    /// byte is moved at most once.
    package mutating func restore(_ held: consuming HeldBytes, after progress: FrameProgress) {
        precondition(
            storage.isEmpty, "\(storage.count) bytes arrived while a reader had those before them")
        storage = held.release()
        start = progress.end
        needed = progress.needed
        if start == storage.count {
            reset()
        } else if start > storage.count - start {
            storage.removeFirst(start)
            start = 0
        }
        invariants()
    }

    /// Drops the held bytes, and frees their memory.
    package mutating func removeAll() {
        storage = []
        start = 0
        needed = 0
    }

    private mutating func reset() {
        let keepsMemory = storage.capacity <= Self.idleByteCountMax
        storage.removeAll(keepingCapacity: keepsMemory)
        start = 0
        needed = 0
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(start >= 0 && needed >= 0, "cursors \(start), \(needed)")
        assert(start <= byteCount, "\(start) used bytes are kept in front of \(byteCount)")
        assert(
            !storage.isEmpty || start == 0 && needed == 0, "without bytes, more are expected")
        assert(storage.isEmpty || byteCount > 0, "\(start) used bytes are kept and no others")
    }
}

/// Bytes that a reader has taken out of a ``FrameAssembler``.
package struct HeldBytes: ~Copyable {
    /// The bytes, including those that were used before.
    package let bytes: [UInt8]
    /// Index of the first byte that was not used.
    package let start: Int

    /// Moves the bytes out, so that the next holder has the only reference.
    fileprivate consuming func release() -> [UInt8] { bytes }
}

/// The progress of a reader of frames in a span.
package struct FrameProgress: Equatable {
    /// Index of the first unused byte, where a frame starts.
    package var end: Int
    /// Number of bytes from there on that the reader needs before it can continue; 0 if it stopped
    /// for another reason.
    package var needed: Int

    /// Makes the progress of a reader.
    package init(end: Int, needed: Int = 0) {
        self.end = end
        self.needed = needed
    }
}
