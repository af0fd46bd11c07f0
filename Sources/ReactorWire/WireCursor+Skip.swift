/// An unknown name of a map that is being read.
@usableFromInline
struct WireStranger: Sendable {
    /// Seeded per process, so that a peer cannot choose names that collide.
    let hash: Int
    let range: Range<Int>
}

extension WireCursor {
    /// Most names in one map that its type does not know: the search for a second one is linear.
    @usableFromInline static var strangersMax: Int32 { 256 }

    /// Moves past the value of a name that the type does not know, and refuses a second value
    /// under the same name.
    ///
    /// *Throws*: ``WireError/Condition/unknownField(_:)`` where what is read was kept.
    public mutating func skipStranger(
        _ name: WireName, in bytes: Span<UInt8>, _ map: inout WireContainer
    ) throws(WireError) {
        guard strangersMax > 0 else {
            let text = bytes.text(name)
            throw WireError(.unknownField(text), at: name.start, path: [text])
        }
        try skipRemoved(name, in: bytes, &map)
    }

    /// Moves past the value of a name that the type had once, and refuses a second value under the
    /// same name.
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
        map.strangers.append(stranger)
        try skip(in: bytes)
    }

    /// Moves past one value of any shape, checking that it is well-formed.
    ///
    /// What is skipped means nothing here: keys of any kind pass, also the same key twice.
    public mutating func skip(in bytes: Span<UInt8>) throws(WireError) {
        // because nesting is the peer's choice: an explicit stack of counts, never recursion
        var open: [Int] = []
        repeat {
            let start = offset
            let head = try head(in: bytes)
            switch head.major {
            case 0, 1: break
            case 2, 3: try skipString(head, at: start, in: bytes)
            case 4, 5:
                let perElement = head.major == 4 ? 1 : 2
                let container = try enter(
                    head, bytesPerElementMin: perElement, at: start, in: bytes)
                // because an indefinite map must hold whole pairs: -1 is an array's item, -2 a
                // map's key, -3 its value
                open.append(head.isIndefinite ? -perElement : container.left * perElement)
                try closeFinished(&open, in: bytes)
                continue
            default:
                if head.isIndefinite { throw WireError(.malformed(initialByte: 0xff), at: start) }
            }
            countItem(&open)
            try closeFinished(&open, in: bytes)
        } while !open.isEmpty
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

    private func countItem(_ open: inout [Int]) {
        guard let last = open.indices.last else { return }
        switch open[last] {
        case -1: break
        case -2: open[last] = -3
        case -3: open[last] = -2
        default: open[last] -= 1
        }
    }

    /// Leaves every innermost container that has all its items.
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
            depthLeft += 1
            countItem(&open)
        }
    }
}
