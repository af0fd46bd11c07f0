import ReactorThreads

/// The work of a snapshot's thread.
package struct SnapshotTask: Sendable {
    /// Encodes one or more parts, and adds them.
    package typealias Lender = @Sendable (SnapshotParts) -> Void

    /// A request to the snapshot's thread.
    enum Order: Sendable {
        case part(Lender)
        case finish
        case cancel
    }

    let directory: DataDirectory
    let number: UInt64
    let sequence: UInt64
    let tuning: JournalTuning
    let mailbox: Mailbox<Order>
    let bell: Bell
    let waiting: Guarded<Int>

    let partialName: String

    /// Runs until the snapshot is complete, has failed or is cancelled; returns nil if cancelled.
    func run() -> Result<SnapshotHeader, JournalError>? {
        do throws(JournalError) {
            guard let header = try write() else {
                try? directory.remove(partialName)
                return nil
            }
            return .success(header)
        } catch {
            // An incomplete snapshot takes room that the journal may need.
            try? directory.remove(partialName)
            return .failure(error)
        }
    }

    private func write() throws(JournalError) -> SnapshotHeader? {
        let instance = try instance()
        let file = directory.path(partialName)
        try tuning.faults.snapshot?("open")
        try directory.makeFile(partialName)
        let database = try JournalDatabase(file, isReadOnly: false) { db in
            // A file that no start reads yet needs no rollback.
            try db.execute(
                """
                PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096;
                PRAGMA application_id = \(SnapshotHeader.applicationID); PRAGMA user_version = 1;
                CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL);
                CREATE TABLE part(
                    number INTEGER PRIMARY KEY, chain INTEGER NOT NULL, bytes BLOB NOT NULL);
                """)
        }
        guard let end = try parts(into: database, instance) else { return nil }
        let position = try position()
        // A start replays the rows after this one, so the state must be exactly as of it.
        guard position.sequence == sequence else {
            throw .damage(
                JournalDamage(
                    file: file, row: number,
                    expected: "a state as of sequence \(position.sequence)",
                    got: "one as of \(sequence)"))
        }
        let header = SnapshotHeader(
            instance: instance, position: position, partCount: end.count)
        try database.commit("finishing") { db in
            let meta = MetaTable(db, in: file)
            try meta.set("instance", to: instance.words)
            try meta.set("position", to: header.position.words, behind: instance.seed)
            try meta.set("end", to: [UInt64(end.count), end.chain], behind: instance.seed)
        }
        try database.close()
        try name()
        return header
    }

    private func parts(
        into database: JournalDatabase, _ instance: JournalInstance
    ) throws(JournalError) -> SnapshotParts? {
        let parts = SnapshotParts(
            into: database, behind: SnapshotHeader.seed(instance, number))
        var orders: [Order] = []
        while true {
            bell.wait()
            mailbox.drain(into: &orders)
            try tuning.faults.snapshot?("parts")
            for order in orders {
                switch order {
                case .part(let lend):
                    lend(parts)
                    if let failure = parts.failure { throw failure }
                    waiting.withLock { $0 -= 1 }
                case .finish: return parts
                case .cancel: return nil
                }
            }
            orders.removeAll(keepingCapacity: true)
        }
    }

    private func name() throws(JournalError) {
        try tuning.faults.snapshot?("synchronize")
        try directory.health.check()
        do throws(JournalError) {
            // In `relaxed`, the journal may not have made the snapshot's row durable.
            if try directory.byteCount(of: JournalFile.logName) != nil {
                try tuning.faults.snapshot?("log")
                try directory.synchronize(JournalFile.logName)
            }
            try directory.synchronize(partialName)
            try tuning.faults.snapshot?("rename")
            try directory.rename(partialName, to: SnapshotHeader.name(number))
        } catch {
            // After a failed sync, no later one can be trusted: neither for rows nor for a snapshot
            // up to which rows would be trimmed.
            if error.isOfDisk { directory.health.report(error) }
            throw error
        }
    }

    private func instance() throws(JournalError) -> JournalInstance {
        let journal = try JournalFile.reader(in: directory)
        return try journal.run("opening") { try MetaTable($0, in: journal.file).instance() }
    }

    private func position() throws(JournalError) -> JournalPosition {
        let journal = try JournalFile.reader(in: directory)
        return try journal.run("reading") { db in
            try RowLocator(db, in: journal.file).position(of: number)
        }
    }
}
