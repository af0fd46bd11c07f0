import DequeModule
import ReactorBytes
import ReactorWire

/// The delta frames of the last turns, for clients that come back.
///
/// *Shape*: in the order of the calls, which is that of sequences; the journal checks it for its rows.
/// ``invariants()`` states what holds between two verbs.
struct DeltaRing {
    private struct Entry {
        /// Sequence before the entry's first transaction.
        var after: UInt64
        var sequence: UInt64
        var deltas: ByteSlice
    }

    private var entries = Deque<Entry>()
    private(set) var byteCount = 0
    /// Maximum number of bytes; beyond it the oldest turns are forgotten.
    let bytesMax: Int
    /// Maximum number of bytes that one search reads.
    let searchBytesMax: Int
    /// What an entry costs besides its bytes.
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
    mutating func keep(after: UInt64, sequence: UInt64, deltas: ByteSlice) {
        entries.append(Entry(after: after, sequence: sequence, deltas: deltas))
        // An entry keeps the whole buffer alive.
        byteCount += deltas.storage.count + Self.entryBytes
        while byteCount > bytesMax, let oldest = entries.popFirst() {
            byteCount -= oldest.deltas.storage.count + Self.entryBytes
        }
        invariants()
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            entries.isEmpty == (byteCount == 0), "\(entries.count) turns have \(byteCount) bytes")
        assert(byteCount <= bytesMax || entries.isEmpty, "\(byteCount) bytes of deltas are kept")
    }

    /// The ring holds every delta behind this sequence; nil if it is empty.
    var start: UInt64? { entries.first?.after }

    /// The frames of node `number` after `sequence`, in order; nil if the ring does not hold them all,
    /// or the search would read more than ``searchBytesMax``.
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
            // The server wrote these frames: a header is whole and valid.
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

extension HistoryQuestion {
    /// Appends the frames of `deltas`, which a row holds, that answer the question; answers whether
    /// they still fit an answer.
    package func collect(from deltas: [UInt8], into frames: inout [UInt8]) -> Bool {
        DeltaRing.copy(
            from: deltas, 0..<deltas.count, of: node, after: after, upTo: upTo, into: &frames)
        return frames.count <= byteCountMax
    }
}
