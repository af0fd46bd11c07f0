public import ReactorBytes

// What the decoder asks of the bytes it reads, without copying them.

extension Span where Element == UInt8 {
    /// The `byteCount` bytes at `start`, lowest first, as one number; `byteCount` is 0 to 8.
    @inlinable
    public func word(at start: Int, byteCount: Int) -> UInt64 {
        ByteStore.word(in: self, at: start, byteCount: byteCount)
    }

    /// The text of a name, with replacement characters where it is not UTF-8: for errors.
    public func text(_ name: WireName) -> String {
        var copy: [UInt8] = []
        copy.append(contentsOf: self, name.range)
        return String(decoding: copy, as: UTF8.self)
    }

    /// Whether the bytes at two ranges are the same.
    func holds(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count
        where self[left.lowerBound + index] != self[right.lowerBound + index] { return false }
        return true
    }

    /// A hash of the bytes at `range`, another one in every process.
    func hash(of range: Range<Int>) -> Int {
        var hasher = Hasher()
        extracting(range).feed(&hasher)
        return hasher.finalize()
    }

    /// Whether the bytes at `range` are UTF-8.
    func isText(_ range: Range<Int>) -> Bool {
        (try? UTF8Span(validating: extracting(range))) != nil
    }

    /// Hashes the bytes and their count, a word at a time.
    @inlinable
    func feed(_ hasher: inout Hasher) {
        var index = 0
        while count &- index >= 8 {
            hasher.combine(word(at: index, byteCount: 8))
            index &+= 8
        }
        hasher.combine(word(at: index, byteCount: count &- index))
        hasher.combine(count)
    }

    /// Whether both hold the same bytes.
    @inlinable
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while count &- index >= 8 {
            guard word(at: index, byteCount: 8) == other.word(at: index, byteCount: 8) else {
                return false
            }
            index &+= 8
        }
        let rest = count &- index
        return word(at: index, byteCount: rest) == other.word(at: index, byteCount: rest)
    }

    /// Whether these bytes come before as many others.
    @inlinable
    func precedes(_ other: Span<UInt8>) -> Bool {
        var index = 0
        while count &- index >= 8 {
            let left = word(at: index, byteCount: 8)
            let right = other.word(at: index, byteCount: 8)
            if left != right { return left.byteSwapped < right.byteSwapped }
            index &+= 8
        }
        let rest = count &- index
        return word(at: index, byteCount: rest).byteSwapped
            < other.word(at: index, byteCount: rest).byteSwapped
    }
}

extension Array where Element == UInt8 {
    /// Appends the bytes that stand at `range` of `span`.
    @inlinable
    public mutating func append(contentsOf span: Span<UInt8>, _ range: Range<Int>) {
        ByteStore.append(span, range, to: &self)
    }
}
