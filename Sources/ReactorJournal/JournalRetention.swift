/// How much of a journal stays for readers of history, though a snapshot stands for it.
public struct JournalRetention: Equatable, Sendable {
    /// Rows are kept for as long, by the times that they hold.
    public var duration: Duration
    /// The newest rows are kept up to so many bytes, the snapshot's own share aside.
    public var byteCount: Int

    /// Keeps what is no older than `duration`, and what fits into `byteCount`.
    public init(duration: Duration = .zero, byteCount: Int = 0) {
        self.duration = duration
        self.byteCount = byteCount
    }
}

/// What trimming did.
public struct JournalTrim: Equatable, Sendable {
    /// How many rows it deleted.
    public var rowCount: Int
    /// Where the first row that is kept stands.
    public var anchor: JournalPosition
}
