/// An unknown name in a map that is being read.
@usableFromInline
struct WireStranger: Sendable {
    /// Seeded per process, so that a peer cannot choose names that collide.
    let hash: Int
    let range: Range<Int>
}

extension WireCursor {
    /// Maximum unknown names in one map: the search for a duplicate is linear.
    @usableFromInline static var strangersMax: Int32 { 256 }

    /// Skips the value of a name that the type does not know; refuses a second value under the same
    /// name.
    ///
    /// *Throws*: ``WireError/Condition/unknownField(_:)`` in a stored value.
    public mutating func skipStranger(
        _ name: WireName, in bytes: Span<UInt8>, _ map: inout WireContainer
    ) throws(WireError) {
        guard strangersMax > 0 else {
            let text = bytes.text(name)
            throw WireError(.unknownField(text), at: name.start, path: [text])
        }
        try skipRemoved(name, in: bytes, &map)
    }

    /// Skips the value of a name that an earlier version of the type had; refuses a second value
    /// under the same name.
    public mutating func skipRemoved(
        _ name: WireName, in bytes: Span<UInt8>, _ map: inout WireContainer
    ) throws(WireError) {
        let stranger = WireStranger(hash: bytes.hash(of: name.range), range: name.range)
        for other in map.strangers where other.hash == stranger.hash {
            if bytes.holds(other.range, name.range) {
                throw WireError(.duplicateKey(bytes.text(name)), at: name.start)
            }
        }
        guard map.strangers.count < Self.strangersMax else {
            throw WireError(
                .refused("more than \(Self.strangersMax) unknown fields"), at: name.start)
        }
        guard bytes.isText(name.range) else { throw WireError(.invalidText, at: name.start) }
        map.strangers.append(stranger)
        try skip(in: bytes)
    }

    /// Skips one value of any shape. The same bounds apply as for ``WireValue``: a value that it
    /// refuses is not skipped.
    public mutating func skip(in bytes: Span<UInt8>) throws(WireError) {
        // An explicit stack instead of recursion, since the peer chooses the nesting.
        var open: [SkippedContainer] = []
        repeat {
            if open.last?.isKeyNext ?? false { try skipKey(in: bytes, &open) }
            let start = offset
            let head = try head(in: bytes)
            switch head.major {
            case 0, 1: break
            case 2, 3: try skipString(head, at: start, in: bytes)
            case 4, 5:
                let isMap = head.major == 5
                let container = try enter(
                    head, bytesPerElementMin: isMap ? 2 : 1, at: start, in: bytes)
                open.append(SkippedContainer(container, isMap: isMap))
                try leaveFinished(&open, in: bytes)
                continue
            default: try skipSimple(head, at: start)
            }
            try leaveFinished(&open, in: bytes)
        } while !open.isEmpty
    }

    /// Leaves every innermost container that is complete, and begins the next item of the enclosing
    /// one.
    private mutating func leaveFinished(
        _ open: inout [SkippedContainer], in bytes: Span<UInt8>
    ) throws(WireError) {
        while let last = open.indices.last {
            if try nextElement(in: bytes, &open[last].container) {
                open[last].isKeyNext = open[last].isMap
                return
            }
            if let key = open[last].secondKey(in: bytes) {
                throw WireError(.duplicateKey(key.text(in: bytes)), at: key.range.lowerBound)
            }
            open.removeLast()
        }
    }

    /// Skips the key of a pair.
    private mutating func skipKey(
        in bytes: Span<UInt8>, _ open: inout [SkippedContainer]
    ) throws(WireError) {
        let last = open.count - 1
        open[last].isKeyNext = false
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 3 else { throw mismatch("text", head, at: start) }
        if head.isIndefinite {
            let text = try text(head, at: start, in: bytes)
            open[last].add(SkippedKey(joined: Array(text.utf8), at: start..<offset))
        } else {
            let range = try take(head.argument, in: bytes, at: start)
            guard bytes.isText(range) else { throw WireError(.invalidText, at: start) }
            if open[last].mayRepeat {
                open[last].add(SkippedKey(hash: bytes.hash(of: range), range: range))
            }
        }
    }

