/// A value of the log key: rows of a leader, or a part of one row.
///
/// *Shape*: numbers are stored lowest byte first.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | 1 | format: 1 |
/// | 1 | 1 | kind: 1 for rows, 2 for a part |
/// | 2 | 8 | term, at least 1 |
/// | 10 | 8 | number of the first row, at least 1 |
/// | 18 | 8 | checksum of the row before it |
///
/// Rows follow with their count (4 bytes, at least 1), and for each row its checksum (8), its length
/// (4) and its bytes. A part follows with the checksum of the row (8), the length of the row (4),
/// the part's offset in the row (4) and the part's bytes: at least one, and fewer than the row has.
package struct LogEntry: Equatable, Sendable {
    /// The content of an entry.
    package enum Content: Equatable, Sendable {
        /// Whole rows with consecutive numbers, at least one.
        case rows([LogRow])
        /// A part of a row that is too long for one entry. The parts of a row are consecutive
        /// entries of one term.
        case part(RowPart)
    }

    /// The term of the leader that wrote the entry.
    package var term: UInt64
    /// The position before the entry's first row, or before the row of its part.
    package var behind: RowPosition
    /// The rows, or the part.
    package var content: Content

    /// Creates an entry.
    package init(term: UInt64, behind: RowPosition, content: Content) {
        self.term = term
        self.behind = behind
        self.content = content
    }
}

/// A part of a row.
package struct RowPart: Equatable, Sendable {
    /// The checksum of the whole row.
    package var chain: UInt64
    /// The length of the whole row.
    package var rowByteCount: Int
    /// The part's offset in the row.
    package var offset: Int
    /// The part's bytes.
    package var bytes: [UInt8]

    /// Creates a part.
    package init(chain: UInt64, rowByteCount: Int, offset: Int, bytes: [UInt8]) {
        self.chain = chain
        self.rowByteCount = rowByteCount
        self.offset = offset
        self.bytes = bytes
    }

    /// Whether the row ends with this part.
    package var isLast: Bool { offset + bytes.count == rowByteCount }
}

// MARK: - Bytes
extension LogEntry {
    private static let format: UInt8 = 1
    private static let rowsKind: UInt8 = 1
    private static let partKind: UInt8 = 2
    private static let headByteCount = 26

    /// Bytes of an entry with `rowCount` rows, without the bytes of the rows.
    package static func overhead(rowCount: Int) -> Int { headByteCount + 4 + 12 * rowCount }

    /// Maximum length of a part in bytes; a longer row is cut into several.
    package static let partBytesMax = EngineLimits.entryBytesMax - headByteCount - 16

    /// The entry's bytes. *Traps*: if they are more than ``EngineLimits/entryBytesMax``.
    package var bytes: [UInt8] {
        var bytes = [Self.format, content.isPart ? Self.partKind : Self.rowsKind]
        bytes.append(term, byteCount: 8)
        bytes.append(behind.number + 1, byteCount: 8)
        bytes.append(behind.chain, byteCount: 8)
        switch content {
        case .rows(let rows):
            bytes.append(rows.count, byteCount: 4)
            for row in rows {
                bytes.append(row.chain, byteCount: 8)
                bytes.append(row.bytes.count, byteCount: 4)
                bytes += row.bytes
            }
        case .part(let part):
            bytes.append(part.chain, byteCount: 8)
            bytes.append(part.rowByteCount, byteCount: 4)
            bytes.append(part.offset, byteCount: 4)
            bytes += part.bytes
        }
        precondition(
            bytes.count <= EngineLimits.entryBytesMax,
            "an entry of \(bytes.count) bytes exceeds \(EngineLimits.entryBytesMax)")
        return bytes
    }

    /// Decodes a value of the log key.
    package init(bytes: [UInt8]) throws(RecordError) {
        guard bytes.count <= EngineLimits.entryBytesMax else {
            throw .tooLong(
                record: "log entry", byteCount: bytes.count, bytesMax: EngineLimits.entryBytesMax)
        }
        var reader = RecordReader("log entry", bytes)
        try reader.checkFormat(Self.format)
        let kind = try reader.byte("kind")
        guard kind == Self.rowsKind || kind == Self.partKind else {
            throw reader.invalid("kind", byteCount: 1, got: UInt64(kind))
        }
        term = try reader.positiveWord("term")
        let first = try reader.positiveWord("row number")
        behind = RowPosition(number: first - 1, chain: try reader.word("checksum before"))
        content =
            kind == Self.rowsKind
            ? .rows(try Self.rows(behind: behind.number, &reader))
            : .part(try RowPart(&reader))
        try reader.end()
    }

    private static func rows(
        behind number: UInt64, _ reader: inout RecordReader
    ) throws(RecordError) -> [LogRow] {
        let count = try reader.number("row count", byteCount: 4)
        // A row has at least 12 bytes, so the count is not trusted with memory.
        guard count > 0, count <= UInt64(EngineLimits.entryBytesMax / 12),
            number <= UInt64.max - count
        else { throw reader.invalid("row count", byteCount: 4, got: count) }
        var rows: [LogRow] = []
        for index in 1...count {
            let chain = try reader.word("row's checksum")
            let byteCount = Int(try reader.number("row's length", byteCount: 4))
            rows.append(
                LogRow(
                    number: number + index, chain: chain,
                    bytes: try reader.take("row", byteCount: byteCount)))
        }
        return rows
    }
}

extension LogEntry.Content {
    fileprivate var isPart: Bool { if case .part = self { true } else { false } }
}

extension RowPart {
    fileprivate init(_ reader: inout RecordReader) throws(RecordError) {
        chain = try reader.word("row's checksum")
        let length = try reader.number("row's length", byteCount: 4)
        guard length <= LogRow.bytesMax else {
            throw reader.invalid("row's length", byteCount: 4, got: length)
        }
        let start = try reader.number("part's offset", byteCount: 4)
        guard start < length else {
            throw reader.invalid("part's offset", byteCount: 4, got: start)
        }
        (rowByteCount, offset) = (Int(length), Int(start))
        let byteCount = reader.left
        bytes = try reader.take("part", byteCount: byteCount)
        guard byteCount > 0, byteCount < rowByteCount, byteCount <= rowByteCount - offset else {
            throw reader.invalid("part", byteCount: byteCount, got: UInt64(byteCount))
        }
    }
}
