import Glibc

/// A growing buffer of bytes with exactly one owner.
///
/// *Place*: under the codec's writer. An array checks at every store whether it is shared; this
/// type cannot be shared, so a store is one capacity check and one instruction.
///
/// With a ``ByteSink``, the buffer keeps only the latest bytes, and passes on those before them.
/// *C*: `malloc`, `realloc`, `free`. A large block grows without a copy, and its unused end takes no
/// memory.
@safe
@usableFromInline package struct ByteBuffer: ~Copyable {
    @usableFromInline var base: UnsafeMutablePointer<UInt8>?
    /// Number of bytes that fit before the buffer grows.
    @inlinable package var capacity: Int { reserved }
    @usableFromInline var reserved: Int
    /// Number of bytes appended.
    @inlinable package var count: Int { passedByteCount &+ written }
    /// Number of bytes that are kept.
    @usableFromInline var written = 0
    /// Number of bytes that the sink has taken.
    @usableFromInline package private(set) var passedByteCount = 0
    private let sink: ByteSink?

    /// Makes an empty buffer with a capacity of `capacity` bytes; with 0, it allocates at the first
    /// append.
    @inlinable
    package init(capacity: Int) {
        self.init(capacity: capacity, nil)
    }

    /// Makes an empty buffer that passes its bytes to `sink`.
    package init(to sink: ByteSink) { self.init(capacity: 0, sink) }

    @usableFromInline
    init(capacity: Int, _ sink: ByteSink?) {
        precondition(capacity >= 0, "a buffer has room for \(capacity) bytes")
        reserved = capacity
        self.sink = sink
        unsafe base = capacity == 0 ? nil : Self.resized(nil, to: capacity)
    }

    deinit { unsafe free(base) }

    private static func resized(
        _ block: UnsafeMutablePointer<UInt8>?, to byteCount: Int
    ) -> UnsafeMutablePointer<UInt8> {
        guard let block = unsafe realloc(block, byteCount) else {
            preconditionFailure("no memory for a buffer of \(byteCount) bytes")
        }
        return unsafe block.assumingMemoryBound(to: UInt8.self)
    }

    /// Whether the bytes are only counted, or will be if they are too many to be kept.
    @usableFromInline package var isCounting: Bool { sink.map { $0.take == nil } ?? false }

    /// Whether the buffer passes its bytes on.
    @usableFromInline package var isPassing: Bool { sink?.take != nil }

    /// Whether `extra` more bytes fit without growth.
    @inlinable
    package func hasRoom(for extra: Int) -> Bool { capacity &- written >= extra }

    /// Reserves capacity for `extra` more bytes. *Cost*: amortised over the appended bytes.
    @inlinable
    package mutating func reserve(_ extra: Int) {
        if reserved &- written < extra { grow(by: extra) }
    }

    @usableFromInline
    mutating func grow(by extra: Int) {
        precondition(extra >= 0, "room for \(extra) bytes is requested")
        if let sink, passedByteCount > 0 || written + extra > sink.keptMax {
            passOn(to: sink)
            if reserved >= extra { return }
        }
        let newCapacity = max(capacity * 2, written + extra, 64)
        unsafe base = Self.resized(base, to: newCapacity)
        reserved = newCapacity
    }

    /// Passes on all bytes that are left. Only a buffer with a sink has an end.
    package mutating func finish() {
        if let sink, sink.take != nil || passedByteCount > 0 { passOn(to: sink) }
    }

    private mutating func passOn(to sink: ByteSink) {
        guard written > 0 else { return }
        if let take = sink.take {
            take(unsafe UnsafeBufferPointer(start: base, count: written).span)
        }
        passedByteCount += written
        written = 0
    }

    // A text of many bytes is not copied to be passed on.
    @usableFromInline
    mutating func appendLarge(_ bytes: Span<UInt8>) {
        guard let sink, bytes.count > sink.keptMax || passedByteCount > 0 else {
            grow(by: bytes.count)
            return append(bytes)
        }
        passOn(to: sink)
        sink.take?(bytes)
        passedByteCount += bytes.count
    }

    // Every caller has just reserved capacity, so the pointer exists and is far enough from the
    // end.
    @inlinable
    var end: UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(base.unsafelyUnwrapped + written)
    }

    /// Appends one byte.
    @inlinable
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe end.storeBytes(of: byte, as: UInt8.self)
        written &+= 1
    }

    /// Appends the `byteCount` low bytes of `word`, lowest first; `byteCount` is 0 to 8.
    @inlinable
    package mutating func append(_ word: UInt64, byteCount: Int) {
        precondition(byteCount >= 0 && byteCount <= 8, "a word has eight bytes")
        reserve(8)
        unsafe end.storeBytes(of: word.littleEndian, as: UInt64.self)
        written &+= byteCount
    }

    /// Appends the first `byteCount` bytes of two words, lowest first; `byteCount` is 8 to 16.
    @inlinable
    package mutating func append(_ first: UInt64, _ second: UInt64, byteCount: Int) {
        precondition(byteCount >= 8 && byteCount <= 16, "two words have sixteen bytes")
        reserve(16)
        let end = unsafe end
        unsafe end.storeBytes(of: first.littleEndian, as: UInt64.self)
        unsafe end.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
        written &+= byteCount
    }

    /// Appends the first `byteCount` bytes of three words, lowest first; `byteCount` is 16 to 24.
    @inlinable
    package mutating func append(
        _ first: UInt64, _ second: UInt64, _ third: UInt64, byteCount: Int
    ) {
        precondition(byteCount >= 16 && byteCount <= 24, "three words have twenty-four bytes")
        reserve(24)
        let end = unsafe end
        unsafe end.storeBytes(of: first.littleEndian, as: UInt64.self)
        unsafe end.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
        unsafe end.storeBytes(of: third.littleEndian, toByteOffset: 16, as: UInt64.self)
        written &+= byteCount
    }

    /// Appends `bytes`.
    @inlinable
    package mutating func append(_ bytes: Span<UInt8>) {
        guard bytes.count > 0 else { return }
        guard reserved &- written >= bytes.count else { return appendLarge(bytes) }
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe end.copyMemory(from: start, byteCount: source.count)
        }
        written &+= bytes.count
    }

    /// Overwrites four bytes at `offset` with `value`, lowest first.
    ///
    /// *Traps* if those bytes were not appended yet, or were passed on.
    @inlinable
    package mutating func patch(_ value: UInt32, at offset: Int) {
        let offset = offset &- passedByteCount
        precondition(offset >= 0 && written &- offset >= 4, "only written bytes can be patched")
        unsafe UnsafeMutableRawPointer(base.unsafelyUnwrapped + offset)
            .storeBytes(of: value.littleEndian, as: UInt32.self)
    }

    /// Moves the last `byteCount` bytes, at most 16, to `offset`; the bytes from there on follow
    /// them.
    ///
    /// *Traps* if fewer bytes follow `offset`, or if those there were passed on; does nothing while
    /// bytes are only counted.
    @usableFromInline package mutating func moveLast(_ byteCount: Int, to offset: Int) {
        if passedByteCount > 0, isCounting { return }
        let last = written &- byteCount
        let offset = offset &- passedByteCount
        precondition(
            (0...16).contains(byteCount) && offset >= 0 && offset <= last,
            "only written bytes can be moved")
        guard let base = unsafe base, offset < last else { return }
        var moved: (UInt64, UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &moved) {
            unsafe $0.baseAddress?.copyMemory(from: base + last, byteCount: byteCount)
        }
        // The regions overlap.
        unsafe (base + offset + byteCount).update(from: base + offset, count: last - offset)
        unsafe withUnsafeBytes(of: &moved) {
            guard let start = $0.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(base + offset)
                .copyMemory(from: start, byteCount: byteCount)
        }
    }

    /// Removes all bytes after the first `newCount`, and keeps the capacity.
    @inlinable
    package mutating func truncate(to newCount: Int) {
        let newCount = newCount &- passedByteCount
        if newCount < 0 { return forgetPassed(-newCount) }
        precondition(newCount <= written, "a buffer cannot be truncated to more than it holds")
        written = newCount
    }

    // Bytes that were only counted can be removed.
    @usableFromInline
    mutating func forgetPassed(_ byteCount: Int) {
        precondition(
            isCounting && byteCount <= passedByteCount, "bytes are removed that were passed on")
        passedByteCount -= byteCount
        written = 0
    }

    /// Removes all bytes, and releases the memory if the capacity exceeds `bytesMax`.
    @usableFromInline package mutating func removeAll(keepingAtMost bytesMax: Int) {
        truncate(to: 0)
        guard capacity > bytesMax else { return }
        unsafe free(base)
        unsafe base = nil
        reserved = 0
    }

    /// Lends the appended bytes to `body`; of a buffer that passes them on, those that it keeps.
    @inlinable
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: base, count: written)
        return try unsafe body(bytes.span)
    }

    /// The appended bytes at `range`. *Cost*: copies them.
    package func copy(_ range: Range<Int>) -> [UInt8] {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= written && passedByteCount == 0,
            "bytes are copied that were not appended, or were passed on")
        guard !range.isEmpty, let base = unsafe base else { return [] }
        return unsafe Array(
            UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    /// Replaces the bytes of `array` by the appended ones. *Cost*: copies them; allocates only if
    /// another reference to the array's bytes exists, or if they do not fit.
    package func copy(into array: inout [UInt8]) {
        guard array.count == written, let base = unsafe base else {
            array.removeAll(keepingCapacity: true)
            return unsafe array.append(
                contentsOf: UnsafeBufferPointer(start: base, count: written))
        }
        // The common case: most turns have as many bytes as the turn before.
        var bytes = array.mutableSpan
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe target.baseAddress?.copyMemory(from: base, byteCount: written)
        }
    }
}
