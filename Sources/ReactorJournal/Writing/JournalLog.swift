/// SQLite's write-ahead log of the journal: restarted, allocated ahead, and marked as in use.
///
/// *Place*: over the committer's connection, before the first commit and after the last.
struct JournalLog: Sendable {
    let database: JournalDatabase
    let directory: DataDirectory
    let durability: JournalDurability
    let tuning: JournalTuning

    /// Moves the log's content into the file, and marks the journal as open.
    ///
    /// The mark is in the file itself and the log then has a header, so a log that is missing or
    /// empty while the mark is set was lost.
    ///
    /// *Throws*: also if the disk is full or another process holds the lock; the caller tries again
    /// before the first commit.
    func begin() throws(JournalError) {
        try database.run("opening") { $0.setLogStays(true) }
        let isAnew = try restart()
        if isAnew { _ = try directory.grow(JournalFile.logName, to: tuning.grownByteCount) }
        // Content that an earlier run left in the log may not be durable.
        let boot = tuning.boot()
        let frameCount = tuning.grownByteCount / (tuning.pageByteCount + 24)
        try database.commit("opening", pageCount: frameCount) { db in
            let meta = MetaTable(db, in: database.file)
            try meta.setMark(
                JournalMark(
                    isOpen: true, durability: durability,
                    isLogStrict: isAnew && durability == .strict, boot: boot,
                    cutBehind: meta.cut(at: boot)))
        }
        do throws(JournalError) { try database.checkpoint(.passive) } catch {
            guard error.isFull || error.isLocked else { throw error }
        }
    }

    /// Marks the journal as closed, and records that row `number` exists.
    func end(at number: UInt64, of instance: JournalInstance) throws(JournalError) {
        try database.commit("closing") { db in
            let meta = MetaTable(db, in: database.file)
            try meta.setFloor(number, of: instance)
            var mark = try meta.mark()
            mark.isOpen = false
            try meta.setMark(mark)
        }
    }

    /// Returns the maximum number of pages that a transaction with `rows` writes.
    func pageCount(of rows: [StoredRow]) -> Int {
        let byteCount = rows.reduce(0) { $0 + $1.byteCount }
        // A transaction that exceeds the cache writes pages twice.
        return 2 * (byteCount / (tuning.pageByteCount - 64) + 4 * rows.count + 16)
    }

    // A full disk or another reader must not prevent a start.
    private func restart() throws(JournalError) -> Bool {
        do throws(JournalError) { try database.checkpoint(.restart) } catch {
            guard error.isFull || error.isLocked else { throw error }
            return false
        }
        return true
    }
}
