/// Writes the parts of a snapshot into its file, each as a whole or in pieces.
///
///     parts.add(bytes.span)
///     parts.add(byteCount: size) { take in for piece in pieces { take(piece.span) } }
///     if let failure = parts.failure { throw failure }
///
/// *Place*: a ``SnapshotTask`` lends it to each ``SnapshotTask/Lender``. After a failure it writes
/// nothing more. *Owner*: the snapshot's thread.
package final class SnapshotParts {
    /// Number of parts.
    private(set) var count = 0
    /// The checksum of the last part, which contains those before.
    private(set) var chain: UInt64
    /// Why a part could not be written.
    private(set) var failure: JournalError?
    private let database: JournalDatabase

    // SQLite makes a copy of a row that it inserts.
    /// Bytes of a part above which it is written in pieces.
    private static let copiedBytesMax = 1 << 20

    init(into database: JournalDatabase, behind seed: UInt64) {
        self.database = database
        chain = seed
    }

    /// Adds a part.
    package func add(_ part: Span<UInt8>) {
        guard part.count <= Self.copiedBytesMax else {
            return attempt { () throws(JournalError) in
                let chain = SnapshotHeader.chain(of: part, number: number, behind: chain)
                try insert(byteCount: part.count, chain) { blob in try blob.write(part) }
                return chain
            }
        }
        attempt { () throws(JournalError) in
            let chain = SnapshotHeader.chain(of: part, number: number, behind: chain)
            try database.commit("writing") { db in
                let insert = try db.statement(
                    "INSERT INTO part(number, chain, bytes) VALUES(?, ?, ?)")
                insert.bind(number, at: 1)
                insert.bind(chain, at: 2)
                try insert.run(part, at: 3)
            }
            return chain
        }
    }

    /// Adds a part of `byteCount` bytes, which is never in memory as a whole. `encode` passes its
    /// consecutive pieces to its argument. It is called twice: the row begins with the checksum.
    package func add(byteCount: Int, _ encode: (_ take: (Span<UInt8>) -> Void) -> Void) {
        attempt { () throws(JournalError) in
            let seed = SnapshotHeader.seed(of: byteCount, number: number, behind: chain)
            let sum = ChecksumInPieces(behind: seed)
            encode { sum.add($0) }
            try insert(byteCount: byteCount, sum.value) { blob in
                try write(encode, to: blob, behind: seed, expecting: sum.value)
            }
            return sum.value
        }
    }

    private var number: UInt64 { UInt64(count) + 1 }

    private func attempt(_ body: () throws(JournalError) -> UInt64) {
        guard failure == nil else { return }
        do throws(JournalError) {
            chain = try body()
            count += 1
        } catch {
            failure = error
        }
    }

    // The zeros of `zeroblob` take no memory if they end the row.
    private func insert(
        byteCount: Int, _ chain: UInt64, _ write: (SQLiteBlob) throws -> Void
    ) throws(JournalError) {
        try database.commit("writing") { db in
            try db.run(
                "INSERT INTO part(number, chain, bytes) VALUES(?, ?, zeroblob(?))",
                [.word(number), .word(chain), .word(UInt64(byteCount))])
            try write(db.blob(in: "part", column: "bytes", row: number, isWritable: true))
        }
    }

    private func write(
        _ encode: (_ take: (Span<UInt8>) -> Void) -> Void, to blob: SQLiteBlob, behind seed: UInt64,
        expecting value: UInt64
    ) throws {
        let sum = ChecksumInPieces(behind: seed)
        var result: Result<Void, any Error> = .success(())
        encode { piece in
            guard case .success = result else { return }
            sum.add(piece)
            result = Result { try blob.write(piece) }
        }
        try result.get()
        guard blob.offset == blob.byteCount, sum.value == value else {
            throw JournalError.damage(
                JournalDamage(
                    file: database.file, row: number,
                    expected: "the same \(blob.byteCount) bytes from each encoding of a state",
                    got: "\(blob.offset) bytes, or others"))
        }
    }
}
