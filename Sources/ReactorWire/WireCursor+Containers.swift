/// An array or a map that is being read.
public struct WireContainer: Sendable {
    /// Elements or pairs still to come; -1 until a break ends them.
    @usableFromInline var left: Int
    /// Names met in a map that its type does not know, to refuse a second of them.
    @usableFromInline var strangers: [Range<Int>] = []

    @usableFromInline
    init(left: Int) { self.left = left }

    /// A count that is safe to reserve room for: no larger than what the bytes can hold.
    @inlinable public var countHint: Int { max(left, 0) }
}

/// The place of a name in the decoded bytes, its head already read.
public struct WireName: Sendable {
    public var start: Int
    /// Length in bytes.
    public var count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }

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
        guard depthLeft > 0 else { throw WireError(.tooDeep, at: start) }
        depthLeft &-= 1
        if head.isIndefinite { return WireContainer(left: -1) }
        // because the count is the peer's word: it is bounded by the bytes that are there
        guard head.argument <= UInt64((bytes.count &- offset) / bytesPerElementMin) else {
            throw WireError(.countExceedsBytes(head.argument), at: start)
        }
        return WireContainer(left: Int(head.argument))
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
        depthLeft &+= 1
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

    /// Moves past the value of a name that the type does not know, and refuses a second value
    /// under the same name.
    public mutating func skipStranger(
        _ name: WireName, in bytes: Span<UInt8>, _ map: inout WireContainer
    ) throws(WireError) {
        for other in map.strangers where other.count == name.count {
            if bytes.holds(other, name.range) {
                throw WireError(.duplicateKey(bytes.text(name)), at: name.start)
            }
        }
        // because the search above is linear: a map of many strangers is not one of ours
        guard map.strangers.count < 256 else {
            throw WireError(.refused("more than 256 unknown fields"), at: name.start)
        }
        map.strangers.append(name.range)
        try skip(in: bytes)
    }

    /// Moves past one value of any shape, checking that it is well-formed.
    public mutating func skip(in bytes: Span<UInt8>) throws(WireError) {
        // because nesting is the peer's choice: an explicit stack of counts, never recursion
        var open: [Int] = []
        repeat {
            let start = offset
            let head = try head(in: bytes)
            switch head.major {
            case 0, 1: break
            case 2, 3:
                if head.isIndefinite {
                    offset = start
                    if head.major == 2 { _ = try byteString(in: bytes) } else {
                        _ = try text(in: bytes)
                    }
                } else {
                    let range = try take(head.argument, in: bytes, at: start)
                    if head.major == 3, !bytes.isText(range) {
                        throw WireError(.invalidText, at: start)
                    }
                }
            case 4, 5:
                guard open.count < depthLeft else { throw WireError(.tooDeep, at: start) }
                let perElement = head.major == 4 ? 1 : 2
                let left = bytes.count - offset
                guard head.argument <= UInt64(left / perElement) else {
                    throw WireError(.countExceedsBytes(head.argument), at: start)
                }
                // because an indefinite map must hold whole pairs: -1 array, -2 and -3 map
                open.append(
                    head.isIndefinite ? -perElement : Int(head.argument) * perElement)
                try closeFinished(&open, in: bytes)
                continue
            default:
                if head.isIndefinite { throw WireError(.malformed(initialByte: 0xff), at: start) }
            }
            countItem(&open)
            try closeFinished(&open, in: bytes)
        } while !open.isEmpty
    }

    private func countItem(_ open: inout [Int]) {
        guard let last = open.indices.last else { return }
        switch open[last] {
        case -1: break
        case -2: open[last] = -3
        case -3: open[last] = -2
        default: open[last] -= 1
        }
    }

    private mutating func closeFinished(
        _ open: inout [Int], in bytes: Span<UInt8>
    ) throws(WireError) {
        while let last = open.last {
            if last > 0 { return }
            if last < 0 {
                guard offset < bytes.count else { throw WireError(.truncated, at: offset) }
                guard bytes[offset] == 0xff else { return }
                guard last != -3 else { throw WireError(.malformed(initialByte: 0xff), at: offset) }
                offset += 1
            }
            open.removeLast()
            countItem(&open)
        }
    }
}

// MARK: - Looking into spans
extension Span where Element == UInt8 {
    /// The `byteCount` bytes at `start`, lowest first, as one number; `byteCount` is 0 to 8.
    @inlinable
    public func word(at start: Int, byteCount: Int) -> UInt64 {
        precondition(start >= 0 && byteCount >= 0 && count &- start >= byteCount)
        var value: UInt64 = 0
        for index in 0..<byteCount {
            value |= UInt64(self[start &+ index]) &<< UInt64(8 &* index)
        }
        return value
    }

    /// The text of a name, with replacement characters where it is not UTF-8: for errors.
    public func text(_ name: WireName) -> String {
        var copy: [UInt8] = []
        copy.append(contentsOf: self, name.range)
        return String(decoding: copy, as: UTF8.self)
    }

    /// Whether the bytes at two ranges of equal length are the same.
    func holds(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        for index in 0..<left.count
        where self[left.lowerBound + index] != self[right.lowerBound + index] { return false }
        return true
    }

    func isText(_ range: Range<Int>) -> Bool {
        (try? UTF8Span(validating: extracting(range))) != nil
    }
}
