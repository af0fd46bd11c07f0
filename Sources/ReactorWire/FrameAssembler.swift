/// Keeps the bytes of a stream that its reader could not use yet: a frame that two reads cut, or
/// everything that arrived while the reader was paused.
///
/// A reader handles whole frames where they lie in the span that it was lent, and hands over the
/// rest. Only a frame that was cut is copied.
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
/// *Shape*: one array and three cursors. `start` is the first byte that the reader has not used, `end`
/// is behind the last byte that arrived, and `start + needed` is where the reader can go on: behind
/// `end` while a part of the frame has yet to arrive. ``invariants()`` states what holds between two
/// verbs.
package struct FrameAssembler: ~Copyable {
    /// The bytes from before `start` up to `end`.
    @usableFromInline var storage: [UInt8] = []
    /// Bytes of ``storage`` that the reader has used.
    private var start = 0
    /// Bytes behind ``start`` without which the reader cannot go on; 0 if it can at once.
    private var needed = 0

    /// Most bytes of memory that an assembler keeps while it holds nothing.
    static let idleByteCountMax = 4_096

    /// Makes an assembler that holds nothing.
    package init() {}

    /// Whether it holds nothing.
    @inlinable package var isEmpty: Bool { storage.isEmpty }

    /// Bytes that arrived and were not used.
    package var byteCount: Int { storage.count - start }

    /// Bytes of memory that hold them.
    package var storedByteCount: Int { storage.count }

    /// Whether the reader can go on with what is held.
    package var isReady: Bool { !storage.isEmpty && byteCount >= needed }

    /// Copies what the cut frame lacks from `bytes`, and no more; answers the index behind it.
    package mutating func complete(from bytes: Span<UInt8>, at offset: Int) -> Int {
        let end = min(bytes.count, offset + max(0, needed - byteCount))
        storage.append(contentsOf: bytes, offset..<end)
        invariants()
        return end
    }

    /// Appends the bytes that a reader has not used of a span that it was lent.
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

    /// Takes back what a reader has not used of the bytes that it took.
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

    /// Drops what is held, and its memory.
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

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(start >= 0 && needed >= 0, "cursors \(start), \(needed)")
        assert(start <= byteCount, "\(start) used bytes are kept in front of \(byteCount)")
        assert(
            !storage.isEmpty || start == 0 && needed == 0, "nothing is held, and something needed")
        assert(storage.isEmpty || byteCount > 0, "\(start) used bytes are kept and no others")
    }
}

/// Bytes that a reader has taken out of a ``FrameAssembler``.
package struct HeldBytes: ~Copyable {
    /// The bytes, those that were used before included.
    package let bytes: [UInt8]
    /// Index of the first byte that was not used.
    package let start: Int

    /// Gives the bytes away, so that the next holder is the only one.
    fileprivate consuming func release() -> [UInt8] { bytes }
}

/// How far a reader of frames has come in a span.
package struct FrameProgress: Equatable {
    /// Index of the first byte that it has not used, where a frame starts.
    package var end: Int
    /// Bytes from there on without which it cannot go on; 0 where it stopped for another reason.
    package var needed: Int

    /// Describes how far a reader has come.
    package init(end: Int, needed: Int = 0) {
        self.end = end
        self.needed = needed
    }
}
