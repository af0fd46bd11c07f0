/// Sizes chosen by measurement; tests use smaller ones.
struct JournalTuning: Sendable {
    /// Size of a page of the database.
    var pageByteCount = 4_096
    /// Length to which the write-ahead log is allocated ahead: a commit into a file that does not
    /// grow costs less. The log's index has room for its 4,062 frames in one piece.
    var grownByteCount = 32 + 4_062 * (4_096 + 24)
    /// Bytes of commits after which a checkpoint is made.
    var checkpointByteCount = 1 << 20
    /// Length of the log from which it is restarted, which delays a commit for a moment.
    var restartByteCount = 12 << 20
    /// Maximum number of rows that one trimming transaction deletes, so that no commit waits for
    /// long.
    var trimmedRowsMax = 256
    /// Number of trimming transactions between two checkpoints.
    var trimsPerCheckpoint = 16
    /// Bytes that may be written during a trim; further commits wait for it.
    var trimAheadByteCount = 32 << 20
    /// Minimum bytes of empty pages that the file keeps for further rows.
    var keptFreeByteCount = 32 << 20
    /// Maximum number of pages that one transaction removes from the file.
    var shrunkPagesMax = 256
    /// Maximum size of a batch that the calling thread commits itself, if the commit does not wait
    /// for the disk.
    var atOnceByteCount = 8 << 10
    /// How long a commit waits for another process's lock before that is reported; it then waits
    /// on.
    var lockedMilliseconds = 1_000
    /// The id of the current boot.
    var boot: @Sendable () -> BootID = BootID.current
    /// The wall clock, in milliseconds since 1970.
    var now: @Sendable () -> Int64 = WallClock.milliseconds
    /// A clock that cannot be set, in milliseconds.
    var uptime: @Sendable () -> Int64 = WallClock.uptimeMilliseconds
    /// Faults injected by tests.
    var faults = JournalFaults()
}

/// Faults that tests inject in place of disk failures.
struct JournalFaults: Sendable {
    /// Called before an operation; a thrown error stands for the operation's failure.
    typealias Fault = @Sendable () throws(JournalError) -> Void

    /// Called on the journal's thread before each commit, with the last turn of the commit; a
    /// thrown error stands for the commit's failure.
    var commit: (@Sendable (UInt64) throws(JournalError) -> Void)?
    /// Called on the journal's thread before the log is made durable for a batch that requires it.
    var synchronize: Fault?
    /// Called on the upkeep's thread before each checkpoint.
    var checkpoint: Fault?
    /// Called on the upkeep's thread between two trimming transactions.
    var trim: (@Sendable () -> Void)?
    /// Called on a snapshot's thread before each step, with its name.
    var snapshot: (@Sendable (String) throws(JournalError) -> Void)?
}
