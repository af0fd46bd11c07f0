import DequeModule
import ReactorBytes
import ReactorWire

/// The delta frames of the last turns, for clients that reconnect.
///
/// The frames of many turns share a block of memory, so that a turn costs a copy of its frames and no
/// allocation. A block is released with the last of its turns.
///
/// *Shape*: in the order of the calls, which is the order of sequences; the journal checks that order
/// for its rows. ``invariants()`` states the invariants.
final class DeltaRing {
    private struct Entry {
        /// Sequence before the entry's first transaction.
        let after: UInt64
        /// Sequence of its last transaction.
        let sequence: UInt64
        /// The block that holds its frames, counted from the first one ever made.
        let block: Int
        /// The frames in the block.
        let range: Range<Int>
    }

    private let entryCell = Cell(UniqueDeque<Entry>())
    private let blockCell = Cell(UniqueDeque<ByteBuffer>())
    /// Blocks that were released, or dropped with all entries.
    private var releasedBlockCount = 0
    /// A released block, whose memory the next block uses.
    private var spare: ByteBuffer?
    private(set) var byteCount = 0
    /// Maximum number of bytes; above it the oldest turns are dropped.
    private(set) var bytesMax: Int
    /// Maximum number of bytes that one search reads.
    private(set) var searchBytesMax: Int
    /// Bytes of a block, unless one turn needs more.
    private let blockBytes: Int
    /// What an entry costs besides its bytes.
    private static let entryBytes = MemoryLayout<Entry>.stride

    private var entries: UniqueDeque<Entry> {
        @inline(__always) _read { yield entryCell.value }
        @inline(__always) _modify { yield &entryCell.value }
    }
    private var blocks: UniqueDeque<ByteBuffer> {
        @inline(__always) _read { yield blockCell.value }
        @inline(__always) _modify { yield &blockCell.value }
    }

    init(bytesMax: Int, searchBytesMax: Int) {
        self.bytesMax = bytesMax
        self.searchBytesMax = searchBytesMax
        blockBytes = max(1, min(64 << 10, bytesMax / 16))
    }

    /// Changes the limits, and drops the oldest turns beyond them.
    func setLimits(bytesMax: Int, searchBytesMax: Int) {
        self.bytesMax = bytesMax
        self.searchBytesMax = searchBytesMax
        while byteCount > bytesMax, !entries.isEmpty { dropOldest() }
        invariants()
    }

    /// Drops everything.
    func removeAll() {
        releasedBlockCount += blocks.count
        entries.removeAll()
        blocks.removeAll()
        spare = nil
        byteCount = 0
        invariants()
    }

    /// Copies a turn's deltas, and drops the oldest turns beyond the limit.
    func keep(after: UInt64, sequence: UInt64, deltas: Span<UInt8>) {
        guard deltas.count + Self.entryBytes <= bytesMax else { return removeAll() }
        if blocks.isEmpty || !blocks[blocks.count - 1].hasRoom(for: deltas.count) {
            beginBlock(for: deltas.count)
        }
        let index = blocks.count - 1
        let start = blocks[index].count
        blocks[index].append(deltas)
        entries.append(
            Entry(
                after: after, sequence: sequence, block: releasedBlockCount + index,
                range: start..<blocks[index].count))
        byteCount += Self.entryBytes
        while byteCount > bytesMax, !entries.isEmpty { dropOldest() }
        invariants()
    }

    private func beginBlock(for deltaByteCount: Int) {
        let taken = deltaByteCount <= blockBytes ? spare.take() : nil
        let block = taken ?? ByteBuffer(capacity: max(deltaByteCount, blockBytes))
        byteCount += block.capacity
        blocks.append(block)
    }

    private func dropOldest() {
        let oldest = entries.removeFirst()
        byteCount -= Self.entryBytes
        if !entries.isEmpty, entries[0].block == oldest.block { return }
        var block = blocks.removeFirst()
        releasedBlockCount += 1
        byteCount -= block.capacity
        guard block.capacity == blockBytes else { return }
        block.truncate(to: 0)
        spare = consume block
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            entries.isEmpty == (byteCount == 0) && entries.isEmpty == blocks.isEmpty,
            "\(entries.count) turns have \(byteCount) bytes in \(blocks.count) blocks")
        assert(byteCount <= bytesMax, "\(byteCount) bytes of deltas are kept")
        assert(entries.isEmpty || entries[0].block == releasedBlockCount, "a block has no turn")
        assert(
            entries.isEmpty
                || entries[entries.count - 1].block == releasedBlockCount + blocks.count - 1,
            "a block has no turn")
    }

    /// The ring has every delta after this sequence; nil if it is empty.
    var start: UInt64? { entries.isEmpty ? nil : entries[0].after }

    /// The frames of node `number` after `sequence`, in order; nil if the ring does not have them
    /// all, or the search would read more than ``searchBytesMax``.
    func frames(of number: UInt32, after sequence: UInt64, upTo last: UInt64) -> [UInt8]? {
        if sequence >= last { return [] }
        guard let start, start <= sequence else { return nil }
        var frames: [UInt8] = []
        var searched = 0
        for index in firstIndex(after: sequence)..<entries.count {
            let entry = entries[index]
            searched += entry.range.count + Self.entryBytes
            guard searched <= searchBytesMax else { return nil }
            blocks[entry.block - releasedBlockCount].withBytes { bytes in
                Self.copy(
                    from: bytes.extracting(entry.range), of: number, after: sequence, into: &frames)
            }
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

    /// Appends the frames of node `number` between two sequences that are among `deltas`.
    static func copy(
        from deltas: Span<UInt8>, of number: UInt32, after sequence: UInt64,
        upTo last: UInt64 = .max, into frames: inout [UInt8]
    ) {
        var offset = 0
        while offset < deltas.count {
            // The server wrote these frames: each header is whole and valid.
            guard
                let header = try? FrameHeader.decode(
                    deltas, at: offset, frameBytesMax: Int(UInt32.max))
            else { preconditionFailure("the ring holds \(offset) bytes of frames and no next") }
            let end = offset + FrameHeader.byteCount + Int(header.length)
            if header.id == number, header.number > sequence, header.number <= last {
                frames.append(contentsOf: deltas, offset..<end)
            }
            offset = end
        }
    }
}

extension HistoryQuestion {
    /// Appends the frames of a row's `deltas` that answer the question. Returns whether they still
    /// fit an answer.
    package func collect(from deltas: [UInt8], into frames: inout [UInt8]) -> Bool {
        DeltaRing.copy(from: deltas.span, of: node, after: after, upTo: upTo, into: &frames)
        return frames.count <= byteCountMax
    }
}
