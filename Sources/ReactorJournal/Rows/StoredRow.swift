import ReactorBytes

/// A row as it is written: its columns, and its bytes, compressed if that saves space.
struct StoredRow: Sendable {
    /// Bytes of a row as written.
    struct Blob: Sendable {
        let bytes: [UInt8]
        let range: Range<Int>
        /// Size before compression; nil if not compressed.
        let unpackedByteCount: UInt64?

        init(_ bytes: [UInt8], _ range: Range<Int>) {
            if let packed = Packing.pack(bytes.span.extracting(range)) {
                self.bytes = packed
                self.range = 0..<packed.count
                unpackedByteCount = UInt64(range.count)
            } else {
                self.bytes = bytes
                self.range = range
                unpackedByteCount = nil
            }
        }

        init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }
    }

    /// The position after the row.
    let position: JournalPosition
    let after: UInt64
    let deltas: Blob
    let facts: Blob

    /// Bytes to be written.
    var byteCount: Int { deltas.range.count + facts.range.count }

    /// Creates the row of a batch after `position`. *Throws*: if the batch does not follow.
    init(
        _ batch: Batch, behind position: JournalPosition, at time: Int64, in file: String
    ) throws(JournalError) {
        self.position = try position.next(batch, at: time, in: file)
        after = batch.after
        deltas = Blob(batch.deltas.storage, batch.deltas.range)
        facts = Blob(batch.facts)
    }

    /// Converts a row that was read.
    init(_ row: JournalRow) {
        position = row.position
        after = row.after
        deltas = Blob(row.deltas)
        facts = Blob(row.facts)
    }
}
