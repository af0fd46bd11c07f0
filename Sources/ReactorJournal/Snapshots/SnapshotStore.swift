/// The snapshots of a data directory.
package struct SnapshotStore: Sendable {
    private let directory: DataDirectory

    /// Provides access to the snapshots in `directory`.
    package init(_ directory: DataDirectory) { self.directory = directory }

    /// Number of snapshots to keep: one to start from, and one in case that the first is damaged.
    package static let keptCount = 2

    /// The row numbers of all snapshots, newest first.
    package func numbers() throws(JournalError) -> [UInt64] {
        try directory.names().compactMap(SnapshotHeader.number).sorted(by: >)
    }

    /// Size of the newest snapshot in bytes; nil if there is none.
    package func newestByteCount() throws(JournalError) -> Int? {
        guard let number = try numbers().first else { return nil }
        return try byteCount(of: number)
    }

    /// Size of the snapshot of row `number` in bytes; nil if there is none.
    package func byteCount(of number: UInt64) throws(JournalError) -> Int? {
        try directory.byteCount(of: SnapshotHeader.name(number))
    }

    /// Removes incomplete files that a crash left; call only while no snapshot is being written.
    package func removeOrphans() throws(JournalError) {
        for name in try directory.names() where SnapshotHeader.isPartial(name) {
            try directory.remove(name)
        }
    }

    /// Removes all snapshots except the newest `count`; returns the row of the oldest remaining
    /// one, up to which the journal may be trimmed. Returns nil and removes nothing if there are
    /// fewer.
    ///
    /// *Throws*: if one of the newest is damaged or cannot be read; nothing is removed then, and
    /// the damaged one is removed once there are enough newer ones. *Cost*: reads the snapshots
    /// that it keeps.
    @discardableResult
    package func removeOlder(keeping count: Int = keptCount) throws(JournalError) -> UInt64? {
        let journal = try JournalReader(directory)
        var kept: [UInt64] = []
        var rest: [UInt64] = []
        for number in try numbers() {
            guard kept.count < count else {
                rest.append(number)
                continue
            }
            if let fault = try fault(of: number, in: journal) {
                // Not the fault itself: one bad block of a snapshot does not end the daemon.
                throw .damage(
                    JournalDamage(
                        file: directory.path(SnapshotHeader.name(number)), row: nil,
                        expected: "a whole snapshot", got: "\(fault)"))
            }
            kept.append(number)
        }
        guard kept.count == count else { return nil }
        for number in rest { try directory.remove(SnapshotHeader.name(number)) }
        try directory.synchronize()
        return kept.last
    }

    /// The snapshot from which to start.
    package struct Choice {
        /// The newest good snapshot, not yet read; nil to start from the first row.
        package let snapshot: SnapshotReader?
        /// The faults of newer snapshots, which are skipped.
        package let passedOver: [JournalError]
    }

    /// Chooses the newest snapshot that is intact and fits the journal. Reads it completely, unless
    /// `isCancelled` returns true.
    ///
    /// *Throws*: if a snapshot shows that the journal has lost rows or is a different one, and if
    /// no snapshot is left although the journal's first rows have been trimmed.
    package func choose(
        isCancelled: () -> Bool = { false }
    ) throws(JournalError) -> Choice {
        let journal = try JournalReader(directory)
        var passedOver: [JournalError] = []
        for number in try numbers() {
            if let fault = try fault(of: number, in: journal, isCancelled) {
                passedOver.append(fault)
            } else {
                return Choice(
                    snapshot: try SnapshotReader(directory, of: number), passedOver: passedOver)
            }
        }
        guard journal.anchor.number == 0 else {
            throw passedOver.first
                ?? .missing(
                    file: directory.path(SnapshotHeader.name(journal.anchor.number)),
                    reason: "the journal begins after row \(journal.anchor.number)")
        }
        return Choice(snapshot: nil, passedOver: passedOver)
    }

    /// Returns the fault of the snapshot of row `number`; nil if it has none.
    ///
    /// *Throws*: faults of the journal or the disk.
    private func fault(
        of number: UInt64, in journal: JournalReader, _ isCancelled: () -> Bool = { false }
    ) throws(JournalError) -> JournalError? {
        do throws(JournalError) {
            let reader = try SnapshotReader(directory, of: number)
            try reader.verifyRest(isCancelled: isCancelled)
            try check(reader, joins: journal)
            return nil
        } catch {
            guard error.isFault(in: directory.path(SnapshotHeader.name(number))) else {
                throw error
            }
            return error
        }
    }

    /// Throws if an intact snapshot is of another journal, or newer than the journal.
    private func check(
        _ reader: SnapshotReader, joins journal: JournalReader
    ) throws(JournalError) {
        guard reader.header.instance == journal.instance else {
            throw .foreign(
                file: directory.path(JournalFile.name),
                found: "it is instance \(journal.instance), and \(reader.file) is of "
                    + "\(reader.header.instance)")
        }
        let position = reader.header.position
        guard position.number >= journal.anchor.number else {
            throw .damage(
                JournalDamage(
                    file: reader.file, row: nil,
                    expected: "a row of at least \(journal.anchor.number)",
                    got: "row \(position.number)"))
        }
        _ = try JournalReader(directory, behind: position)
    }
}

extension JournalError {
    /// Whether the content of `file` is at fault, and not the disk.
    fileprivate func isFault(in file: String) -> Bool {
        switch self {
        case .damage(let damage): damage.file == file
        case .foreign(let foreign, _): foreign == file
        case .newerFormat(let newer, _, _): newer == file
        // SQLite's codes for no memory, a failed disk, and no descriptor are not faults of the
        // file.
        case .database(let failure):
            failure.file == file && ![7, 10, 14].contains(failure.code & 0xFF)
        default: false
        }
    }
}
