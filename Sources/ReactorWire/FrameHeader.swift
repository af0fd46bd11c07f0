/// The fixed part before every frame's body.
///
/// *Shape*, all little-endian:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | `length`: bytes of the body, 0 to ``WireLimits/frameBytesMax`` |
/// | 4 | 1 | `kind`: see ``FrameKind`` |
/// | 5 | 1 | `flags`: see ``FrameFlags``; unknown bits are refused |
/// | 6 | 2 | reserved, must be 0 |
/// | 8 | 4 | `id`: a node or a slice, depending on the kind |
/// | 12 | 8 | `number`: an ordinal, a revision or a request number, depending on the kind |
@usableFromInline package struct FrameHeader: Equatable, Sendable {
    /// Bytes of a header.
    @inlinable package static var byteCount: Int { 20 }

    /// Bytes of the body that follows.
    @usableFromInline package var length: UInt32
    /// The raw ``FrameKind``; a peer may send kinds that this side does not know.
    @usableFromInline package var kind: UInt8
    /// Bits that qualify the kind.
    @usableFromInline package var flags: FrameFlags
    /// A node or a slice, depending on the kind.
    @usableFromInline package var id: UInt32
    /// An ordinal, a revision or a request number, depending on the kind.
    @usableFromInline package var number: UInt64

    /// Makes a header.
    @inlinable
    package init(
        length: UInt32 = 0, kind: FrameKind, flags: FrameFlags = [], id: UInt32 = 0,
        number: UInt64 = 0
    ) {
        self.length = length
        self.kind = kind.rawValue
        self.flags = flags
        self.id = id
        self.number = number
    }

    @inlinable
    init(length: UInt32, rawKind: UInt8, flags: FrameFlags, id: UInt32, number: UInt64) {
        self.length = length
        kind = rawKind
        self.flags = flags
        self.id = id
        self.number = number
    }

    /// Reads the header at `offset`; `nil` if it is not complete yet.
    ///
    /// *Throws*: ``FrameError`` as soon as the bytes cannot become a frame, before anything is
    /// allocated for its body.
    @inlinable
    package static func decode(
        _ bytes: Span<UInt8>, at offset: Int, frameBytesMax: Int
    ) throws(FrameError) -> FrameHeader? {
        guard bytes.count &- offset >= byteCount else { return nil }
        let first = bytes.word(at: offset, byteCount: 8)
        let length = UInt32(truncatingIfNeeded: first)
        guard Int(length) <= frameBytesMax else {
            throw FrameError(.tooLong(length: Int(length), max: frameBytesMax), at: offset)
        }
        let rest = first &>> 32
        guard rest &>> 16 == 0 else { throw FrameError(.reservedBits, at: offset) }
        let flags = FrameFlags(rawValue: UInt8(truncatingIfNeeded: rest &>> 8))
        guard flags.isSubset(of: .known) else { throw FrameError(.reservedBits, at: offset) }
        return FrameHeader(
            length: length, rawKind: UInt8(truncatingIfNeeded: rest), flags: flags,
            id: UInt32(truncatingIfNeeded: bytes.word(at: offset &+ 8, byteCount: 8)),
            number: bytes.word(at: offset &+ 12, byteCount: 8))
    }
}

extension WireWriter {
    /// Appends a header; `length` may be patched later with ``endFrame(at:)``.
    @inlinable @inline(__always)
    package mutating func header(_ header: FrameHeader) {
        let low = UInt64(header.kind) &<< 32 | UInt64(header.flags.rawValue) &<< 40
        words(
            UInt64(header.length) | low, UInt64(header.id) | header.number &<< 32,
            header.number &>> 32, byteCount: FrameHeader.byteCount)
    }

    /// Appends a header whose body the caller appends next. Returns its offset.
    @inlinable
    package mutating func beginFrame(
        _ kind: FrameKind, flags: FrameFlags = [], id: UInt32 = 0, number: UInt64 = 0
    ) -> Int {
        let start = count
        header(FrameHeader(kind: kind, flags: flags, id: id, number: number))
        return start
    }

    /// Writes the length of the body into the header that starts at `start`.
    @inlinable @inline(__always)
    package mutating func endFrame(at start: Int) {
        patch(UInt32(truncatingIfNeeded: count &- start &- FrameHeader.byteCount), at: start)
    }
}

/// Bits of a header that qualify its kind.
@usableFromInline package struct FrameFlags: OptionSet, Sendable, Hashable {
    @usableFromInline package let rawValue: UInt8

    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// More parts of the same value follow.
    @inlinable package static var more: FrameFlags { FrameFlags(rawValue: 1 << 0) }
    /// The snapshot replaces the receiver's whole state: the daemon's history lost a part, or may
    /// have.
    @inlinable package static var fresh: FrameFlags { FrameFlags(rawValue: 1 << 1) }
    /// The slice has no value now; the body is empty.
    @inlinable package static var absent: FrameFlags { FrameFlags(rawValue: 1 << 2) }
    /// The body starts with ``DispatchOptions``; the action follows.
    @inlinable package static var options: FrameFlags { FrameFlags(rawValue: 1 << 3) }
    /// The delta contains structural changes: children created or removed.
    @inlinable package static var structural: FrameFlags { FrameFlags(rawValue: 1 << 4) }

    /// The value is a patch of the last value: see ``PatchWriter``.
    @inlinable package static var patch: FrameFlags { FrameFlags(rawValue: 1 << 5) }

    /// The client wants a ``FrameKind/done`` when the effects of the action have ended.
    @inlinable package static var awaited: FrameFlags { FrameFlags(rawValue: 1 << 6) }

    @inlinable static var known: FrameFlags { FrameFlags(rawValue: 0x7f) }
}

/// The reason why bytes cannot be a frame. The connection that sent them is closed.
@usableFromInline package struct FrameError: Error, Equatable, Sendable {
    /// The possible faults of a header.
    @usableFromInline package enum Condition: Equatable, Sendable {
        case tooLong(length: Int, max: Int)
        case reservedBits
        case unknownKind(UInt8)
    }

    /// The fault.
    @usableFromInline package var condition: Condition
    /// Offset of the frame in the span, in bytes.
    @usableFromInline package var offset: Int

    /// Makes an error about the frame at an offset.
    @inlinable
    package init(_ condition: Condition, at offset: Int) {
        self.condition = condition
        self.offset = offset
    }
}

extension FrameError: CustomStringConvertible {
    @usableFromInline package var description: String {
        switch condition {
        case .tooLong(let length, let max):
            "frame at byte \(offset): length \(length) exceeds frameBytesMax \(max)"
        case .reservedBits: "frame at byte \(offset): reserved bits are set"
        case .unknownKind(let kind): "frame at byte \(offset): unknown kind \(kind)"
        }
    }
}
