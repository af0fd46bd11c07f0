/// How much history is kept for queries, beyond the rows that a start needs.
package struct JournalRetention: Equatable, Sendable {
    /// Maximum age of the kept rows, by their times.
    package var duration: Duration
    /// Maximum bytes of the kept rows; the newest are kept.
    package var byteCount: Int

    /// Keeps rows no older than `duration`, as far as they fit into `byteCount`.
    package init(duration: Duration, byteCount: Int) {
        self.duration = duration
        self.byteCount = byteCount
    }

    /// Keeps only the rows that a start needs.
    package static let nothing = JournalRetention(duration: .zero, byteCount: 0)
}

/// The result of trimming.
package struct JournalTrim: Equatable, Sendable {
    /// Number of deleted rows.
    package var rowCount: Int
    /// The position of the first remaining row.
    package var anchor: JournalPosition
}
