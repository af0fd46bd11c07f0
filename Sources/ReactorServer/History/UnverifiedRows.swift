package import ReactorBytes

/// The rows of a replay that no checksum verifies: those after the last probe whose sums are in the
/// history.
///
/// *Place*: ``Recovery`` counts the rows that it replays; the doctor, which has no reactors, counts
/// the rows that it reads. ``invariants()`` states the invariants.
package struct UnverifiedRows: Equatable, Sendable, CustomStringConvertible {
    /// Rows with a change, and the sequences of their changes.
    private struct Rows: Equatable, Sendable {
        var count: UInt64 = 0
        var first: UInt64 = 0
        var last: UInt64 = 0

        mutating func add(_ batch: Batch) {
            if count == 0 { first = batch.after + 1 }
            count += 1
            last = batch.sequence
        }
    }

    /// The rows after the last verified state.
    private var rows = Rows()
    /// The rows after a probe whose sums are not read yet; nil without such a probe.
    private var later: Rows?

    package init() {}

    /// Number of rows with a change.
    package var count: UInt64 { rows.count }
    /// The sequence of the last verified state; nil if there are no rows.
    package var verifiedSequence: UInt64? { rows.count == 0 ? nil : rows.first - 1 }

    /// The number of rows, and their sequences.
    package var description: String {
        switch rows.count {
        case 0: "no rows"
        case 1 where rows.first == rows.last: "1 row, of sequence \(rows.first)"
        case 1: "1 row, of sequences \(rows.first) to \(rows.last)"
        default: "\(rows.count) rows, of sequences \(rows.first) to \(rows.last)"
        }
    }

    /// Adds a row. Rows without a change lead to no other state.
    package mutating func add(_ batch: Batch) {
        guard batch.sequence != batch.after else { return }
        rows.add(batch)
        later?.add(batch)
        invariants()
    }

    /// Records that the state after the last row was probed.
    package mutating func probe() { later = Rows() }

    /// Forgets a probe whose sums are not in the history.
    package mutating func dropProbe() { later = nil }

    /// Records that the last probe has its sums, and that they agree.
    package mutating func verify() {
        guard let later else { return }
        rows = later
        self.later = nil
        invariants()
    }

    /// Adds a row with its facts, which the caller cannot compare with a state.
    package mutating func add(_ batch: Batch, _ facts: [TurnFact]) {
        if facts.contains(where: { if case .layout = $0 { true } else { false } }) { dropProbe() }
        add(batch)
        for fact in facts {
            switch fact {
            case .probe: probe()
            case .sums: verify()
            default: break
            }
        }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(rows.count == 0 || rows.first <= rows.last, "rows end before they begin")
        assert(later?.count ?? 0 <= rows.count, "more rows after a probe than after the last sums")
    }
}
