public import ReactorBytes

// Operations of the decoder on the bytes it reads, without copies.

extension Span where Element == UInt8 {
    /// The `byteCount` bytes at `start`, lowest first, as one number; `byteCount` is 0 to 8.
    @inlinable @inline(__always)
    public func word(at start: Int, byteCount: Int) -> UInt64 {
        ByteWords.word(in: self, at: start, byteCount: byteCount)
    }

    /// The text of a name, with replacement characters if it is not UTF-8: for error texts.
    public func text(_ name: WireName) -> String {
        var copy: [UInt8] = []
        copy.append(contentsOf: self, name.range)
        return String(decoding: copy, as: UTF8.self)
    }

    /// Whether the bytes of two ranges are equal.
    func holds(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count
        where self[left.lowerBound + index] != self[right.lowerBound + index] { return false }
        return true
    }

    /// A hash of the bytes at `range`; it differs between processes.
    func hash(of range: Range<Int>) -> Int {
        var hasher = Hasher()
        extracting(range).feed(&hasher)
        return hasher.finalize()
    }

    /// Whether the bytes at `range` are UTF-8.
    func isText(_ range: Range<Int>) -> Bool {
        (try? UTF8Span(validating: extracting(range))) != nil
    }
}

// MARK: - Words of eight bytes
extension Span where Element == UInt8 {
    // A word of fixed size compiles to one load; `word(at:byteCount:)` is a loop.
    @inlinable @inline(__always)
    func wholeWord(at start: Int) -> UInt64 {
        precondition(start >= 0 && count &- start >= 8)
        return UInt64(self[start]) | UInt64(self[start &+ 1]) &<< 8
            | UInt64(self[start &+ 2]) &<< 16 | UInt64(self[start &+ 3]) &<< 24
            | UInt64(self[start &+ 4]) &<< 32 | UInt64(self[start &+ 5]) &<< 40
            | UInt64(self[start &+ 6]) &<< 48 | UInt64(self[start &+ 7]) &<< 56
    }

    /// Hashes the bytes and their count, a word at a time.
    @inlinable
    func feed(_ hasher: inout Hasher) {
        if count >= 8 {
            var index = 0
            while count &- index > 8 {
                hasher.combine(wholeWord(at: index))
                index &+= 8
            }
            // The last word may overlap the one before, so no byte is left over.
            hasher.combine(wholeWord(at: count &- 8))
        } else {
            hasher.combine(word(at: 0, byteCount: count))
        }
        hasher.combine(count)
    }

    /// Whether both have the same bytes.
    @inlinable
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else {
            return word(at: 0, byteCount: count) == other.word(at: 0, byteCount: count)
        }
        var index = 0
        while count &- index > 8 {
            if wholeWord(at: index) != other.wholeWord(at: index) { return false }
            index &+= 8
        }
        return wholeWord(at: count &- 8) == other.wholeWord(at: count &- 8)
    }

    /// Whether these bytes sort before `other`, which has the same count.
    @inlinable
    func precedes(_ other: Span<UInt8>) -> Bool {
        var index = 0
        while count &- index >= 8 {
            let left = wholeWord(at: index)
            let right = other.wholeWord(at: index)
            if left != right { return left.byteSwapped < right.byteSwapped }
            index &+= 8
        }
        let rest = count &- index
        return word(at: index, byteCount: rest).byteSwapped
            < other.word(at: index, byteCount: rest).byteSwapped
    }

    /// The first eight bytes as a number with the same order; zeros replace missing bytes.
    @inlinable var leadingWord: UInt64 {
        (count >= 8 ? wholeWord(at: 0) : word(at: 0, byteCount: count)).byteSwapped
    }
}

extension Array where Element == UInt8 {
    /// Copies the bytes of `span`.
    package init(copying span: Span<UInt8>) {
        self = []
        append(contentsOf: span, 0..<span.count)
    }

    /// Appends the bytes at `range` of `span`.
    @inlinable
    package mutating func append(contentsOf span: Span<UInt8>, _ range: Range<Int>) {
        ByteWords.append(span, range, to: &self)
    }
}