    private func skipSimple(_ head: WireHead, at start: Int) throws(WireError) {
        switch head.info {
        case 20...23, 25...27: return
        case 31: throw WireError(.malformed(initialByte: 0xff), at: start)
        default: throw mismatch("a value", head, at: start)
        }
    }

    private mutating func skipString(
        _ head: WireHead, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) {
        guard head.isIndefinite else {
            return try skipChunk(head, at: start, in: bytes)
        }
        while true {
            let chunkStart = offset
            let chunk = try rawHead(in: bytes)
            if chunk.major == 7, chunk.isIndefinite { return }
            guard chunk.major == head.major, !chunk.isIndefinite else {
                throw mismatch("a chunk of \(head.kind)", chunk, at: chunkStart)
            }
            try skipChunk(chunk, at: chunkStart, in: bytes)
        }
    }

    private mutating func skipChunk(
        _ chunk: WireHead, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) {
        let range = try take(chunk.argument, in: bytes, at: start)
        guard chunk.major == 2 || bytes.isText(range) else {
            throw WireError(.invalidText, at: start)
        }
    }
}

/// An array or a map that is being skipped.
private struct SkippedContainer {
    var container: WireContainer
    let isMap: Bool
    /// Whether the next item of a map is a key.
    var isKeyNext = false
    /// Whether a key can occur twice.
    let mayRepeat: Bool
    private var keys: [SkippedKey] = []

    init(_ container: WireContainer, isMap: Bool) {
        self.container = container
        self.isMap = isMap
        mayRepeat = isMap && container.left != 1
    }

    mutating func add(_ key: SkippedKey) { keys.append(key) }

    /// The second occurrence of a key. *Cost*: O(n log n), once per map.
    mutating func secondKey(in bytes: Span<UInt8>) -> SkippedKey? {
        guard keys.count > 1 else { return nil }
        keys.sort { $0.hash < $1.hash }
        for index in 1..<keys.count {
            // Different keys may share a hash, though a peer cannot choose which.
            var other = index - 1
            while other >= 0, keys[other].hash == keys[index].hash {
                if keys[other].isSame(as: keys[index], in: bytes) {
                    let isLater = keys[index].range.lowerBound > keys[other].range.lowerBound
                    return keys[isLater ? index : other]
                }
                other -= 1
            }
        }
        return nil
    }
}

/// A key of a map that is being skipped.
private struct SkippedKey {
    /// Seeded per process.
    let hash: Int
    let range: Range<Int>
    /// The text, if it came in chunks.
    let joined: [UInt8]?

    init(hash: Int, range: Range<Int>) {
        self.hash = hash
        self.range = range
        joined = nil
    }

    init(joined: [UInt8], at range: Range<Int>) {
        hash = joined.span.hash(of: 0..<joined.count)
        self.range = range
        self.joined = joined
    }

    func isSame(as other: SkippedKey, in bytes: Span<UInt8>) -> Bool {
        if joined == nil, other.joined == nil { return bytes.holds(range, other.range) }
        return content(in: bytes) == other.content(in: bytes)
    }

    func text(in bytes: Span<UInt8>) -> String {
        String(decoding: content(in: bytes), as: UTF8.self)
    }

    private func content(in bytes: Span<UInt8>) -> [UInt8] {
        if let joined { return joined }
        var copy: [UInt8] = []
        copy.append(contentsOf: bytes, range)
        return copy
    }
}

/// Fast decoding of bytes in the form that this library writes.
///
/// The encoder writes names in a fixed order, so a constant of up to 24 bytes usually matches,
/// without a look-up. If it does not match, the general decoder continues from the cursor. No value
/// is decoded twice: with a nested value read twice at each of 64 levels, the time would be
/// exponential.
extension WireCursor {
    /// The second byte of a choice that is a map with one key: the head of its case's name. 0 if
    /// the next item is no such choice, or if two more levels of nesting are too deep.
    @inlinable
    @inline(__always)
    public func choiceHead(in bytes: Span<UInt8>) -> UInt8 {
        guard offset >= 0, bytes.count &- offset >= 2, bytes[offset] == 0xa1, depthLeft > 1 else {
            return 0
        }
        return bytes[offset &+ 1]
    }

