import ReactorBytes
import ReactorWire

/// Actions that have a number and wait for room in the window, as complete frames.
///
/// *Place*: a part of ``Outbox``. *Shape*: frames without gaps, in the order of their numbers; the
/// bytes before `start` have been moved out and are dropped later.
struct WaitingActions: ~Copyable {
    private var frames = WireWriter(capacity: 256)
    private var start = 0
    /// Number of frames.
    private(set) var count = 0

    /// Bytes of the frames.
    var byteCount: Int { frames.count - start }

    /// Appends a frame that `encode` writes; if `encode` throws, nothing is appended.
    mutating func append(
        _ encode: (inout WireWriter) throws(ClientError) -> Void
    ) throws(ClientError) {
        defer { invariants() }
        try encode(&frames)
        count += 1
    }

    /// Moves the oldest `moved` frames to `writer`.
    mutating func move(_ moved: Int, to writer: inout WireWriter) {
        precondition(moved <= count, "\(moved) of \(count) waiting actions")
        defer { invariants() }
        frames.withBytes { bytes in
            var end = start
            for _ in 0..<moved { end = Self.frameEnd(at: end, in: bytes) }
            writer.raw(bytes.extracting(start..<end))
            start = end
        }
        count -= moved
        if count == 0 {
            removeAll()
        } else if start > frames.count / 2 {
            var rest = WireWriter(capacity: frames.count)
            frames.withBytes { rest.raw($0.extracting(start...)) }
            frames = rest
            start = 0
        }
    }

    /// Raises the number of every action by `shift`.
    mutating func renumber(by shift: UInt64) {
        guard count > 0 else { return }
        defer { invariants() }
        var renumbered = WireWriter(capacity: frames.count)
        frames.withBytes { bytes in
            var offset = start
            while offset < bytes.count {
                let end = Self.frameEnd(at: offset, in: bytes)
                guard
                    var header = try? FrameHeader.decode(
                        bytes, at: offset, frameBytesMax: Int(UInt32.max))
                else { preconditionFailure("a frame of this client's own cannot be read") }
                header.number += shift
                renumbered.header(header)
                renumbered.raw(bytes.extracting((offset + FrameHeader.byteCount)..<end))
                offset = end
            }
        }
        frames = renumbered
        start = 0
    }

    mutating func removeAll() {
        frames.removeAll()
        start = 0
        count = 0
    }

    /// Lends the frames, oldest first.
    func withFrames(_ body: (Span<UInt8>) -> Void) {
        frames.withBytes { body($0.extracting(start...)) }
    }

    private static func frameEnd(at offset: Int, in bytes: Span<UInt8>) -> Int {
        offset + FrameHeader.byteCount + Int(bytes.word(at: offset, byteCount: 4))
    }

    /// Traps in a debug build unless bytes and count agree: both are 0, or neither is.
    private func invariants() {
        assert(start <= frames.count, "\(start) of \(frames.count) bytes have been moved on")
        assert((count == 0) == (byteCount == 0), "\(count) frames in \(byteCount) bytes")
    }
}
