import ReactorThreads

/// One connection to a SQLite file; its errors are ``JournalError``.
///
/// *Place*: below all code that reads or writes rows. *Owner*: any thread, one at a time.
struct JournalDatabase: Sendable {
    /// The file's path.
    let file: String
    private let connection: Guarded<SQLiteConnection>
    private let busyMilliseconds: Int

    /// Opens `file` and runs `setup` on the connection. Calls wait for other processes' locks for
    /// up to `busyMilliseconds`.
    init(
        _ file: String, isReadOnly: Bool, busyMilliseconds: Int = 5_000,
        setup: (SQLiteConnection) throws -> Void = { _ in }
    ) throws(JournalError) {
        self.file = file
        self.busyMilliseconds = busyMilliseconds
        do {
            connection = Guarded(
                try SQLiteConnection(
                    file, isReadOnly: isReadOnly, busyMilliseconds: busyMilliseconds))
            try connection.withLock { db in
                try db.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA cell_size_check = ON")
                try setup(db)
                // Only the first statement that reads the file detects that it is not a database.
                try db.execute("SELECT * FROM sqlite_master LIMIT 1")
            }
        } catch {
            throw Self.failure(error, "opening", file, systemCode: 0)
        }
    }

    /// Closes the connection; throws if SQLite refuses that.
    func close() throws(JournalError) {
        do { try connection.withLock { try $0.close() } } catch {
            throw Self.failure(error, "closing", file, systemCode: 0)
        }
    }

    /// Keeps the connection open until the process ends: closing it would write to a failed disk.
    func abandon() { Self.abandoned.withLock { $0.append(connection) } }

    private static let abandoned = Guarded<[Guarded<SQLiteConnection>]>([])

    /// Migrates the file to the current format.
    func migrate() throws(JournalError) {
        do { try connection.withLock { try JournalSchema.migrate($0) } } catch {
            throw Self.failure(error, "migrating", file, systemCode: 0)
        }
    }

    /// Runs `body` outside any transaction.
    func run<Result>(
        _ purpose: String, _ body: (SQLiteConnection) throws -> Result
    ) throws(JournalError) -> Result {
        try connection.withLock { (db) throws(JournalError) in
            do { return try body(db) } catch {
                let code = error is SQLiteError ? db.commitCode : 0
                throw Self.failure(error, purpose, file, systemCode: code)
            }
        }
    }

    /// Runs `body` in a read transaction, so that it sees one consistent state.
    func read<Result>(
        _ purpose: String, _ body: (SQLiteConnection) throws -> Result
    ) throws(JournalError) -> Result {
        try run(purpose) { db in
            try db.run("BEGIN")
            defer { db.rollBack() }
            let result = try body(db)
            try db.run("COMMIT")
            return result
        }
    }

    /// Moves the log's frames into the file; returns the extent of the log.
    @discardableResult
    func checkpoint(_ mode: SQLiteConnection.CheckpointMode) throws(JournalError) -> LogExtent {
        try run("checkpointing") { db in
            do { return try db.checkpoint(mode) } catch {
                // A checkpoint writes to the file and not to the log.
                throw Self.failure(error, "checkpointing", file, systemCode: db.fileCode)
            }
        }
    }

    /// Runs `body` in a transaction, which is rolled back if `body` throws. Before writing,
    /// reserves room for `pageCount` more pages in the log's index. `waitsForOthers` is false to
    /// fail at once if another connection holds the lock.
    func commit<Result>(
        _ purpose: String, pageCount: Int = 0, waitsForOthers: Bool = true,
        _ body: (SQLiteConnection) throws -> Result
    ) throws(JournalError) -> Result {
        try run(purpose) { db in
            if !waitsForOthers { db.setBusyTimeout(milliseconds: 0) }
            defer { if !waitsForOthers { db.setBusyTimeout(milliseconds: busyMilliseconds) } }
            if pageCount > 0, let extent = db.logExtent {
                try db.reserveLogIndex(frameCount: extent.frameCount + pageCount, file)
            }
            try db.run("BEGIN IMMEDIATE")
            do {
                let result = try body(db)
                try db.run("COMMIT")
                return result
            } catch {
                let described = Self.failure(error, purpose, file, systemCode: db.commitCode)
                db.rollBack()
                throw described
            }
        }
    }

    /// Converts a caught error into a ``JournalError``.
    static func failure(
        _ error: any Error, _ purpose: String, _ file: String, systemCode: Int32
    ) -> JournalError {
        if let error = error as? JournalError { return error }
        guard let error = error as? SQLiteError else {
            return .database(
                DatabaseFailure(
                    file: file, purpose: purpose, code: 1, systemCode: 0, message: "\(error)"))
        }
        guard !error.isDamage else {
            return .damage(
                JournalDamage(
                    file: file, row: nil, expected: "a whole database", got: error.message))
        }
        return .database(
            DatabaseFailure(
                file: file, purpose: purpose, code: error.code, systemCode: systemCode,
                message: error.message))
    }
}
