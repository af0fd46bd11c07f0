import GRDB

/// One connection to one file of SQLite's, whose errors are the room's.
///
/// *Place*: beneath everything that reads or writes rows. *Owner*: any thread, one at a time.
struct JournalDatabase: Sendable {
    /// The file's path.
    let file: String
    private let queue: DatabaseQueue

    /// Opens `file`, which must be there unless `isNew`, and runs `setup` on the connection.
    init(
        _ file: String, isReadOnly: Bool, isNew: Bool = false,
        setup: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws(JournalError) {
        self.file = file
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.foreignKeysEnabled = false
        configuration.label = "journal"
        // because what two connections of ours do at a time is settled by a lock of ours
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA cell_size_check = ON")
            try setup(db)
        }
        do {
            queue = try DatabaseQueue(path: file, configuration: configuration)
        } catch {
            throw Self.failure(error, "opening", file, systemCode: 0)
        }
    }

    /// Closes the connection, and says if that was refused.
    func close() throws(JournalError) {
        do { try queue.close() } catch {
            throw Self.failure(error, "closing", file, systemCode: 0)
        }
    }

    /// Takes the steps that the file has not taken yet.
    func migrate(by migrator: DatabaseMigrator) throws(JournalError) {
        do { try migrator.migrate(queue) } catch {
            throw Self.failure(error, "migrating", file, systemCode: 0)
        }
    }

    /// Runs `body` outside any transaction.
    func run<Result>(
        _ purpose: String, _ body: (Database) throws -> Result
    ) throws(JournalError) -> Result {
        do {
            return try queue.writeWithoutTransaction { db in
                do { return try body(db) } catch let error as DatabaseError {
                    // because the rollback below may ask the system for more
                    throw Self.failure(error, purpose, file, systemCode: db.logCode)
                }
            }
        } catch let error as JournalError {
            throw error
        } catch {
            throw Self.failure(error, purpose, file, systemCode: 0)
        }
    }

    /// Runs `body` in a transaction, which is undone if it throws.
    func commit<Result>(
        _ purpose: String, _ body: (Database) throws -> Result
    ) throws(JournalError) -> Result {
        try run(purpose) { db in
            // because a statement that is made once costs less than one made for each commit
            try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
            do {
                let result = try body(db)
                try db.cachedStatement(sql: "COMMIT").execute()
                return result
            } catch {
                let described = Self.failure(error, purpose, file, systemCode: db.logCode)
                // because SQLite has undone it already where the disk failed
                if db.isInsideTransaction { try? db.rollback() }
                throw described
            }
        }
    }

    /// The room's error for what was caught.
    static func failure(
        _ error: any Error, _ purpose: String, _ file: String, systemCode: Int32
    ) -> JournalError {
        if let error = error as? JournalError { return error }
        guard let error = error as? DatabaseError else {
            return .database(
                DatabaseFailure(
                    file: file, purpose: purpose, code: 1, systemCode: 0, message: "\(error)"))
        }
        let message = error.message ?? "\(error.resultCode)"
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_MISMATCH:
            return .damage(
                JournalDamage(file: file, row: nil, expected: "a whole database", got: message))
        default:
            return .database(
                DatabaseFailure(
                    file: file, purpose: purpose, code: error.extendedResultCode.rawValue,
                    systemCode: systemCode, message: message))
        }
    }
}
