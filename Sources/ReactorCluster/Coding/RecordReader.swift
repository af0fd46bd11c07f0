import ReactorBytes

/// Reads the fields of a record, in order, each with a check of its length.
struct RecordReader: ~Copyable {
    /// The record's name in errors.
    private let record: String
    private let bytes: [UInt8]
    private var offset = 0

    init(_ record: String, _ bytes: [UInt8]) {
        self.record = record
        self.bytes = bytes
    }

    /// Bytes that were not read yet.
    var left: Int { bytes.count - offset }

    /// Reads a number of `byteCount` bytes, lowest first. *Traps*: if it has more than eight.
    mutating func number(_ field: String, byteCount: Int) throws(RecordError) -> UInt64 {
        try require(byteCount, field)
        defer { offset += byteCount }
        return ByteWords.word(in: bytes.span, at: offset, byteCount: byteCount)
    }

    /// Reads a number of one byte.
    mutating func byte(_ field: String) throws(RecordError) -> UInt8 {
        UInt8(truncatingIfNeeded: try number(field, byteCount: 1))
    }

    /// Reads the byte of the format, which must be `known`.
    mutating func checkFormat(_ known: UInt8) throws(RecordError) {
        let format = try byte("format")
        guard format == known else { throw invalid("format", byteCount: 1, got: UInt64(format)) }
    }

    /// Reads a number of eight bytes.
    mutating func word(_ field: String) throws(RecordError) -> UInt64 {
        try number(field, byteCount: 8)
    }

    /// Reads a number of eight bytes that is not 0.
    mutating func positiveWord(_ field: String) throws(RecordError) -> UInt64 {
        let value = try word(field)
        guard value > 0 else { throw invalid(field, byteCount: 8, got: value) }
        return value
    }

    /// Reads `byteCount` bytes.
    mutating func take(_ field: String, byteCount: Int) throws(RecordError) -> [UInt8] {
        try require(byteCount, field)
        defer { offset += byteCount }
        return Array(bytes[offset..<offset + byteCount])
    }

    /// An error about the field of `byteCount` bytes that was read last.
    func invalid(_ field: String, byteCount: Int, got: UInt64) -> RecordError {
        .invalid(record: record, at: offset - byteCount, field: field, got: got)
    }

    /// Throws an error if bytes are left.
    func end() throws(RecordError) {
        guard left == 0 else { throw .excess(record: record, at: offset, byteCount: left) }
    }

    private func require(_ byteCount: Int, _ field: String) throws(RecordError) {
        guard left >= byteCount else {
            throw .truncated(
                record: record, at: offset, field: field, expected: byteCount, got: left)
        }
    }
}

extension [UInt8] {
    /// Appends the `byteCount` low bytes of a number, lowest first.
    mutating func append(_ number: some FixedWidthInteger, byteCount: Int) {
        for index in 0..<byteCount {
            append(UInt8(truncatingIfNeeded: number >> (8 * index)))
        }
    }
}
