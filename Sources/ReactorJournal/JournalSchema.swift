import GRDB

/// The tables of a journal, and how older ones become the present ones.
enum JournalSchema {
    /// The number of the last step, which is that of the format.
    static var format: Int { 1 + stepsToCome.count }

    /// Steps behind the last one, which tests add: today's format is an older one to them.
    @TaskLocal static var stepsToCome: [@Sendable (Database) throws -> Void] = []

    /// Makes the tables, or brings older ones up to date; again after a crash in between.
    ///
    /// A step that has been released is never changed: the next format is a next step. Each is one
    /// transaction, with the number of the format that it makes.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    PRAGMA application_id = \(JournalFormat.journalID);
                    CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL);
                    CREATE TABLE batch(
                        number INTEGER PRIMARY KEY,
                        epoch INTEGER NOT NULL,
                        after INTEGER NOT NULL,
                        sequence INTEGER NOT NULL,
                        time INTEGER NOT NULL,
                        deltas BLOB NOT NULL,
                        facts BLOB NOT NULL,
                        chain INTEGER NOT NULL,
                        deltaBytes INTEGER,
                        factBytes INTEGER);
                    PRAGMA user_version = 1;
                    """)
        }
        for (index, step) in stepsToCome.enumerated() {
            migrator.registerMigration("\(index + 2)", migrate: step)
        }
        return migrator
    }
}
