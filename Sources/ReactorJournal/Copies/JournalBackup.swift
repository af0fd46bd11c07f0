import ReactorBytes

/// A copy of a history, itself a data directory, made while the journal is being written.
///
///     let backup = try JournalBackup(of: directory, into: "/backup/monday")
///
/// *Place*: `reactorctl backup`. Contains the newest good snapshot and all rows in the journal at
/// one moment; every checksum of the copy has been verified. An additional last row has epoch 0, so
/// that a daemon that starts from the copy begins a new epoch: changes made after the copy are not
/// part of it. A copy for another daemon of the same history has no such row: that daemon gets the
/// changes from the others. *Owner*: any one thread, also while another writes the journal.
/// *Cost*: reads and writes the whole history once, and reads the copy once.
package struct JournalBackup: Equatable, Sendable {
    /// The position at which the copy ends, before the row of epoch 0.
    package let end: JournalPosition
    /// The row number of the snapshot in the copy, nil without one.
    package let snapshot: UInt64?

    /// Creates the directory `path`. It gets that name only when it is complete; after a failure,
    /// nothing remains. Calls `isCancelled` often, and fails once that returns true.
    ///
    /// *Throws*: if `path` exists or is inside the copied directory, and for every read or write
    /// error.
    package init(
        of directory: DataDirectory, into path: String, beginsEpoch: Bool = true,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(JournalError) {
        try self.init(
            of: directory, into: NewDirectory(at: path, outside: directory),
            beginsEpoch: beginsEpoch, isCancelled: isCancelled)
    }

    /// Fills a new directory, which may be inside the copied one.
    init(
        of directory: DataDirectory, into copy: NewDirectory, beginsEpoch: Bool,
        isCancelled: @escaping () -> Bool
    ) throws(JournalError) {
        (snapshot, end) = try copy.fill { other throws(JournalError) in
            do throws(JournalError) {
                // A snapshot chosen first fits every later end of the journal.
                let snapshot = try Self.copySnapshot(of: directory, into: other, isCancelled)
                let end = try Self.copyRows(
                    of: directory, into: other, marksEnd: beginsEpoch, isCancelled)
                try Self.verify(other, snapshot, end, isMarked: beginsEpoch, isCancelled)
                return (snapshot, end)
            } catch {
                throw error.located(in: directory, insteadOf: other)
            }
        }
    }

    /// Maximum number of attempts to choose a snapshot. A daemon that takes many snapshots may
    /// remove the chosen one during the copy.
    private static let choicesMax = 3

    private static func copySnapshot(
        of directory: DataDirectory, into other: DataDirectory, _ isCancelled: () -> Bool
    ) throws(JournalError) -> UInt64? {
        var count = 0
        while true {
            count += 1
            do throws(JournalError) {
                let choice = try SnapshotStore(directory).choose(isCancelled: isCancelled)
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
        of directory: DataDirectory, into other: DataDirectory, marksEnd: Bool,
        _ isCancelled: @escaping () -> Bool
    ) throws(JournalError) -> JournalPosition {
        let file = other.path(partialName)
        try other.makeFile(partialName)
        let source = try JournalFile.reader(in: directory)
        try source.run("copying") { db in
            try db.withCancellation(isCancelled) {
                try db.run("VACUUM INTO ?", [.text(file)])
            }
        }
        let copy = try JournalDatabase(file, isReadOnly: false) { db in
            try db.execute("PRAGMA journal_mode = WAL")
        }
        let end = try copy.commit("marking") { db in
            let meta = MetaTable(db, in: file)
            let locator = try RowLocator(db, in: file)
            let end = try locator.position(of: locator.lastNumber())
            if marksEnd {
                let mark = Batch(
                    turn: 0, epoch: 0, after: end.sequence, sequence: end.sequence)
                let row = try StoredRow(mark, behind: end, at: end.time, in: file)
                try locator.table.append(row)
                // The copy is no part of the history that other daemons share.
                try meta.removeLogWords()
            }
            try meta.setFloorToEnd(of: locator.instance)
            // The source is open for writing and has a write-ahead log; the copy is not and has
            // none.
            try meta.setMark(.new)
            return end
        }
        // Closing also moves the log into the file, but does not report an error in doing so.
        try copy.checkpoint(.truncate)
        try copy.close()
        try other.synchronize(partialName)
        try other.rename(partialName, to: JournalFile.name)
        return end
    }

    // Without the row of epoch 0, a daemon would continue in the journal's epoch.
    private static func verify(
        _ directory: DataDirectory, _ snapshot: UInt64?, _ end: JournalPosition, isMarked: Bool,
        _ isCancelled: () -> Bool
    ) throws(JournalError) {
        let found = try JournalReader(directory).verifyRest(isCancelled: isCancelled)
        let isWhole =
            isMarked ? found.number == end.number + 1 && found.epoch == 0 : found == end
        guard isWhole else {
            throw .damage(
                JournalDamage(
                    file: directory.path(JournalFile.name), row: end.number + 1,
                    expected: isMarked ? "a row of epoch 0 at the end" : "the end at \(end)",
                    got: "\(found)"))
        }
        let choice = try SnapshotStore(directory).choose(isCancelled: isCancelled)
        guard let error = choice.passedOver.first else { return }
        throw error
    }
}

extension JournalError {
    /// The same damage, located in the file that was copied, since the copy has been removed.
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
