/// Sizes that were chosen by measurement, and that tests make small.
struct JournalTuning: Sendable {
    /// Size of a page of the database.
    var pageByteCount = 4_096
    /// How long the write-ahead log is made beforehand; a commit into a file that does not grow
    /// costs the disk less. Its 4,062 frames are those that the log's index has room for at once.
    var grownByteCount = 32 + 4_062 * (4_096 + 24)
    /// After how many bytes of commits a checkpoint is made.
    var checkpointByteCount = 1 << 20
    /// From which length on the log is made to begin anew, which holds a commit up for a moment.
    var restartByteCount = 12 << 20
    /// Most rows that one transaction of trimming deletes, so that no commit waits for long.
    var trimmedRowsMax = 256
    /// How many transactions of trimming a checkpoint is made behind.
    var trimsPerCheckpoint = 16
    /// How many bytes may be written while a trim is under way; then commits wait for it.
    var trimAheadByteCount = 32 << 20
    /// How many bytes of empty pages the file keeps for rows to come, at least.
    var keptFreeByteCount = 32 << 20
    /// Most pages that one transaction takes out of the file.
    var shrunkPagesMax = 256
    /// Up to how many bytes a batch that waits for no disk is committed by who hands it over.
    var atOnceByteCount = 8 << 10
    /// How long a commit waits for another process's lock before that is told; it waits on.
    var lockedMilliseconds = 1_000
    /// Which start of the machine it is.
    var boot: @Sendable () -> BootID = BootID.current
    /// What the clock says, in milliseconds since 1970.
    var now: @Sendable () -> Int64 = WallClock.milliseconds
    /// What a clock says that no one can set, in milliseconds.
    var uptime: @Sendable () -> Int64 = WallClock.uptimeMilliseconds
    /// What a test plants.
    var faults = JournalFaults()
}

/// Faults that tests plant where no disk has them at hand.
struct JournalFaults: Sendable {
    /// Asked before something is done; what it throws stands for what that would have.
    typealias Fault = @Sendable () throws(JournalError) -> Void

    /// Asked on the journal's thread before each commit, with the last turn that it holds; what it
    /// throws stands for what the commit would have.
    var commit: (@Sendable (UInt64) throws(JournalError) -> Void)?
    /// Asked on the journal's thread before the log is made durable for a batch that wants it.
    var synchronize: Fault?
    /// Asked on the upkeep's thread before each checkpoint.
    var checkpoint: Fault?
    /// Asked on the upkeep's thread between two transactions of trimming.
    var trim: (@Sendable () -> Void)?
    /// Asked on a snapshot's thread before each step, by its name.
    var snapshot: (@Sendable (String) throws(JournalError) -> Void)?
}
