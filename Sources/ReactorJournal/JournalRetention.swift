/// How much history is kept for queries, beyond the rows that a start needs.
public struct JournalRetention: Equatable, Sendable {
    /// Maximum age of the kept rows, by their times.
    public var duration: Duration
    /// Maximum bytes of the kept rows; the newest are kept.
    public var byteCount: Int

    /// Keeps rows no older than `duration`, as far as they fit into `byteCount`.
    public init(duration: Duration, byteCount: Int) {
        self.duration = duration
        self.byteCount = byteCount
    }

    /// Keeps only the rows that a start needs.
    public static let nothing = JournalRetention(duration: .zero, byteCount: 0)
}

/// The result of trimming.
public struct JournalTrim: Equatable, Sendable {
    /// Number of deleted rows.
    public var rowCount: Int
    /// The position of the first remaining row.
    public var anchor: JournalPosition
}
