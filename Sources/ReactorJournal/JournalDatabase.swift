import GRDB
import ReactorThreads

/// One connection to one file of SQLite's, whose errors are the room's.
///
/// *Place*: beneath everything that reads or writes rows. *Owner*: any thread, one at a time.
struct JournalDatabase: Sendable {
    /// The file's path.
    let file: String
    private let queue: DatabaseQueue
    private let busyMilliseconds: Int

    /// Opens `file`, and runs `setup` on the connection, which waits for other processes' locks for
    /// `busyMilliseconds`.
    init(
        _ file: String, isReadOnly: Bool, busyMilliseconds: Int = 5_000,
        setup: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws(JournalError) {
        self.file = file
        self.busyMilliseconds = busyMilliseconds
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.foreignKeysEnabled = false
        configuration.label = "journal"
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1_000)
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

    /// Keeps the connection as it is until the process ends, because closing it would write to a
    /// disk that has failed.
    func abandon() { Self.abandoned.withLock { $0.append(queue) } }

    private static let abandoned = Guarded<[DatabaseQueue]>([])

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
                    throw Self.failure(error, purpose, file, systemCode: db.commitCode)
                }
            }
        } catch let error as JournalError {
            throw error
        } catch {
            throw Self.failure(error, purpose, file, systemCode: 0)
        }
    }

    /// Runs `body` in a transaction that only reads, so that all it sees belongs together.
    func read<Result>(
        _ purpose: String, _ body: (Database) throws -> Result
    ) throws(JournalError) -> Result {
        try run(purpose) { db in
            try db.cachedStatement(sql: "BEGIN").execute()
            defer { if db.isInsideTransaction { try? db.rollback() } }
            let result = try body(db)
            try db.cachedStatement(sql: "COMMIT").execute()
            return result
        }
    }

    /// Moves what is in the log into the file, and answers how far the log reaches.
    @discardableResult
    func checkpoint(_ mode: Database.CheckpointMode) throws(JournalError) -> LogExtent {
        try run("checkpointing") { db in
            do {
                let log = try db.checkpoint(mode)
                return LogExtent(
                    frameCount: log.walFrameCount,
                    checkpointedFrameCount: log.checkpointedFrameCount)
            } catch {
                // because here it is the file that is written to
                throw Self.failure(error, "checkpointing", file, systemCode: db.fileCode)
            }
        }
    }

    /// Runs `body` in a transaction, which is undone if it throws, and for which the log's index
    /// has room for `pageCount` pages more before anything is written; `waitsForOthers` says whether
    /// to wait for another's lock.
    func commit<Result>(
        _ purpose: String, pageCount: Int = 0, waitsForOthers: Bool = true,
        _ body: (Database) throws -> Result
    ) throws(JournalError) -> Result {
        try run(purpose) { db in
            if !waitsForOthers { db.setWaitForOthers(milliseconds: 0) }
            defer { if !waitsForOthers { db.setWaitForOthers(milliseconds: busyMilliseconds) } }
            if pageCount > 0, let extent = db.logExtent {
                try db.reserveLogIndex(frameCount: extent.frameCount + pageCount, file)
            }
            // because a statement that is made once costs less than one made for each commit
            try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
            do {
                let result = try body(db)
                try db.cachedStatement(sql: "COMMIT").execute()
                return result
            } catch {
                let described = Self.failure(error, purpose, file, systemCode: db.commitCode)
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
