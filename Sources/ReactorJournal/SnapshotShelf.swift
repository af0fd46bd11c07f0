/// The snapshots of a data directory.
public struct SnapshotShelf: Sendable {
    private let directory: DataDirectory

    /// Looks at the snapshots in `directory`.
    public init(_ directory: DataDirectory) { self.directory = directory }

    /// How many snapshots are kept: one to start from, and one in case that it is damaged.
    public static let keptCount = 2

    /// The rows that there are snapshots of, the newest first.
    public func numbers() throws(JournalError) -> [UInt64] {
        try directory.names().compactMap(SnapshotHeader.number).sorted(by: >)
    }

    /// How long the newest snapshot is; nil if there is none.
    public func newestByteCount() throws(JournalError) -> Int? {
        guard let number = try numbers().first else { return nil }
        return try directory.byteCount(of: SnapshotHeader.name(number))
    }

    /// Removes what a crash left half-written; only while no snapshot is being written.
    public func removeOrphans() throws(JournalError) {
        for name in try directory.names() where SnapshotHeader.isPartial(name) {
            try directory.remove(name)
        }
    }

    /// Removes all but the newest that are whole; answers the row of the oldest that is left,
    /// behind which the journal may be trimmed. Nil, and nothing is removed, if there are not as
    /// many as are kept.
    ///
    /// One that is damaged counts for nothing, however new it is. *Cost*: reads what it keeps.
    @discardableResult
    public func removeOlder(keeping count: Int = keptCount) throws(JournalError) -> UInt64? {
        let journal = try JournalReader(directory)
        var kept: [UInt64] = []
        var rest: [UInt64] = []
        for number in try numbers() {
            if kept.count < count, try fault(of: number, in: journal) == nil {
                kept.append(number)
            } else {
                rest.append(number)
            }
        }
        guard kept.count == count else { return nil }
        for number in rest { try directory.remove(SnapshotHeader.name(number)) }
        try directory.synchronize()
        return kept.last
    }

    /// What there is to start from.
    public struct Choice {
        /// The newest good snapshot, nothing of it read yet; nil to start from the first row.
        public let snapshot: SnapshotReader?
        /// Why newer ones were passed over.
        public let passedOver: [JournalError]
    }

    /// Picks the newest snapshot that is whole and joins the journal, reading all of it once,
    /// unless `isCancelled` says that nobody wants it any more.
    ///
    /// *Throws*: where one says that the journal has lost rows or is another's, and where none is
    /// left though the journal's first rows are gone.
    public func choose(
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
                    reason: "the journal begins behind row \(journal.anchor.number)")
        }
        return Choice(snapshot: nil, passedOver: passedOver)
    }

    /// What is wrong with the file of the snapshot of row `number` itself; nil if nothing is.
    ///
    /// *Throws*: what is wrong with anything else: the journal, or the disk.
    private func fault(
        of number: UInt64, in journal: JournalReader, _ isCancelled: () -> Bool = { false }
    ) throws(JournalError) -> JournalError? {
        do throws(JournalError) {
            let reader = try SnapshotReader(directory, of: number)
            try reader.verifyRest(isCancelled: isCancelled)
            try check(reader, joins: journal)
            return nil
        } catch {
            guard error.isOf(directory.path(SnapshotHeader.name(number))) else { throw error }
            return error
        }
    }

    /// Refuses a whole snapshot that is not of this journal, or newer than it.
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
                    expected: "a row from \(journal.anchor.number) on",
                    got: "row \(position.number)"))
        }
        _ = try JournalReader(directory, behind: position)
    }
}

extension JournalError {
    /// Whether it is what a file holds that is wrong, and not the disk that it lies on.
    fileprivate func isOf(_ file: String) -> Bool {
        switch self {
        case .damage(let damage): damage.file == file
        case .foreign(let foreign, _): foreign == file
        case .newerFormat(let newer, _, _): newer == file
        // because those are SQLite's codes for no memory, a disk that failed, and no descriptor
        case .database(let failure):
            failure.file == file && ![7, 10, 14].contains(failure.code & 0xFF)
        default: false
        }
    }
}
