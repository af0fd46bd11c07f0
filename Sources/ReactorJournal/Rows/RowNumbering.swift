package import ReactorBytes

/// Gives the batches of a history their rows: number, time and chain.
///
///     var rows = RowNumbering(after: position)
///     let row = try rows.row(of: batch, at: time)     // stored elsewhere, then here
///
/// *Place*: for a journal whose rows are agreed on with other daemons before they are stored. The
/// committer of a journal that is alone numbers its rows itself. *Shape*: the time of a row is never
/// before that of the row before it, whichever daemon has numbered that one.
package struct RowNumbering: Sendable {
    /// The position after the last row.
    package private(set) var position: JournalPosition

    /// Continues after `position`.
    package init(after position: JournalPosition) { self.position = position }

    /// Gives a batch its row. `time` is the wall clock's, in milliseconds since 1970.
    ///
    /// *Throws*: ``JournalError/damage(_:)`` if the batch does not follow the last row.
    package mutating func row(of batch: Batch, at time: Int64) throws(JournalError) -> JournalRow {
        let next = try position.next(batch, at: max(time, position.time), in: "the log")
        position = next
        return JournalRow(
            number: next.number, epoch: next.epoch, after: batch.after, sequence: next.sequence,
            time: next.time, deltas: Array(batch.deltas.storage[batch.deltas.range]),
            facts: batch.facts, chain: next.chain)
    }

    /// Goes back to `position`, as the rows after it were given up.
    package mutating func goBack(to position: JournalPosition) { self.position = position }
}

extension JournalPosition {
    /// The position after the row of a batch that follows this one.
    ///
    /// *Throws*: if the batch does not follow; `file` names the history.
    func next(_ batch: Batch, at time: Int64, in file: String) throws(JournalError) -> Self {
        guard batch.epoch != epoch || batch.after == sequence, batch.sequence >= batch.after else {
            throw .damage(
                JournalDamage(
                    file: file, row: number + 1, expected: "a batch after \(sequence)",
                    got: "one from \(batch.after) to \(batch.sequence)"))
        }
        var next = JournalPosition(
            number: number + 1, epoch: batch.epoch, sequence: batch.sequence, time: time, chain: 0)
        next.chain = JournalRow.chain(
            of: next, after: batch.after, batch.deltas.storage.span.extracting(batch.deltas.range),
            batch.facts.span, behind: chain)
        return next
    }
}
