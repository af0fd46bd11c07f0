import CSQLite

/// An open blob, read or overwritten in pieces from its start: SQLite holds only some of its pages
/// in memory.
///
/// *Place*: a part of a snapshot may have the size of the largest state. *Owner*: as its connection;
/// no other statement may change the row. *C*: `sqlite3_blob_open`, `sqlite3_blob_read`,
/// `sqlite3_blob_write`, `sqlite3_blob_close`.
@safe
final class SQLiteBlob {
    /// Number of bytes, which does not change.
    let byteCount: Int
    /// Bytes that were read or written.
    private(set) var offset = 0
    private let blob: OpaquePointer
    private let handle: SQLiteHandle

    /// Maximum bytes that one call of SQLite reads or writes.
    static let pieceByteCount = 256 << 10

    init(
        _ handle: SQLiteHandle, _ table: String, _ column: String, _ row: UInt64, isWritable: Bool
    ) throws {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_blob_open(
            handle.pointer, "main", table, column, Int64(bitPattern: row), isWritable ? 1 : 0,
            &opened)
        guard code == SQLITE_OK, let opened = unsafe opened else { throw handle.error(code) }
        unsafe blob = opened
        self.handle = handle
        byteCount = Int(unsafe sqlite3_blob_bytes(opened))
    }

    deinit { unsafe sqlite3_blob_close(blob) }

    /// Overwrites the next bytes.
    func write(_ bytes: Span<UInt8>) throws {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Self.pieceByteCount)
            let code = unsafe bytes.extracting(start..<end).withUnsafeBytes { piece in
                unsafe sqlite3_blob_write(
                    blob, piece.baseAddress, Int32(piece.count), Int32(offset))
            }
            guard code == SQLITE_OK else { throw handle.error(code) }
            offset += end - start
            start = end
        }
    }

    /// Lends the rest to `body`, in consecutive pieces; each is valid for the call.
    func readRest(_ body: (Span<UInt8>) throws -> Void) throws {
        var piece = [UInt8](repeating: 0, count: min(Self.pieceByteCount, byteCount - offset))
        while offset < byteCount {
            let count = min(piece.count, byteCount - offset)
            let code = unsafe piece.withUnsafeMutableBytes { bytes in
                unsafe sqlite3_blob_read(blob, bytes.baseAddress, Int32(count), Int32(offset))
            }
            guard code == SQLITE_OK else { throw handle.error(code) }
            offset += count
            try body(piece.span.extracting(0..<count))
        }
    }

    /// The rest as a whole. *Cost*: holds it once.
    func rest() throws -> [UInt8] {
        try unsafe [UInt8](unsafeUninitializedCapacity: byteCount - offset) { bytes, count in
            while offset < byteCount {
                let next = min(Self.pieceByteCount, byteCount - offset)
                let code = unsafe sqlite3_blob_read(
                    blob, bytes.baseAddress.map { unsafe $0 + count }, Int32(next), Int32(offset))
                guard code == SQLITE_OK else { throw handle.error(code) }
                count += next
                offset += next
            }
        }
    }
}
