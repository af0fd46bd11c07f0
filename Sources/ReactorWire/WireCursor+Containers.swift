/// An array or a map that is being read.
public struct WireContainer: Sendable {
    /// Elements or pairs still to come; -1 until a break ends them.
    @usableFromInline var left: Int
    /// Levels of nesting that end with it: its own, and those of the tags in front of it.
    @usableFromInline var levels: Int32
    /// Names met in a map that its type does not know, to refuse a second of them.
    @usableFromInline var strangers: [WireStranger] = []

    @usableFromInline
    init(left: Int, levels: Int32) {
        self.left = left
        self.levels = levels
    }

    /// A count that is safe to reserve room for: no larger than what the bytes can hold.
    @inlinable public var countHint: Int { max(left, 0) }
}

/// The place of a name in the decoded bytes, its head already read.
public struct WireName: Sendable {
    /// Place of its first byte.
    public var start: Int
    /// Length in bytes.
    public var count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }

    /// Where its bytes stand.
    @inlinable public var range: Range<Int> { start..<(start &+ count) }
}

// MARK: - Containers
extension WireCursor {
    /// Enters an array.
    @inlinable
    public mutating func openArray(in bytes: Span<UInt8>) throws(WireError) -> WireContainer {
        try open(major: 4, expected: "an array", bytesPerElementMin: 1, in: bytes)
    }

    /// Enters a map.
    @inlinable
    public mutating func openMap(in bytes: Span<UInt8>) throws(WireError) -> WireContainer {
        try open(major: 5, expected: "a map", bytesPerElementMin: 2, in: bytes)
    }

    @inlinable
    mutating func open(
        major: UInt8, expected: StaticString, bytesPerElementMin: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> WireContainer {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == major else { throw mismatch(expected.description, head, at: start) }
        return try enter(head, bytesPerElementMin: bytesPerElementMin, at: start, in: bytes)
    }

    /// Enters the array or map whose `head` stood at `start`.
    @inlinable
    mutating func enter(
        _ head: WireHead, bytesPerElementMin: Int, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> WireContainer {
        let levels = head.levels
        guard depthLeft >= levels else { throw WireError(.tooDeep, at: start) }
        depthLeft &-= levels
        if head.isIndefinite { return WireContainer(left: -1, levels: levels) }
        // because the count is the peer's word: it is bounded by the bytes that are there
        guard head.argument <= UInt64((bytes.count &- offset) / bytesPerElementMin) else {
            throw WireError(.countExceedsBytes(head.argument), at: start)
        }
        return WireContainer(left: Int(head.argument), levels: levels)
    }

    /// Whether another element (or pair) follows; leaves the container when none does.
    @inlinable
    public mutating func nextElement(
        in bytes: Span<UInt8>, _ container: inout WireContainer
    ) throws(WireError) -> Bool {
        if container.left > 0 {
            container.left &-= 1
            return true
        }
        if container.left < 0 {
            guard offset < bytes.count else { throw WireError(.truncated, at: offset) }
            if bytes[offset] != 0xff { return true }
            offset &+= 1
        }
        depthLeft &+= container.levels
        return false
    }

    /// Reads the next key of a map, or leaves the map.
    ///
    /// A key is text of definite length; it is not checked to be UTF-8, only compared.
    @inlinable
    public mutating func nextName(
        in bytes: Span<UInt8>, _ map: inout WireContainer
    ) throws(WireError) -> WireName? {
        guard try nextElement(in: bytes, &map) else { return nil }
        return try name(in: bytes)
    }

    /// Reads text of definite length without making a `String` of it.
    @inlinable
    public mutating func name(in bytes: Span<UInt8>) throws(WireError) -> WireName {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 3, !head.isIndefinite else {
            throw mismatch("a name", head, at: start)
        }
        let range = try take(head.argument, in: bytes, at: start)
        return WireName(start: range.lowerBound, count: range.count)
    }
}
