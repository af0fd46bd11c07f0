/// Finds the row that contains a transaction, by binary search.
///
/// *Place*: used by a reader that begins at a sequence. Row numbers are dense, the rows of an epoch
/// are contiguous, and sequences rise within it, so no index is needed and each step reads one row
/// by its number. The search trusts the rows' columns; the reader verifies the rows.
struct JournalSearch {
    let table: BatchTable
    /// The position of the first row in the journal.
    let anchor: JournalPosition
    /// The number of the last row.
    let last: UInt64

    /// Returns the number of the row before the one with the first transaction after `sequence`.
    ///
    /// *Throws*: ``JournalError/trimmed(file:upTo:)`` if that has been trimmed, and
    /// ``JournalError/absent(file:epoch:sequence:)`` if it never existed. *Cost*: reads 2 log n
    /// rows for each epoch from the last one to `epoch`.
    func row(before sequence: UInt64, of epoch: UInt64) throws -> UInt64 {
        var end = last
        while end > anchor.number {
            let newest = try table.transactions(of: end)
            let begin = try first(in: anchor.number + 1...end) {
                try table.transactions(of: $0).epoch == newest.epoch
            }
            guard newest.epoch == epoch else {
                end = begin - 1
                continue
            }
            let oldest = try table.transactions(of: begin)
            if sequence < oldest.after, begin == anchor.number + 1 { break }
            guard (oldest.after...max(oldest.after, newest.sequence)).contains(sequence) else {
                throw absent(epoch, sequence)
            }
            guard sequence < newest.sequence else { return end }
            return try first(in: begin...end) {
                try table.transactions(of: $0).sequence > sequence
            } - 1
        }
        if anchor.epoch == epoch, anchor.sequence == sequence { return anchor.number }
        guard anchor.number > 0, anchor.epoch != epoch || sequence < anchor.sequence else {
            throw absent(epoch, sequence)
        }
        throw JournalError.trimmed(file: table.file, upTo: anchor.number)
    }

    /// Returns the first row for which `isBehind` is true. It must be true for all later rows,
    /// including the last.
    private func first(
        in rows: ClosedRange<UInt64>, _ isBehind: (UInt64) throws -> Bool
    ) throws -> UInt64 {
        var (low, high) = (rows.lowerBound, rows.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if try isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func absent(_ epoch: UInt64, _ sequence: UInt64) -> JournalError {
        .absent(file: table.file, epoch: epoch, sequence: sequence)
    }
}
