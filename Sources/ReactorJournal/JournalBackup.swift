import GRDB

/// A copy of a history that is a data directory itself, made while a journal goes on.
///
///     let backup = try JournalBackup(of: directory, into: "/backup/monday")
///
/// *Place*: `reactorctl backup`. Holds the newest good snapshot and all rows that are kept, up to
/// one moment; every checksum of it was verified once it stood there. Behind its last row there is
/// one more, of epoch 0: whoever starts from it begins another epoch, because what has happened
/// since the copy was made is no part of it. *Owner*: any one thread, while the journal is written
/// by another. *Cost*: reads and writes the whole history once, and reads the copy once.
public struct JournalBackup: Equatable, Sendable {
    /// Where the copy ends, before the row of epoch 0.
    public let end: JournalPosition
    /// The row of the snapshot in it, if there is one.
    public let snapshot: UInt64?

    /// Makes the directory `path`, which has that name only once it is whole; nothing is left of it
    /// where that fails, or `isCancelled`, which is asked often, says that nobody wants it any more.
    ///
    /// *Throws*: where something stands at `path`, or `path` is in the directory that is copied, and
    /// what reading or writing meets.
    public init(
        of directory: DataDirectory, into path: String,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(JournalError) {
        (snapshot, end) = try DataDirectory.fill(path, from: directory) {
            other throws(JournalError) in
            do throws(JournalError) {
                // because a snapshot that is chosen before joins every later end of the journal
                let snapshot = try Self.copySnapshot(of: directory, into: other, isCancelled)
                let end = try Self.copyRows(of: directory, into: other, isCancelled)
                try Self.verify(other, snapshot, end, isCancelled)
                return (snapshot, end)
            } catch {
                throw error.located(in: directory, insteadOf: other)
            }
        }
    }

    // because a daemon that takes one after another removes what was chosen
    /// Most times that a snapshot is chosen.
    private static let choicesMax = 3

    private static func copySnapshot(
        of directory: DataDirectory, into other: DataDirectory, _ isCancelled: () -> Bool
    ) throws(JournalError) -> UInt64? {
        var count = 0
        while true {
            count += 1
            do throws(JournalError) {
                let choice = try SnapshotShelf(directory).choose(isCancelled: isCancelled)
                guard let number = choice.snapshot?.header.position.number else { return nil }
                let name = SnapshotHeader.name(number)
                try directory.copy(name, into: other, isCancelled: isCancelled)
                return number
            } catch {
                guard error.isAbsence, count < choicesMax else { throw error }
            }
        }
    }

    private static let partialName = "journal.sqlite.partial"

    private static func copyRows(
        of directory: DataDirectory, into other: DataDirectory,
        _ isCancelled: @escaping () -> Bool
    ) throws(JournalError) -> JournalPosition {
        let file = other.path(partialName)
        try other.makeFile(partialName)
        let source = try JournalFile.reader(in: directory)
        try source.run("copying") { db in
            try db.whileWanted(isCancelled) {
                try db.execute(sql: "VACUUM INTO ?", arguments: [file])
            }
        }
        let copy = try JournalDatabase(file, isReadOnly: false) { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
        }
        let end = try copy.commit("marking") { db in
            let meta = MetaTable(db, in: file)
            let instance = try meta.instance()
            let anchor = try meta.anchor(of: instance)
            let table = BatchTable(db, in: file)
            let number = try table.lastNumber() ?? anchor.number
            let end = try JournalReader.position(number, anchor: anchor, db, file)
            let mark = JournalBatch(
                turn: 0, epoch: 0, after: end.sequence, sequence: end.sequence, bytes: [],
                range: 0..<0)
            let row = try StoredRow(mark, behind: end, at: end.time, in: file)
            try table.append(row)
            try meta.setFloor(row.position.number, of: instance)
            // because what it was copied from is being written, and has a log that this has not
            try meta.setMark(.new)
            return end
        }
        // because closing leaves one file that holds everything only if nothing fails on the way, and
        // does not say whether
        try copy.checkpoint(.truncate)
        try copy.close()
        try other.synchronize(partialName)
        try other.rename(partialName, to: JournalFile.name)
        return end
    }

    // because one that ends where the journal did would go on in its epoch
    private static func verify(
        _ directory: DataDirectory, _ snapshot: UInt64?, _ end: JournalPosition,
        _ isCancelled: () -> Bool
    ) throws(JournalError) {
        let found = try JournalReader(directory).verifyRest(isCancelled: isCancelled)
        guard found.number == end.number + 1, found.epoch == 0 else {
            throw .damage(
                JournalDamage(
                    file: directory.path(JournalFile.name), row: end.number + 1,
                    expected: "a row of no epoch at the end", got: "\(found)"))
        }
        let choice = try SnapshotShelf(directory).choose(isCancelled: isCancelled)
        guard let error = choice.passedOver.first else { return }
        throw error
    }
}

extension JournalError {
    /// The same of the file that was copied, because nobody can look into a copy that is gone.
    fileprivate func located(
        in directory: DataDirectory, insteadOf copy: DataDirectory
    ) -> JournalError {
        guard case .damage(var damage) = self, damage.file == copy.path(JournalFile.name) else {
            return self
        }
        damage.file = directory.path(JournalFile.name)
        return .damage(damage)
    }
}
