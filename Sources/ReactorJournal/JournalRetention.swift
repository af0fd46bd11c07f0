/// How much of a journal stays for readers of history, though a snapshot stands for it.
public struct JournalRetention: Equatable, Sendable {
    /// For how long rows are kept at most, by the times that they hold.
    public var duration: Duration
    /// How many bytes of rows are kept at most, the newest.
    public var byteCount: Int

    /// Keeps what is no older than `duration`, as far as it fits into `byteCount`.
    public init(duration: Duration, byteCount: Int) {
        self.duration = duration
        self.byteCount = byteCount
    }

    /// Keeps nothing that a snapshot stands for.
    public static let nothing = JournalRetention(duration: .zero, byteCount: 0)
}

/// What trimming did.
public struct JournalTrim: Equatable, Sendable {
    /// How many rows it deleted.
    public var rowCount: Int
    /// Where the first row that is kept stands.
    public var anchor: JournalPosition
}
