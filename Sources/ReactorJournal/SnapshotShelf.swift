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

    /// Removes what a crash left half-written; only while no snapshot is being written.
    public func removeOrphans() throws(JournalError) {
        for name in try directory.names() where name.hasPrefix("snapshot-") {
            if name.hasSuffix(".partial") || name.hasSuffix(".partial-journal") {
                try directory.remove(name)
            }
        }
    }

    /// Removes all but the newest; answers the row of the oldest that is left, behind which the
    /// journal may be trimmed, or nil if there are not as many as are kept.
    @discardableResult
    public func removeOlder(keeping count: Int = keptCount) throws(JournalError) -> UInt64? {
        let numbers = try numbers()
        for number in numbers.dropFirst(count) {
            try directory.remove(SnapshotHeader.name(number))
        }
        return numbers.count < count ? nil : numbers.prefix(count).last
    }

    /// What there is to start from.
    public struct Choice {
        /// The newest good snapshot, nothing of it read yet; nil to start from the first row.
        public let snapshot: SnapshotReader?
        /// Why newer ones were passed over.
        public let passedOver: [JournalError]
    }

    /// Picks the newest snapshot that is whole and joins the journal, reading all of it once.
    ///
    /// *Throws*: where one says that the journal has lost rows or is another's, and where none is
    /// left though the journal's first rows are gone.
    public func choose() throws(JournalError) -> Choice {
        let journal = try JournalReader(directory)
        var passedOver: [JournalError] = []
        for number in try numbers() {
            do throws(JournalError) {
                let reader = try SnapshotReader(directory, of: number)
                try reader.verifyRest()
                try check(reader, joins: journal)
                return Choice(
                    snapshot: try SnapshotReader(directory, of: number), passedOver: passedOver)
            } catch {
                guard case .damage(let damage) = error,
                    damage.file == directory.path(SnapshotHeader.name(number))
                else { throw error }
                passedOver.append(error)
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
