/// Finds the row that holds a transaction, by halving.
///
/// *Place*: beneath a reader that begins at a sequence. Numbers of rows are dense, the rows of an
/// epoch stand together, and sequences rise in it: so there is no index, and each step reads one
/// row by its number. What is found is what the rows say of themselves; the reader verifies.
struct JournalSearch {
    let table: BatchTable
    /// Where the first row that is kept stands.
    let anchor: JournalPosition
    /// The last row.
    let last: UInt64

    /// The number of the row before the one with the first transaction behind `sequence`.
    ///
    /// *Throws*: ``JournalError/trimmed(file:upTo:)`` where that is gone, and
    /// ``JournalError/absent(file:epoch:sequence:)`` where it never was.
    /// *Cost*: reads 2 log n rows for each epoch from the last to the one asked for.
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

    /// The first row that `isBehind`, as are all that follow it, the last of all included.
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
