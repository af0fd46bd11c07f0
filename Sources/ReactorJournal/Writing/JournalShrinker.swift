/// Returns empty pages of the file to the file system, some at a time.
///
/// *Place*: on the upkeep's thread when nothing is left to trim. The file keeps some empty pages
/// for further rows; otherwise each trim would move pages that the next rows fill again. While space
/// is scarce, it keeps few.
struct JournalShrinker {
    let database: JournalDatabase
    let directory: DataDirectory
    let gate: JournalGate
    let tuning: JournalTuning
    /// Whether the log is made durable before each transaction.
    let synchronizesLog: Bool

    /// Whether the file has many more empty pages than it should keep.
    func isDue(isScarce: Bool = false) throws(JournalError) -> Bool {
        let pages = try pages()
        return pages.free > 2 * kept(pages, isScarce)
    }

    /// Removes some empty pages from the file; returns whether more remain.
    func step(isScarce: Bool = false) throws(JournalError) -> Bool {
        let pages = try pages()
        let count = min(tuning.shrunkPagesMax, pages.free - kept(pages, isScarce))
        guard count > 0 else { return false }
        if synchronizesLog { try directory.synchronize(JournalFile.logName) }
        try gate.upkeep { () throws(JournalError) in
            try directory.health.check()
            try database.commit("shrinking", pageCount: 4 * count + 16) { db in
                try db.execute("PRAGMA incremental_vacuum(\(count))")
            }
        }
        // The file of a journal created without incremental vacuum cannot shrink.
        return try self.pages().free < pages.free && count == tuning.shrunkPagesMax
    }

    private func pages() throws(JournalError) -> (used: Int, free: Int) {
        try database.run("looking for room") { db in
            let all = Int(try db.integer("PRAGMA page_count") ?? 0)
            let free = Int(try db.integer("PRAGMA freelist_count") ?? 0)
            return (all - free, free)
        }
    }

    private func kept(_ pages: (used: Int, free: Int), _ isScarce: Bool) -> Int {
        if isScarce { return tuning.checkpointByteCount / tuning.pageByteCount }
        return max(tuning.keptFreeByteCount / tuning.pageByteCount, pages.used / 2)
    }
}
