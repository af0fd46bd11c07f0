/// Reads a snapshot's parts in order, and verifies each before it returns it.
///
/// *Owner*: one thread. *Cost*: memory for one part; a verification without the parts takes memory
/// for a piece.
package final class SnapshotReader {
    /// The snapshot's identity.
    package let header: SnapshotHeader
    /// The file's path.
    package let file: String

    private let database: JournalDatabase
    private let endChain: UInt64
    private var chain: UInt64
    private var partCount = 0

    /// Opens the snapshot of row `number`.
    package init(_ directory: DataDirectory, of number: UInt64) throws(JournalError) {
        let name = SnapshotHeader.name(number)
        let file = directory.path(name)
        try JournalFormat(of: name, in: directory).require(SnapshotHeader.applicationID, file: file)
        let database = try JournalDatabase(file, isReadOnly: true)
        (header, endChain) = try database.run("opening") { db in
            try Self.header(MetaTable(db, in: file))
        }
        guard header.position.number == number else {
            throw .damage(
                JournalDamage(
                    file: file, row: nil, expected: "a snapshot of row \(number)",
                    got: "one of row \(header.position.number)"))
        }
        chain = SnapshotHeader.seed(header.instance, number)
        self.database = database
        self.file = file
    }

    /// Returns the next part; nil after the last.
    ///
    /// *Throws*: ``JournalError/damage(_:)`` if the content is not what was written.
    package func next() throws(JournalError) -> [UInt8]? {
        try read { blob, sum in
            let bytes = try blob.rest()
            sum.add(bytes.span)
            return bytes
        }
    }

    /// Verifies all remaining parts.
    package func verifyRest(isCancelled: () -> Bool = { false }) throws(JournalError) {
        var isLeft = true
        while isLeft {
            if isCancelled() { throw .cancelled(file) }
            isLeft =
                try read { blob, sum in
                    try blob.readRest { sum.add($0) }
                    return true
                } ?? false
        }
    }

    /// Reads the next part with `body`, which adds its bytes to a sum; nil after the last.
    private func read<Content>(
        _ body: (SQLiteBlob, ChecksumInPieces) throws -> Content
    ) throws(JournalError) -> Content? {
        guard partCount < header.partCount else { return nil }
        let number = UInt64(partCount + 1)
        var content: Content?
        let recorded = try database.run("reading") { db in
            guard let recorded = try Self.recordedChain(of: number, db) else {
                return nil as UInt64?
            }
            let blob = try db.blob(in: "part", column: "bytes", row: number, isWritable: false)
            let sum = ChecksumInPieces(
                behind: SnapshotHeader.seed(of: blob.byteCount, number: number, behind: chain))
            content = try body(blob, sum)
            chain = sum.value
            return recorded
        }
        guard let recorded, let content else {
            throw damage(number, expected: "a part", got: "none, or something else")
        }
        guard recorded == chain else {
            throw damage(number, expected: "checksum \(chain)", got: "\(recorded)")
        }
        partCount += 1
        if partCount == header.partCount, chain != endChain {
            throw damage(number, expected: "checksum \(endChain) at the end", got: "\(chain)")
        }
        return content
    }

    /// The checksum in the row of a part; nil if there is no such row, or it is not one of a part.
    private static func recordedChain(
        of number: UInt64, _ db: SQLiteConnection
    ) throws -> UInt64? {
        let select = try db.statement("SELECT typeof(bytes), chain FROM part WHERE number = ?")
        defer { select.end() }
        select.bind(number, at: 1)
        return try select.step() && select.text(0) == "blob" ? select.word(1) : nil
    }

    private static func header(_ meta: MetaTable) throws -> (SnapshotHeader, UInt64) {
        let instance = try meta.instance()
        guard let words = try meta.words("position", behind: instance.seed),
            let position = JournalPosition(words: words),
            let end = try meta.words("end", behind: instance.seed), end.count == 2,
            let partCount = Int(exactly: end[0])
        else {
            throw JournalError.damage(
                JournalDamage(
                    file: meta.file, row: nil, expected: "a snapshot's header", got: "none"))
        }
        let header = SnapshotHeader(instance: instance, position: position, partCount: partCount)
        return (header, end[1])
    }

    private func damage(_ row: UInt64, expected: String, got: String) -> JournalError {
        .damage(JournalDamage(file: file, row: row, expected: expected, got: got))
    }
}
