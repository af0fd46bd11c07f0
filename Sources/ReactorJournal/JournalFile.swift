import GRDB

/// The file that holds the rows: making it, bringing it up to date, and connections to it.
enum JournalFile {
    static let name = "journal.sqlite"
    static let logName = "journal.sqlite-wal"
    // because a file that is there is whole: it gets its name when it is
    private static let partialName = "journal.sqlite.partial"

    /// Makes the journal of an empty directory, or checks and brings up to date the one that is
    /// there.
    static func prepare(
        in directory: DataDirectory, tuning: JournalTuning
    ) throws(JournalError) -> JournalOpening {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try directory.remove(partialName + suffix)
        }
        guard try directory.byteCount(of: name) != nil else {
            try checkIsNew(directory)
            try make(
                in: directory, instance: .random(at: tuning.now()), anchor: nil, tuning: tuning)
            return JournalOpening(
                isNew: true, droppedByteCount: 0, mayHaveLostTail: false)
        }
        try check(in: directory)
        let dropped = try checkLog(in: directory)
        if try format(in: directory) < JournalFormat.current { try migrate(in: directory) }
        try checkReleased(in: directory, tuning)
        return JournalOpening(
            isNew: false, droppedByteCount: dropped,
            mayHaveLostTail: try isCut(in: directory, tuning))
    }

    private static func isCut(
        in directory: DataDirectory, _ tuning: JournalTuning
    ) throws(JournalError) -> Bool {
        let database = try reader(in: directory)
        return try database.run("opening") { db in
            try MetaTable(db, in: database.file).cut(at: tuning.boot()) != nil
        }
    }

    /// Refuses a journal that has lost rows whose outputs have left.
    static func checkReleased(
        in directory: DataDirectory, _ tuning: JournalTuning
    ) throws(JournalError) {
        guard let released = try ReleasedRowFile.read(in: directory) else { return }
        let database = try reader(in: directory)
        try database.read("opening") { db in
            let meta = MetaTable(db, in: database.file)
            let instance = try meta.instance()
            let place = JournalPlace(
                table: BatchTable(db, in: database.file), instance: instance,
                anchor: try meta.anchor(of: instance))
            try released.check(place, at: tuning.boot())
        }
    }

    /// Looks at the log as it was left: how many bytes of a torn commit are in it.
    static func checkLog(in directory: DataDirectory) throws(JournalError) -> Int {
        // because SQLite makes a log that is missing, it is looked for before
        let isThere = try WriteAheadLog.isBegun(in: directory)
        let database = try reader(in: directory)
        let mark = try database.run("opening") { try MetaTable($0, in: database.file).mark() }
        guard isThere || !mark.isOpen else {
            throw .damage(
                JournalDamage(
                    file: directory.path(logName), row: nil,
                    expected: "the log of a journal that was not closed", got: "none"))
        }
        return try WriteAheadLog.check(in: directory, isStrict: mark.isLogStrict)
    }

    /// Makes a journal that begins at `anchor`.
    static func make(
        in directory: DataDirectory, instance: JournalInstance, anchor: JournalPosition?,
        tuning: JournalTuning
    ) throws(JournalError) {
        let page = tuning.pageByteCount
        let file = directory.path(partialName)
        try directory.makeFile(partialName)
        let database = try JournalDatabase(file, isReadOnly: false) { db in
            try db.execute(
                sql: """
                    PRAGMA page_size = \(page); PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA journal_mode = WAL
                    """)
        }
        try database.migrate(by: JournalSchema.migrator)
        try database.commit("making") { db in
            let meta = MetaTable(db, in: file)
            try meta.set("instance", to: instance.words)
            try meta.set(
                "anchor", to: (anchor ?? .beginning(seed: instance.seed)).words,
                behind: instance.seed)
        }
        // because closing leaves one file that holds everything only if nothing fails on the way, and does
        // not say whether
        _ = try database.run("checkpointing") { try $0.checkpoint(.truncate) }
        try database.close()
        try directory.synchronize(partialName)
        try directory.rename(partialName, to: name)
    }

    /// Refuses a file that is not ours or newer than we are, and does not touch it. Only while the
    /// process has no connection to it, because closing it again lets go of SQLite's locks.
    static func check(in directory: DataDirectory) throws(JournalError) {
        guard try directory.byteCount(of: name) != nil else {
            throw .missing(file: directory.path(name), reason: "it was to be read")
        }
        let file = directory.path(name)
        try JournalFormat(of: name, in: directory).check(JournalFormat.journalID, file: file)
    }

    /// Opens a connection that only reads.
    static func reader(in directory: DataDirectory) throws(JournalError) -> JournalDatabase {
        let file = directory.path(name)
        let database = try JournalDatabase(file, isReadOnly: true)
        // because the log may hold a newer first page than the file does
        let format = try database.run("opening") { try JournalFormat($0) }
        try format.check(JournalFormat.journalID, file: file)
        return database
    }

    /// Opens a connection that writes.
    static func writer(
        in directory: DataDirectory, durability: JournalDurability, busyMilliseconds: Int = 5_000
    ) throws(JournalError) -> JournalDatabase {
        // because SQLite would make a file that is missing
        guard try directory.byteCount(of: name) != nil else {
            throw .missing(file: directory.path(name), reason: "it was to be written to")
        }
        let level = durability == .strict ? "FULL" : "NORMAL"
        return try JournalDatabase(
            directory.path(name), isReadOnly: false, busyMilliseconds: busyMilliseconds
        ) { db in
            try db.execute(sql: "PRAGMA synchronous = \(level); PRAGMA cache_size = -4096")
        }
    }

    private static func format(in directory: DataDirectory) throws(JournalError) -> Int {
        let database = try reader(in: directory)
        return try database.run("opening") { try JournalFormat($0) }.format
    }

    private static func migrate(in directory: DataDirectory) throws(JournalError) {
        let database = try writer(in: directory, durability: .strict)
        try database.run("migrating") { $0.setLogStays(true) }
        try database.migrate(by: JournalSchema.migrator)
        try database.close()
    }

    // because a journal that is gone must not be taken for one that never was
    private static func checkIsNew(_ directory: DataDirectory) throws(JournalError) {
        let names = try directory.names()
        let witness =
            names.first { $0.hasPrefix("journal.sqlite-") || $0.hasPrefix("snapshot-") }
            ?? names.first { $0 == ReleasedRow.fileName }
        guard let witness else { return }
        throw .missing(file: directory.path(name), reason: "\(witness) is there")
    }
}

/// What was found when a journal was opened.
public struct JournalOpening: Equatable, Sendable {
    /// Whether it was made just now.
    public var isNew: Bool
    /// Bytes of a commit that was cut off, unacknowledged, and is dropped.
    public var droppedByteCount: Int
    /// Whether a power cut may have taken rows that were acknowledged, which `relaxed` allows: what
    /// others have seen of them is of no history that goes on, so a new epoch is to begin.
    public var mayHaveLostTail: Bool
}
