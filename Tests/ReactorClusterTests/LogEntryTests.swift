import Testing

@testable import ReactorCluster

struct LogEntryTests {
    private static let rows = LogEntry(
        term: 0x0203, behind: RowPosition(number: 8, chain: 9),
        content: .rows([
            LogRow(number: 9, chain: 0x0a0b, bytes: [1, 2, 3]),
            LogRow(number: 10, chain: .max, bytes: []),
        ]))
    private static let part = LogEntry(
        term: 7, behind: RowPosition(number: 0, chain: 0),
        content: .part(RowPart(chain: 4, rowByteCount: 0x0100_0000, offset: 300, bytes: [5, 6])))

    private static func word(_ first: UInt8, _ second: UInt8 = 0) -> [UInt8] {
        [first, second, 0, 0, 0, 0, 0, 0]
    }

    @Test("the bytes of an entry of rows are pinned")
    func goldenRows() {
        let head = [1, 1] + Self.word(3, 2) + Self.word(9) + Self.word(9)
        let first = Self.word(0x0b, 0x0a) + [3, 0, 0, 0, 1, 2, 3]
        let second = [UInt8](repeating: 0xff, count: 8) + [0, 0, 0, 0]
        #expect(Self.rows.bytes == head + [2, 0, 0, 0] + first + second)
        #expect(Self.rows.bytes.count == LogEntry.overhead(rowCount: 2) + 3)
    }

    @Test("the bytes of an entry with a part are pinned")
    func goldenPart() {
        let head = [1, 2] + Self.word(7) + Self.word(1) + Self.word(0)
        let tail: [UInt8] = [0, 0, 0, 1, 44, 1, 0, 0, 5, 6]
        #expect(Self.part.bytes == head + Self.word(4) + tail)
    }

    @Test("an entry is decoded from its own bytes")
    func roundTrip() throws {
        for entry in [Self.rows, Self.part] {
            #expect(try LogEntry(bytes: entry.bytes) == entry)
        }
    }

    @Test("each truncation of an entry is refused, except where a part only gets shorter")
    func truncation() {
        let rows = Self.rows.bytes
        for count in 0..<rows.count {
            #expect(throws: RecordError.self, "\(count) bytes") {
                try LogEntry(bytes: Array(rows.prefix(count)))
            }
        }
        let part = Self.part.bytes
        for count in 0..<part.count - 1 {
            #expect(throws: RecordError.self, "\(count) bytes") {
                try LogEntry(bytes: Array(part.prefix(count)))
            }
        }
        #expect(throws: RecordError.excess(record: "log entry", at: rows.count, byteCount: 1)) {
            try LogEntry(bytes: rows + [0])
        }
    }

    @Test("each entry has one form: bytes that can be decoded are the bytes of the entry")
    func canonical() {
        for bytes in [Self.rows.bytes, Self.part.bytes] {
            for offset in bytes.indices {
                for change in [1, 2, 0x10, 0x80, 0xff] as [UInt8] {
                    var changed = bytes
                    changed[offset] ^= change
                    guard let entry = try? LogEntry(bytes: changed) else { continue }
                    #expect(entry.bytes == changed, "byte \(offset) changed by \(change)")
                }
            }
        }
    }

    /// An entry with another byte at an offset.
    private static func changed(_ entry: LogEntry, at offset: Int, to byte: UInt8) -> [UInt8] {
        var bytes = entry.bytes
        bytes[offset] = byte
        return bytes
    }

    @Test("a field with a value that no writer stores is refused by its name")
    func fields() {
        func error(_ bytes: [UInt8]) -> String? {
            do { _ = try LogEntry(bytes: bytes) } catch { return "\(error)" }
            return nil
        }
        var noTerm = Self.part.bytes
        noTerm[2] = 0
        var noNumber = Self.part.bytes
        noNumber[10] = 0
        let cases: [([UInt8], String)] = [
            (Self.changed(Self.rows, at: 0, to: 2), "format is 2"),
            (Self.changed(Self.rows, at: 1, to: 3), "kind is 3"),
            (noTerm, "term is 0"), (noNumber, "row number is 0"),
            (Self.changed(Self.rows, at: 26, to: 0), "row count is 0"),
            (Self.changed(Self.rows, at: 29, to: 1), "row count is 16777218"),
            (Self.changed(Self.part, at: 37, to: 0xff), "row's length is"),
            (Self.changed(Self.part, at: 41, to: 1), "part's offset is"),
        ]
        for (bytes, words) in cases {
            #expect(error(bytes)?.contains(words) == true, "\(words): \(error(bytes) ?? "none")")
        }
    }

    @Test("a part that is empty, whole or longer than its row is refused")
    func parts() {
        func entry(_ byteCount: Int, offset: Int, count: Int) -> [UInt8] {
            LogEntry(
                term: 1, behind: RowPosition(number: 0, chain: 0),
                content: .part(
                    RowPart(
                        chain: 0, rowByteCount: byteCount, offset: offset,
                        bytes: [UInt8](repeating: 0, count: count)))
            ).bytes
        }
        for bytes in [
            entry(10, offset: 0, count: 0), entry(10, offset: 0, count: 10),
            entry(10, offset: 8, count: 3), entry(10, offset: 10, count: 1),
        ] {
            #expect(throws: RecordError.self) { try LogEntry(bytes: bytes) }
        }
        #expect(throws: Never.self) { try LogEntry(bytes: entry(10, offset: 8, count: 2)) }
    }

    @Test("an entry beyond the maximum size is refused before it is read")
    func tooLong() {
        let bytes = [UInt8](repeating: 1, count: EngineLimits.entryBytesMax + 1)
        #expect(
            throws: RecordError.tooLong(
                record: "log entry", byteCount: bytes.count, bytesMax: EngineLimits.entryBytesMax)
        ) { try LogEntry(bytes: bytes) }
    }
}
