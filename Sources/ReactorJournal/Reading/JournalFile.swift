/// Creates, checks and migrates the file with the rows, and opens connections to it.
enum JournalFile {
    static let name = "journal.sqlite"
    static let logName = WriteAheadLog.fileName
    // The file gets its final name only when it is complete.
    private static let partialName = "journal.sqlite.partial"

    /// Creates the journal of an empty directory, or checks the existing one, without changing it.
    static func prepare(
        in directory: DataDirectory, as instance: JournalInstance? = nil, tuning: JournalTuning
    ) throws(JournalError) -> JournalOpening {
        guard try directory.byteCount(of: name) != nil else {
            try checkIsNew(directory)
            try removePartial(in: directory)
            try make(
                in: directory, instance: instance ?? .random(at: tuning.now()), anchor: nil,
                tuning: tuning)
            return JournalOpening(
                isNew: true, droppedByteCount: 0, mayHaveLostTail: false)
        }
        try check(in: directory)
        let dropped = try checkLog(in: directory, at: tuning.boot())
        try checkReleased(in: directory, tuning)
        return JournalOpening(
            isNew: false, droppedByteCount: dropped,
            mayHaveLostTail: try isCut(in: directory, tuning))
    }

    /// Makes a checked journal ready for writing: removes what an interrupted creation left, and
    /// migrates an older format.
    static func complete(in directory: DataDirectory) throws(JournalError) {
        try removePartial(in: directory)
        if try format(in: directory) < JournalFormat.current { try migrate(in: directory) }
    }

    private static func removePartial(in directory: DataDirectory) throws(JournalError) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try directory.remove(partialName + suffix)
        }
    }

    private static func isCut(
        in directory: DataDirectory, _ tuning: JournalTuning
    ) throws(JournalError) -> Bool {
        let database = try reader(in: directory)
        return try database.run("opening") { db in
            try MetaTable(db, in: database.file).cut(at: tuning.boot()) != nil
        }
    }

    /// Throws if the journal has lost rows whose outputs have left the daemon.
    static func checkReleased(
        in directory: DataDirectory, _ tuning: JournalTuning
    ) throws(JournalError) {
        guard let released = try ReleasedRowFile.read(in: directory) else { return }
        let database = try reader(in: directory)
        try database.read("opening") { db in
            try released.compare(
                with: RowLocator(db, in: database.file), at: tuning.boot())
        }
    }

    /// Checks the log that the last process left; returns the number of bytes of a torn commit in
    /// it. `boot` is the current one.
    static func checkLog(
        in directory: DataDirectory, at boot: BootID
    ) throws(JournalError) -> Int {
        // Checked first, since SQLite creates a missing log.
        let isThere = try WriteAheadLog.isBegun(in: directory)
        let database = try reader(in: directory)
        let mark = try database.run("opening") { try MetaTable($0, in: database.file).mark() }
        guard isThere || !mark.isOpen else {
            throw .damage(
                JournalDamage(
                    file: directory.path(logName), row: nil,
                    expected: "the log of a journal that was not closed", got: "none"))
        }
        return try WriteAheadLog.tornByteCount(
            in: directory, isStrict: mark.isLogStrict, mayBeCut: !mark.boot.isSame(as: boot))
    }

    /// Creates a journal that begins at `anchor`.
    static func make(
        in directory: DataDirectory, instance: JournalInstance, anchor: JournalPosition?,
        tuning: JournalTuning
    ) throws(JournalError) {
        let page = tuning.pageByteCount
        let file = directory.path(partialName)
        try directory.makeFile(partialName)
        let database = try JournalDatabase(file, isReadOnly: false) { db in
            try db.execute(
                """
                PRAGMA page_size = \(page); PRAGMA auto_vacuum = INCREMENTAL;
                PRAGMA journal_mode = WAL
                """)
        }
        try database.migrate()
        try database.commit("making") { db in
            let meta = MetaTable(db, in: file)
            try meta.set("instance", to: instance.words)
            try meta.set(
                "anchor", to: (anchor ?? .beginning(seed: instance.seed)).words,
                behind: instance.seed)
        }
        // Closing also moves the log into the file, but does not report an error in doing so.
        _ = try database.run("checkpointing") { try $0.checkpoint(.truncate) }
        try database.close()
        try directory.synchronize(partialName)
        try directory.rename(partialName, to: name)
    }

    /// Throws if the file belongs to another program or has a newer format; does not change it.
    /// Call only while the process has no connection to the file: closing the descriptor releases
    /// the locks of all of them.
    static func check(in directory: DataDirectory) throws(JournalError) {
        guard try directory.byteCount(of: name) != nil else {
            throw .missing(file: directory.path(name), reason: "it was expected")
        }
        let file = directory.path(name)
        try JournalFormat(of: name, in: directory).require(JournalSchema.applicationID, file: file)
    }

    /// Opens a read-only connection.
    static func reader(in directory: DataDirectory) throws(JournalError) -> JournalDatabase {
        let file = directory.path(name)
        let database = try JournalDatabase(file, isReadOnly: true)
        // The log may contain a newer first page than the file.
        let format = try database.run("opening") { try JournalFormat($0) }
        try format.require(JournalSchema.applicationID, file: file)
        return database
    }

    /// Opens a connection for writing.
    static func writer(
        in directory: DataDirectory, durability: JournalDurability, busyMilliseconds: Int = 5_000
    ) throws(JournalError) -> JournalDatabase {
        // SQLite would create a missing file.
        guard try directory.byteCount(of: name) != nil else {
            throw .missing(file: directory.path(name), reason: "it was expected")
        }
        let level = durability == .strict ? "FULL" : "NORMAL"
        return try JournalDatabase(
            directory.path(name), isReadOnly: false, busyMilliseconds: busyMilliseconds
        ) { db in
            try db.execute("PRAGMA synchronous = \(level); PRAGMA cache_size = -4096")
        }
    }

    /// The format of the journal.
    static func format(in directory: DataDirectory) throws(JournalError) -> Int {
        let database = try reader(in: directory)
        return try database.run("opening") { try JournalFormat($0) }.format
    }

    private static func migrate(in directory: DataDirectory) throws(JournalError) {
        let database = try writer(in: directory, durability: .strict)
        try database.run("migrating") { $0.setLogStays(true) }
        try database.migrate()
        try database.close()
    }

    // A journal that has been lost must not be mistaken for one that never existed.
    private static func checkIsNew(_ directory: DataDirectory) throws(JournalError) {
        let names = try directory.names()
        let witness =
            names.first { $0.hasPrefix("journal.sqlite-") || $0.hasPrefix("snapshot-") }
            ?? names.first { $0 == ReleasedRow.fileName }
        guard let witness else { return }
        throw .missing(file: directory.path(name), reason: "\(witness) exists")
    }
}

/// The condition of a journal when it was opened.
package struct JournalOpening: Equatable, Sendable {
    /// Whether it was created by this call.
    package var isNew: Bool
    /// Bytes of an unacknowledged commit that was cut off, and is dropped.
    package var droppedByteCount: Int
    /// Whether a power cut may have taken acknowledged rows, as `relaxed` permits. A new epoch must
    /// then begin, since clients may have seen those rows.
    package var mayHaveLostTail: Bool
}
