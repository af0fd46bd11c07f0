/// A place in the bytes being decoded, and how deep the decoder stands.
///
/// A struct cannot hold the span itself, so every call is handed it: the same span for one value,
/// from the first call to the last.
public struct WireCursor: Sendable {
    /// Bytes from the start of the span to the next item.
    public var offset: Int
    // two halves of a word: a cursor is made for every action
    /// Levels of nesting still allowed.
    public var depthLeft: Int32
    /// Most names in one map that its type does not know; 0 where each of them is an error.
    @usableFromInline let strangersMax: Int32

    /// Starts to read at `offset` what is nested at most `depthMax` deep.
    @inlinable
    public init(offset: Int = 0, depthMax: Int = WireLimits.depthMax) {
        self.offset = offset
        depthLeft = Int32(truncatingIfNeeded: depthMax)
        strangersMax = Self.strangersMax
    }

    /// Starts to read at `offset` what was kept: a field that its type does not know is an error,
    /// unless ``WireRemoved(_:)`` names it.
    ///
    /// *Place*: states and mutations of a history, where a field that is skipped is lost.
    public init(kept offset: Int) {
        self.offset = offset
        depthLeft = Int32(truncatingIfNeeded: WireLimits.depthMax)
        strangersMax = 0
    }

    /// Starts to read an action of a client's at `offset`.
    @inlinable
    public init(action offset: Int) {
        self.init(offset: offset, depthMax: WireLimits.actionDepthMax)
    }
}

/// An item's first byte and its argument (RFC 8949, section 3).
public struct WireHead: Sendable {
    /// Major type, 0 to 7.
    public var major: UInt8
    /// The low five bits of the first byte; 31 means an indefinite length, or a break.
    public var info: UInt8
    /// Tags in front of the item; each is a level of nesting.
    @usableFromInline var tagCount: UInt8 = 0
    /// The value, the length, the count, the tag or the bits of a float.
    public var argument: UInt64

    /// Makes a head of its parts.
    @inlinable
    public init(major: UInt8, info: UInt8, argument: UInt64) {
        self.major = major
        self.info = info
        self.argument = argument
    }

    /// Levels of nesting that an array or a map with this head takes: its own, and its tags'.
    @inlinable var levels: Int32 { 1 &+ Int32(tagCount) }

    /// Whether the item says where it ends instead of how long it is.
    @inlinable public var isIndefinite: Bool { info == 31 }

    /// What the item is, for an error's sentence.
    public var kind: String {
        switch major {
        case 0, 1: "an integer"
        case 2: "bytes"
        case 3: "text"
        case 4: "an array"
        case 5: "a map"
        case 6: "a tag"
        default:
            switch info {
            case 20, 21: "a bool"
            case 22: "null"
            case 23: "undefined"
            case 25, 26, 27: "a float"
            case 31: "a break"
            default: "a simple value"
            }
        }
    }
}

extension WireCursor {
    /// Reads the next item's head, following no tag.
    @inlinable
    public mutating func rawHead(in bytes: Span<UInt8>) throws(WireError) -> WireHead {
        guard offset >= 0, offset < bytes.count else { throw WireError(.truncated, at: offset) }
        let first = bytes[offset]
        let info = first & 0x1f
        if info < 24 {
            offset &+= 1
            return WireHead(major: first &>> 5, info: info, argument: UInt64(info))
        }
        return try longHead(in: bytes, first: first)
    }

    @usableFromInline
    mutating func longHead(
        in bytes: Span<UInt8>, first: UInt8
    ) throws(WireError) -> WireHead {
        let major = first >> 5
        let info = first & 0x1f
        switch info {
        case 24...27:
            let byteCount = 1 &<< Int(info &- 24)
            guard bytes.count &- offset > byteCount else { throw WireError(.truncated, at: offset) }
            let word = bytes.word(at: offset &+ 1, byteCount: byteCount)
            let argument = word.byteSwapped &>> UInt64(64 &- 8 &* byteCount)
            // because RFC 8949, 3.3 forbids a two-byte simple value below 32
            if major == 7, info == 24, argument < 32 {
                throw WireError(.malformed(initialByte: first), at: offset)
            }
            offset &+= 1 &+ byteCount
            return WireHead(major: major, info: info, argument: argument)
        case 31 where major >= 2 && major <= 5 || major == 7:
            offset += 1
            return WireHead(major: major, info: info, argument: 0)
        default:
            throw WireError(.malformed(initialByte: first), at: offset)
        }
    }

    /// Reads the next item's head, past any tags; bignum tags are refused, all others mean nothing
    /// here.
    @inlinable
    public mutating func head(in bytes: Span<UInt8>) throws(WireError) -> WireHead {
        let head = try rawHead(in: bytes)
        if head.major != 6 { return head }
        return try untagged(head, in: bytes)
    }

    @usableFromInline
    mutating func untagged(
        _ tag: WireHead, in bytes: Span<UInt8>
    ) throws(WireError) -> WireHead {
        var head = tag
        var tagCount: UInt8 = 0
        while head.major == 6 {
            if head.argument == 2 || head.argument == 3 {
                throw WireError(.unsupportedTag(head.argument), at: offset - 1)
            }
            guard Int32(tagCount) < min(depthLeft, Int32(UInt8.max)) else {
                throw WireError(.tooDeep, at: offset)
            }
            tagCount += 1
            head = try rawHead(in: bytes)
        }
        head.tagCount = tagCount
        return head
    }

    /// The next item's head, without moving.
    @inlinable
    public func peek(in bytes: Span<UInt8>) throws(WireError) -> WireHead {
        var copy = self
        return try copy.head(in: bytes)
    }

    /// An error about the item that starts at `start`.
    @usableFromInline
    func mismatch(_ expected: String, _ head: WireHead, at start: Int) -> WireError {
        // because a stray break, an indefinite length or a reserved form is not well-formed here
        WireError(.mismatch(expected: expected, got: head.kind), at: start)
    }
}
