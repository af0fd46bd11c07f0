/// A position in the bytes being decoded, and the nesting depth there.
///
/// A struct cannot store the span itself, so every call receives it: the same span for one value,
/// from the first call to the last.
public struct WireCursor: Sendable {
    /// Bytes from the start of the span to the next item.
    public var offset: Int
    // Two halves of a word: a cursor is made for every action.
    /// Levels of nesting still allowed.
    @usableFromInline package var depthLeft: Int32
    /// Maximum unknown names in one map; 0 if each of them is an error.
    @usableFromInline let strangersMax: Int32

    /// Starts at `offset`, for values nested at most `depthMax` deep.
    @inlinable
    public init(offset: Int = 0, depthMax: Int = WireLimits.depthMax) {
        self.offset = offset
        depthLeft = Int32(truncatingIfNeeded: depthMax)
        strangersMax = Self.strangersMax
    }

    /// Starts at `offset` of a stored value: a field that its type does not know is an error,
    /// unless ``WireRemoved(_:)`` names it.
    ///
    /// *Place*: states and mutations of a history, where a skipped field would be lost.
    package init(kept offset: Int) {
        self.offset = offset
        depthLeft = Int32(truncatingIfNeeded: WireLimits.depthMax)
        strangersMax = 0
    }

    /// Whether the value was stored, and is read as it was written.
    package var isKept: Bool { strangersMax == 0 }

    /// Starts at `offset`, for a client's action.
    @inlinable
    package init(action offset: Int) {
        self.init(offset: offset, depthMax: WireLimits.actionDepthMax)
    }
}

