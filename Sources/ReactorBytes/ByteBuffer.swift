import Glibc

/// A growing buffer of bytes with exactly one owner.
///
/// *Place*: under the codec's writer. An array checks at every store whether it is shared; this
/// type cannot be shared, so a store is one capacity check and one instruction.
///
/// With a ``ByteSink``, the buffer keeps only the latest bytes, and passes on those before them.
/// *C*: `malloc`, `realloc`, `free`. A large block grows without a copy, and its unused end takes no
/// memory.
///
/// *Shape*: offsets count from the first byte that was appended, also while the bytes before
/// ``start`` are passed on, so that an append costs the same with a sink and without.
@safe
@usableFromInline package struct ByteBuffer: ~Copyable {
    /// The address of offset 0, which lies before the block if bytes were passed on. Without a block,
    /// offset ``start`` has address 0.
    @usableFromInline var origin: UInt
    /// The offset at which the block ends.
    @usableFromInline var reserved: Int
    /// The offset after the last byte.
    @usableFromInline var written = 0
    /// The offset of the first byte that is kept.
    @usableFromInline var start = 0
    private let sink: ByteSink?

    /// Number of bytes appended.
    @inlinable package var count: Int { written }
    /// Number of bytes that the sink has taken.
    package var passedByteCount: Int { start }
    /// Number of bytes that fit into the block.
    @inlinable package var capacity: Int { reserved &- start }

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
        (origin, reserved) = (0, 0)
        self.sink = sink
        if capacity > 0 { resize(to: capacity) }
    }

    deinit { unsafe free(block) }

    // Nil while the capacity is 0.
    @inlinable
    var block: UnsafeMutablePointer<UInt8>? {
        unsafe UnsafeMutablePointer(bitPattern: origin &+ UInt(bitPattern: start))
    }

    private mutating func resize(to capacity: Int) {
        guard let block = unsafe realloc(block, capacity) else {
            preconditionFailure("no memory for a buffer of \(capacity) bytes")
        }
        place(UInt(bitPattern: block), capacity: capacity, at: start)
    }

    // The bytes from `newStart` on have their place in the block, none of those before.
    private mutating func place(_ address: UInt, capacity: Int, at newStart: Int) {
        start = newStart
        origin = address &- UInt(bitPattern: newStart)
        reserved = newStart + capacity
    }

    private mutating func begin(at newStart: Int) {
        place(origin &+ UInt(bitPattern: start), capacity: capacity, at: newStart)
        written = newStart
    }

    /// Whether the bytes are only counted, or will be if they are too many to be kept.
    @usableFromInline package var isCounting: Bool { sink.map { $0.take == nil } ?? false }

    /// Whether the buffer passes its bytes on.
    @usableFromInline package var isPassing: Bool { sink?.take != nil }

    /// Whether `extra` more bytes fit without growth.
    @inlinable
    package func hasRoom(for extra: Int) -> Bool { reserved &- written >= extra }

    /// Reserves capacity for `extra` more bytes. *Cost*: amortised over the appended bytes.
    @inlinable @inline(__always)
    package mutating func reserve(_ extra: Int) {
        if reserved &- written < extra { grow(by: extra) }
    }

    @usableFromInline
    mutating func grow(by extra: Int) {
        precondition(extra >= 0, "room for \(extra) bytes is requested")
        if let sink, start > 0 || written + extra > sink.keptMax {
            passOn(to: sink)
            if capacity >= extra { return }
        }
        resize(to: max(capacity * 2, written - start + extra, 64))
    }

    /// Passes on all bytes that are left. Only a buffer with a sink has an end.
    package mutating func finish() {
        if let sink, sink.take != nil || start > 0 { passOn(to: sink) }
    }

    private mutating func passOn(to sink: ByteSink) {
        guard written > start else { return }
        if let take = sink.take {
            take(unsafe UnsafeBufferPointer(start: block, count: written - start).span)
        }
        begin(at: written)
    }

    // A text of many bytes is not copied to be passed on.
    @usableFromInline
    mutating func appendLarge(_ bytes: Span<UInt8>) {
        guard let sink, bytes.count > sink.keptMax || start > 0 else {
            grow(by: bytes.count)
            return append(bytes)
        }
        passOn(to: sink)
        sink.take?(bytes)
        begin(at: written + bytes.count)
    }

    // Every caller has just reserved capacity, so the address is in the block and far enough from its
    // end.
    @inlinable @inline(__always)
    var end: UnsafeMutableRawPointer { unsafe address(of: written) }

    // The caller has checked that the offset is in the block.
    @inlinable @inline(__always)
    func address(of offset: Int) -> UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(bitPattern: origin &+ UInt(bitPattern: offset))
            .unsafelyUnwrapped
    }

    // The optimizer would make these appends functions, whose calls cost more than they do.

    /// Appends one byte.
    @inlinable @inline(__always)
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe end.storeBytes(of: byte, as: UInt8.self)
        written &+= 1
    }

    /// Appends the `byteCount` low bytes of `word`, lowest first; `byteCount` is 0 to 8.
    @inlinable @inline(__always)
    package mutating func append(_ word: UInt64, byteCount: Int) {
        precondition(byteCount >= 0 && byteCount <= 8, "a word has eight bytes")
        reserve(8)
        unsafe end.storeBytes(of: word.littleEndian, as: UInt64.self)
        written &+= byteCount
    }

    /// Appends the first `byteCount` bytes of two words, lowest first; `byteCount` is 8 to 16.
    @inlinable @inline(__always)
    package mutating func append(_ first: UInt64, _ second: UInt64, byteCount: Int) {
        precondition(byteCount >= 8 && byteCount <= 16, "two words have sixteen bytes")
        reserve(16)
        let end = unsafe end
        unsafe end.storeBytes(of: first.littleEndian, as: UInt64.self)
        unsafe end.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
        written &+= byteCount
    }

    /// Appends the first `byteCount` bytes of three words, lowest first; `byteCount` is 16 to 24.
    @inlinable @inline(__always)
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
    @inlinable @inline(__always)
    package mutating func patch(_ value: UInt32, at offset: Int) {
        precondition(
            offset >= start && written &- offset >= 4, "only written bytes can be patched")
        unsafe address(of: offset).storeBytes(of: value.littleEndian, as: UInt32.self)
    }

    /// Moves the last `byteCount` bytes, at most 16, to `offset`; the bytes from there on follow
    /// them.
    ///
    /// *Traps* if fewer bytes follow `offset`, or if those there were passed on; does nothing while
    /// bytes are only counted.
    @usableFromInline package mutating func moveLast(_ byteCount: Int, to offset: Int) {
        if start > 0, isCounting { return }
        let last = written &- byteCount
        precondition(
            (0...16).contains(byteCount) && offset >= start && offset <= last,
            "only written bytes can be moved")
        guard offset < last else { return }
        let place = unsafe address(of: offset)
        var moved: (UInt64, UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &moved) {
            unsafe $0.baseAddress?.copyMemory(from: address(of: last), byteCount: byteCount)
        }
        // The regions overlap.
        unsafe memmove(place + byteCount, place, last - offset)
        unsafe withUnsafeBytes(of: &moved) {
            guard let first = $0.baseAddress else { return }
            unsafe place.copyMemory(from: first, byteCount: byteCount)
        }
    }

    /// Removes all bytes after the first `newCount`, and keeps the capacity.
    @inlinable
    package mutating func truncate(to newCount: Int) {
        if newCount < start { return forgetPassed(to: newCount) }
        precondition(newCount <= written, "a buffer cannot be truncated to more than it holds")
        written = newCount
    }

    // Bytes that were only counted can be removed.
    @usableFromInline
    mutating func forgetPassed(to newCount: Int) {
        precondition(isCounting && newCount >= 0, "bytes are removed that were passed on")
        begin(at: newCount)
    }

    /// Removes all bytes, and releases the memory if the capacity exceeds `bytesMax`.
    @inlinable
    package mutating func removeAll(keepingAtMost bytesMax: Int) {
        truncate(to: 0)
        if capacity > bytesMax { releaseBlock() }
    }

    @usableFromInline
    mutating func releaseBlock() {
        unsafe free(block)
        place(0, capacity: 0, at: start)
    }

    /// Lends the appended bytes to `body`; of a buffer that passes them on, those that it keeps.
    @inlinable
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: block, count: written &- start)
        return try unsafe body(bytes.span)
    }

    /// The appended bytes at `range`. *Cost*: copies them.
    package func copy(_ range: Range<Int>) -> [UInt8] {
        precondition(
            range.lowerBound >= start && range.upperBound <= written,
            "bytes are copied that were not appended, or were passed on")
        guard !range.isEmpty else { return [] }
        return unsafe Array(
            UnsafeRawBufferPointer(start: address(of: range.lowerBound), count: range.count))
    }

    /// Replaces the bytes of `array` by the appended ones. *Cost*: copies them; allocates only if
    /// another reference to the array's bytes exists, or if they do not fit.
    package func copy(into array: inout [UInt8]) {
        precondition(start == 0, "bytes are copied that were passed on")
        guard array.count == written, let block = unsafe block else {
            array.removeAll(keepingCapacity: true)
            return unsafe array.append(
                contentsOf: UnsafeBufferPointer(start: block, count: written))
        }
        // The common case: most turns have as many bytes as the turn before.
        var bytes = array.mutableSpan
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe target.baseAddress?.copyMemory(from: block, byteCount: written)
        }
    }
}
