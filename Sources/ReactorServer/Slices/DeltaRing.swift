import DequeModule
import ReactorBytes
import ReactorWire

/// The delta frames of the last turns, for clients that come back.
struct DeltaRing {
    private struct Entry {
        /// Sequence before the entry's first transaction.
        var after: UInt64
        var sequence: UInt64
        var deltas: ByteSlice
    }

    private var entries = Deque<Entry>()
    private(set) var byteCount = 0
    /// Most bytes kept; the oldest turns are forgotten beyond it.
    let bytesMax: Int
    /// Bytes that one search reads at most.
    let searchBytesMax: Int
    // because a turn of one action costs an entry as well as its bytes
    private static let entryBytes = 96

    init(bytesMax: Int, searchBytesMax: Int) {
        self.bytesMax = bytesMax
        self.searchBytesMax = searchBytesMax
    }

    /// Forgets everything.
    mutating func removeAll() {
        entries.removeAll()
        byteCount = 0
    }

    /// Keeps a turn's deltas, and forgets the oldest turns beyond the budget.
    mutating func append(after: UInt64, sequence: UInt64, deltas: ByteSlice) {
        entries.append(Entry(after: after, sequence: sequence, deltas: deltas))
        // because an entry keeps the whole buffer, written or not
        byteCount += deltas.storage.count + Self.entryBytes
        while byteCount > bytesMax, let oldest = entries.popFirst() {
            byteCount -= oldest.deltas.storage.count + Self.entryBytes
        }
    }

    /// The sequence behind which everything is here; nil where nothing is.
    var start: UInt64? { entries.first?.after }

    /// The frames of node `number` after `sequence`, in order; `nil` if they are not all there,
    /// or too far back to look for.
    func frames(of number: UInt32, after sequence: UInt64, upTo last: UInt64) -> [UInt8]? {
        if sequence >= last { return [] }
        guard let oldest = entries.first, oldest.after <= sequence else { return nil }
        var frames: [UInt8] = []
        var searched = 0
        for index in firstIndex(after: sequence)..<entries.count {
            searched += entries[index].deltas.range.count + Self.entryBytes
            guard searched <= searchBytesMax else { return nil }
            let deltas = entries[index].deltas
            Self.copy(
                from: deltas.storage, deltas.range, of: number, after: sequence, into: &frames)
        }
        return frames
    }

    /// Index of the first entry that ends after `sequence`.
    private func firstIndex(after sequence: UInt64) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Appends the frames of node `number` between two sequences that stand in a range of `deltas`.
    static func copy(
        from deltas: [UInt8], _ range: Range<Int>, of number: UInt32, after sequence: UInt64,
        upTo last: UInt64 = .max, into frames: inout [UInt8]
    ) {
        let bytes = deltas.span
        var offset = range.lowerBound
        while offset < range.upperBound {
            // because these are our own frames: a header is always whole and valid
            guard
                let header = try? FrameHeader.decode(
                    bytes, at: offset, frameBytesMax: Int(UInt32.max))
            else { preconditionFailure("the ring holds \(offset) bytes of frames and no next") }
            let end = offset + FrameHeader.byteCount + Int(header.length)
            if header.id == number, header.number > sequence, header.number <= last {
                frames.append(contentsOf: bytes, offset..<end)
            }
            offset = end
        }
    }
}