/// An item's first byte and its argument (RFC 8949, section 3).
@usableFromInline package struct WireHead: Sendable {
    /// Major type, 0 to 7.
    @usableFromInline package var major: UInt8
    /// The low five bits of the first byte; 31 means an indefinite length, or a break.
    @usableFromInline package var info: UInt8
    /// Number of tags before the item; each is a level of nesting.
    @usableFromInline var tagCount: UInt8 = 0
    /// The value, the length, the count, the tag or the bits of a float.
    @usableFromInline package var argument: UInt64

    /// Makes a head of its parts.
    @inlinable
    package init(major: UInt8, info: UInt8, argument: UInt64) {
        self.major = major
        self.info = info
        self.argument = argument
    }

    /// Levels of nesting that an array or a map with this head uses: its own, and those of its
    /// tags.
    @inlinable var levels: Int32 { 1 &+ Int32(tagCount) }

    /// Whether a break ends the item, instead of a length.
    @inlinable package var isIndefinite: Bool { info == 31 }

    /// The kind of the item, for error texts.
    package var kind: String {
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
    /// Reads the next item's head, which may be a tag.
    @inlinable
    package mutating func rawHead(in bytes: Span<UInt8>) throws(WireError) -> WireHead {
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
            // RFC 8949, 3.3 forbids a two-byte simple value below 32.
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

    /// Reads the next item's head after any tags. Refuses bignum tags, and ignores all others.
    @inlinable
    package mutating func head(in bytes: Span<UInt8>) throws(WireError) -> WireHead {
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

    /// The next item's head; the cursor does not move.
    @inlinable
    package func peek(in bytes: Span<UInt8>) throws(WireError) -> WireHead {
        var copy = self
        return try copy.head(in: bytes)
    }

    /// An error about the item at `start`.
    @usableFromInline
    func mismatch(_ expected: String, _ head: WireHead, at start: Int) -> WireError {
        WireError(.mismatch(expected: expected, got: head.kind), at: start)
    }

    // MARK: Numbers, bools and null

    /// Reads an integer as sign and magnitude: `value` or `-1 - value`.
    @inlinable
    public mutating func integer(
        in bytes: Span<UInt8>
    ) throws(WireError) -> (isNegative: Bool, magnitude: UInt64) {
        let start = offset
        let head = try head(in: bytes)
        guard head.major <= 1 else { throw mismatch("an integer", head, at: start) }
        return (head.major == 1, head.argument)
    }

    /// Reads a non-negative integer.
    @inlinable
    public mutating func unsigned(in bytes: Span<UInt8>) throws(WireError) -> UInt64 {
        let start = offset
        let (isNegative, magnitude) = try integer(in: bytes)
        guard !isNegative else {
            throw WireError(.outOfRange(expected: "an integer from 0"), at: start)
        }
        return magnitude
    }

    /// Reads `true` or `false`.
    @inlinable
    public mutating func bool(in bytes: Span<UInt8>) throws(WireError) -> Bool {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 7, head.info == 20 || head.info == 21 else {
            throw mismatch("a bool", head, at: start)
        }
        return head.info == 21
    }

    /// Reads a null (or `undefined`) if it is next. Returns whether it was.
    @inlinable
    public mutating func takeNull(in bytes: Span<UInt8>) throws(WireError) -> Bool {
        guard offset >= 0, offset < bytes.count else { throw WireError(.truncated, at: offset) }
        let first = bytes[offset]
        if first &>> 5 == 6 { return try takeTaggedNull(in: bytes) }
        guard first == 0xf6 || first == 0xf7 else { return false }
        offset &+= 1
        return true
    }

    @usableFromInline
    mutating func takeTaggedNull(in bytes: Span<UInt8>) throws(WireError) -> Bool {
        var copy = self
        let head = try copy.head(in: bytes)
        guard head.major == 7, head.info == 22 || head.info == 23 else { return false }
        self = copy
        return true
    }

    /// Reads a number: a float of any width, or an integer that a `Double` represents exactly.
    public mutating func double(in bytes: Span<UInt8>) throws(WireError) -> Double {
        let start = offset
        return try double(try head(in: bytes), at: start)
    }

    /// The number whose `head` was at `start`.
    func double(_ head: WireHead, at start: Int) throws(WireError) -> Double {
        switch (head.major, head.info) {
        case (7, 25): return Self.widened(HalfFloat.value(UInt16(head.argument)))
        case (7, 26): return Self.widened(Float(bitPattern: UInt32(head.argument)))
        case (7, 27): return Double(bitPattern: head.argument)
        case (0, _):
            if let number = Double(exactly: head.argument) { return number }
            throw WireError(.outOfRange(expected: "a number that a double holds"), at: start)
        case (1, _):
            // The number is -1 - argument, which overflows for the largest argument.
            if head.argument == .max { return -0x1p64 }
            if let number = Double(exactly: head.argument + 1) { return -number }
            throw WireError(.outOfRange(expected: "a number that a double holds"), at: start)
        default: throw mismatch("a number", head, at: start)
        }
    }

    /// Reads a number like ``double(in:)``, rounded to the nearest `Float`; refuses a finite number
    /// beyond the type's range.
    public mutating func float(in bytes: Span<UInt8>) throws(WireError) -> Float {
        let start = offset
        let head = try peek(in: bytes)
        if head.major == 7, head.info == 25 || head.info == 26 {
            _ = try self.head(in: bytes)
            return head.info == 25
                ? HalfFloat.value(UInt16(head.argument))
                : Float(bitPattern: UInt32(head.argument))
        }
        let number = try double(in: bytes)
        guard !number.isNaN else { return Self.narrowed(number) }
        let value = Float(number)
        guard value.isFinite || number.isInfinite else {
            throw WireError(.outOfRange(expected: "a number that a float holds"), at: start)
        }
        return value
    }

    /// The NaN `value` as a `Float` NaN with the same sign and upper payload.
    private static func narrowed(_ value: Double) -> Float {
        let pattern = value.bitPattern
        let sign = UInt32(truncatingIfNeeded: pattern >> 32) & 0x8000_0000
        let payload = UInt32(truncatingIfNeeded: pattern >> 29) & 0x7f_ffff
        return Float(bitPattern: sign | 0x7f80_0000 | (payload == 0 ? 0x40_0000 : payload))
    }

    /// `value` as a `Double`, keeping the payload of a NaN.
    private static func widened(_ value: Float) -> Double {
        guard value.isNaN else { return Double(value) }
        let pattern = value.bitPattern
        let sign = UInt64(pattern & 0x8000_0000) << 32
        return Double(bitPattern: sign | 0x7ff0_0000_0000_0000 | UInt64(pattern & 0x7f_ffff) << 29)
    }

    // MARK: Text and bytes

    /// Reads text, of definite or indefinite length.
    public mutating func text(in bytes: Span<UInt8>) throws(WireError) -> String {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 3 else { throw mismatch("text", head, at: start) }
        return try text(head, at: start, in: bytes)
    }

    /// Reads the text whose `head` was at `start`.
    mutating func text(
        _ head: WireHead, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> String {
        guard head.isIndefinite else { return try textBody(head.argument, in: bytes, at: start) }
        var whole = ""
        while true {
            let chunkStart = offset
            let chunk = try rawHead(in: bytes)
            if chunk.major == 7, chunk.isIndefinite { return whole }
            guard chunk.major == 3, !chunk.isIndefinite else {
                throw mismatch("a chunk of text", chunk, at: chunkStart)
            }
            whole += try textBody(chunk.argument, in: bytes, at: chunkStart)
        }
    }

    private mutating func textBody(
        _ byteCount: UInt64, in bytes: Span<UInt8>, at start: Int
    ) throws(WireError) -> String {
        let range = try take(byteCount, in: bytes, at: start)
        do {
            let view = try UTF8Span(validating: bytes.extracting(range))
            return String(copying: view)
        } catch {
            throw WireError(.invalidText, at: start)
        }
    }

    /// Reads a byte string, of definite or indefinite length.
    public mutating func byteString(in bytes: Span<UInt8>) throws(WireError) -> [UInt8] {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 2 else { throw mismatch("bytes", head, at: start) }
        return try byteString(head, at: start, in: bytes)
    }

    /// The range of a byte string of definite length, which is not copied; moves past it.
    package mutating func byteStringRange(in bytes: Span<UInt8>) throws(WireError) -> Range<Int> {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 2, !head.isIndefinite else {
            throw mismatch("bytes of definite length", head, at: start)
        }
        return try take(head.argument, in: bytes, at: start)
    }

    /// Reads the byte string whose `head` was at `start`.
    mutating func byteString(
        _ head: WireHead, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> [UInt8] {
        var whole: [UInt8] = []
        guard head.isIndefinite else {
            whole.append(contentsOf: bytes, try take(head.argument, in: bytes, at: start))
            return whole
        }
        while true {
            let chunkStart = offset
            let chunk = try rawHead(in: bytes)
            if chunk.major == 7, chunk.isIndefinite { return whole }
            guard chunk.major == 2, !chunk.isIndefinite else {
                throw mismatch("a chunk of bytes", chunk, at: chunkStart)
            }
            whole.append(contentsOf: bytes, try take(chunk.argument, in: bytes, at: chunkStart))
        }
    }

    /// Moves past `byteCount` bytes and returns their range.
    @inlinable
    mutating func take(
        _ byteCount: UInt64, in bytes: Span<UInt8>, at start: Int
    ) throws(WireError) -> Range<Int> {
        let left = bytes.count &- offset
        guard left >= 0, byteCount <= UInt64(left) else { throw WireError(.truncated, at: start) }
        let range = offset..<(offset &+ Int(byteCount))
        offset = range.upperBound
        return range
    }
}
