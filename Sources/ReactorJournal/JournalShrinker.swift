import GRDB

/// Gives pages that hold nothing back to the file system, some at a time.
///
/// *Place*: at work on the upkeep's thread once nothing is left to trim. A file keeps pages for the
/// rows to come, or each trim would move the pages that the next rows fill again.
struct JournalShrinker {
    let database: JournalDatabase
    let directory: DataDirectory
    let gate: JournalGate
    let tuning: JournalTuning

    /// Whether the file holds more empty pages than it keeps, by far.
    func isDue() throws(JournalError) -> Bool {
        let pages = try pages()
        return pages.free > 2 * kept(pages)
    }

    /// Takes some pages out of the file; whether there are more to take.
    func step() throws(JournalError) -> Bool {
        let pages = try pages()
        let count = min(tuning.shrunkPagesMax, pages.free - kept(pages))
        guard count > 0 else { return false }
        try gate.upkeep { () throws(JournalError) in
            try directory.health.check()
            try database.commit("shrinking", pageCount: 4 * count + 16) { db in
                try db.execute(sql: "PRAGMA incremental_vacuum(\(count))")
            }
        }
        // A journal that was made without the means to shrink stays as it is.
        return try self.pages().free < pages.free && count == tuning.shrunkPagesMax
    }

    private func pages() throws(JournalError) -> (used: Int, free: Int) {
        try database.run("looking for room") { db in
            let all = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            return (all - free, free)
        }
    }

    private func kept(_ pages: (used: Int, free: Int)) -> Int {
        max(tuning.keptFreeByteCount / tuning.pageByteCount, pages.used / 2)
    }
}
