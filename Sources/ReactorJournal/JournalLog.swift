import GRDB

/// The log that commits go to: begun anew, made long beforehand, and marked as in use.
///
/// *Place*: over the committer's connection, before the first commit and behind the last.
struct JournalLog: Sendable {
    let database: JournalDatabase
    let directory: DataDirectory
    let durability: JournalDurability
    let tuning: JournalTuning

    /// Begins: what the log holds goes into the file, and the file says that somebody writes.
    ///
    /// The mark gets into the file itself, and by then the log has a header: so a log that is
    /// missing, or empty, while the file says that somebody writes was lost.
    ///
    /// *Throws*: where there is no room or somebody else is in the way, as well: then it is to be
    /// tried again before the first commit.
    func begin() throws(JournalError) {
        try database.run("opening") { $0.setLogStays(true) }
        let isAnew = try restart()
        if isAnew { _ = try directory.grow(JournalFile.logName, to: tuning.grownByteCount) }
        // because what an earlier round left in the log need not have been durable
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

    /// Notes that nobody writes any more, and that the row numbered `number` is there.
    func end(at number: UInt64, of instance: JournalInstance) throws(JournalError) {
        try database.commit("closing") { db in
            let meta = MetaTable(db, in: database.file)
            try meta.setFloor(number, of: instance)
            var mark = try meta.mark()
            mark.isOpen = false
            try meta.setMark(mark)
        }
    }

    /// At most how many pages a transaction with `rows` writes.
    func pageCount(of rows: [StoredRow]) -> Int {
        let byteCount = rows.reduce(0) { $0 + $1.byteCount }
        // because a transaction that outgrows the cache writes pages twice
        return 2 * (byteCount / (tuning.pageByteCount - 64) + 4 * rows.count + 16)
    }

    // because neither a full disk nor a reader is a reason not to start
    private func restart() throws(JournalError) -> Bool {
        do throws(JournalError) { try database.checkpoint(.restart) } catch {
            guard error.isFull || error.isLocked else { throw error }
            return false
        }
        return true
    }
}
