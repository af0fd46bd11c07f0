public import ReactorWire

/// The delta frames of a turn, in the order of their sequences.
///
/// The same bytes go to clients and into the journal, and are replayed.
@usableFromInline
struct DeltaBuffer: ~Copyable {
    /// The frames; inlined code appends mutations to the frame that is being written.
    @usableFromInline var writer: WireWriter
    /// Start of the frame that is being written.
    private var start = 0

    init(capacity: Int) { writer = WireWriter(capacity: capacity) }

    /// Begins the delta of node `number`; the caller writes its mutations next.
    mutating func beginDelta(
        _ number: UInt32, _ sequence: UInt64, flags: FrameFlags = [], _ origin: Origin
    ) {
        start = writer.beginFrame(.delta, flags: flags, id: number, number: sequence)
        origin.encode(into: &writer)
        assert(invariants())
    }

    /// Number of bytes of all frames, with the one that is being written.
    var byteCount: Int { writer.count }

    /// Number of bytes of the frame that is being written.
    var frameByteCount: Int { writer.count &- start }

    /// Ends the frame. Returns the first byte of its header, and its end, exclusive.
    mutating func endDelta() -> (start: Int, end: Int) {
        writer.endFrame(at: start)
        assert(invariants())
        return (start, writer.count)
    }

    /// Appends the frame that a history has for node `number`: its origin, then its mutations.
    mutating func addFrame(
        _ header: FrameHeader, _ origin: Span<UInt8>, _ mutations: Span<UInt8>
    ) -> (start: Int, end: Int) {
        start = writer.beginFrame(
            .delta, flags: header.flags, id: header.id, number: header.number)
        writer.raw(origin)
        writer.raw(mutations)
        return endDelta()
    }

    /// Drops the frame that is being written.
    mutating func drop() {
        writer.truncate(to: start)
        assert(invariants())
    }

    /// Drops what follows the first `byteCount` bytes.
    mutating func truncate(to byteCount: Int) {
        writer.truncate(to: byteCount)
        start = min(start, byteCount)
        assert(invariants())
    }

    /// Drops all frames, and keeps a capacity of at most `capacityMax` bytes.
    mutating func removeAll(keepingAtMost capacityMax: Int) {
        writer.removeAll(keepingAtMost: capacityMax)
        start = 0
        assert(invariants())
    }

    /// Number of bytes that `encode` appends; removes them again.
    mutating func measure(_ encode: (inout WireWriter) -> Void) -> Int {
        let before = writer.count
        encode(&writer)
        defer {
            writer.truncate(to: before)
            assert(invariants())
        }
        return writer.count - before
    }

    /// The frame that is being written, or was written last, lies within the bytes.
    func invariants() -> Bool { start >= 0 && start <= writer.count }
}
