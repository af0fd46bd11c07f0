/// The tables of a journal, and the migrations of older formats.
enum JournalSchema {
    /// The application id of a journal's file: "rjrn".
    static let applicationID: Int32 = 0x726A_726E

    /// The number of the current format, which is that of the last step.
    static var format: Int { steps.count }

    /// A migration from one format to the next, inside a transaction.
    typealias Step = @Sendable (SQLiteConnection) throws -> Void

    /// Additional steps from tests, in which the current format is an older one.
    @TaskLocal static var stepsToCome: [Step] = []

    /// All steps, in order. A released step is never changed; a new format is a new step.
    private static var steps: [Step] { [makeTables, admitSchemas] + stepsToCome }

    /// Creates the tables or migrates older ones; continues after a crash in between. Each step is
    /// one transaction, which also sets the number of its format.
    ///
    /// *Shape*: the numbers of completed steps are stored as text in the table `grdb_migrations`.
    /// It has the name that an earlier library used, so that an older program still opens the file.
    static func migrate(_ db: SQLiteConnection) throws {
        try db.execute(
            "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let taken = try takenSteps(db)
        for (number, step) in zip(1..., steps) where !taken.contains("\(number)") {
            try db.transaction {
                try step(db)
                try db.run(
                    "INSERT INTO grdb_migrations (identifier) VALUES (?)", [.text("\(number)")])
            }
        }
    }

    private static func takenSteps(_ db: SQLiteConnection) throws -> Set<String> {
        let select = try db.statement("SELECT identifier FROM grdb_migrations")
        defer { select.end() }
        var steps: Set<String> = []
        while try select.step() { if let step = select.text(0) { steps.insert(step) } }
        return steps
    }

    @Sendable
    private static func makeTables(_ db: SQLiteConnection) throws {
        try db.execute(
            """
            PRAGMA application_id = \(applicationID);
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

    /// From this format on, rows record the schemas of values, which older programs cannot read.
    @Sendable
    private static func admitSchemas(_ db: SQLiteConnection) throws {
        try db.execute("PRAGMA user_version = 2")
    }
}