    /// Moves past the next `byteCount` (1 to 8) bytes if they equal `word`, lowest byte first.
    @inlinable
    @inline(__always)
    public mutating func takes(
        _ word: UInt64, byteCount: Int, in bytes: Span<UInt8>
    ) -> Bool {
        guard offset >= 0, bytes.count &- offset >= byteCount,
            bytes.word(at: offset, byteCount: byteCount) == word
        else { return false }
        offset &+= byteCount
        return true
    }

    /// Moves past the next `byteCount` (9 to 16) bytes if the first eight of them equal `first` and
    /// the last eight equal `last`; the two may overlap.
    @inlinable
    @inline(__always)
    public mutating func takes(
        _ first: UInt64, _ last: UInt64, byteCount: Int, in bytes: Span<UInt8>
    ) -> Bool {
        guard offset >= 0, bytes.count &- offset >= byteCount,
            bytes.word(at: offset, byteCount: 8) == first,
            bytes.word(at: offset &+ byteCount &- 8, byteCount: 8) == last
        else { return false }
        offset &+= byteCount
        return true
    }

    /// Moves past the next `byteCount` (17 to 24) bytes if the first sixteen of them equal `first`
    /// and `second`, and the last eight equal `last`.
    @inlinable
    @inline(__always)
    public mutating func takes(
        _ first: UInt64, _ second: UInt64, _ last: UInt64, byteCount: Int, in bytes: Span<UInt8>
    ) -> Bool {
        guard offset >= 0, bytes.count &- offset >= byteCount,
            bytes.word(at: offset, byteCount: 8) == first,
            bytes.word(at: offset &+ 8, byteCount: 8) == second,
            bytes.word(at: offset &+ byteCount &- 8, byteCount: 8) == last
        else { return false }
        offset &+= byteCount
        return true
    }

    /// Decodes a value two levels down, in a record or an array in a choice.
    @inlinable
    @inline(__always)
    public mutating func expected<Value: WireCodable>(
        _ type: Value.Type, inside outer: StaticString, _ inner: StaticString,
        in bytes: Span<UInt8>
    ) throws(WireError) -> Value {
        depthLeft &-= 2
        do throws(WireError) {
            let value = try Value.decode(bytes, &self)
            depthLeft &+= 2
            return value
        } catch {
            throw error.inside(inner.description).inside(outer.description)
        }
    }

    /// Decodes a value one level down, in a choice.
    @inlinable
    @inline(__always)
    public mutating func expected<Value: WireCodable>(
        _ type: Value.Type, inside outer: StaticString, in bytes: Span<UInt8>
    ) throws(WireError) -> Value {
        depthLeft &-= 1
        do throws(WireError) {
            let value = try Value.decode(bytes, &self)
            depthLeft &+= 1
            return value
        } catch {
            throw error.inside(outer.description)
        }
    }

    /// Whether another pair of a counted map follows; the pair is counted as read only when its key
    /// matches.
    @inlinable
    @inline(__always)
    public func hasPair(_ map: borrowing WireContainer) -> Bool { map.left > 0 }

    /// Decodes the value of a key that ``takes(_:byteCount:in:)`` has matched.
    @inlinable
    @inline(__always)
    public mutating func expected<Value: WireCodable>(
        _ name: StaticString, into value: inout Value?, in bytes: Span<UInt8>,
        _ map: inout WireContainer
    ) throws(WireError) {
        map.left &-= 1
        do throws(WireError) {
            value = try Value.decode(bytes, &self)
        } catch {
            throw error.inside(name.description)
        }
    }

    /// The same as ``expected(_:into:in:_:)``, with the field's type.
    @inlinable
    @inline(__always)
    public mutating func expected<Value: WireCodable>(
        _ name: StaticString, _ type: Value.Type, into value: inout Value?,
        in bytes: Span<UInt8>, _ map: inout WireContainer
    ) throws(WireError) {
        try expected(name, into: &value, in: bytes, &map)
    }
}
