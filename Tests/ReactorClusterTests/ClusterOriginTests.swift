import ReactorCluster
import Testing

/// The stored form of ``ClusterOrigin``.
struct ClusterOriginTests {
    private static let base = ClusterOrigin(
        instance: [0x0102, .max, 3], epoch: 4, sequence: 5,
        row: RowPosition(number: 0x0607, chain: 8), time: -1)
    private static let empty = ClusterOrigin(
        instance: [1, 2, 3], epoch: 0, sequence: 0, row: RowPosition(number: 0, chain: 9), time: 0)
    /// The fields behind the format, each of eight bytes.
    private static let fields = [
        "journal's identity", "journal's identity", "journal's identity", "epoch", "sequence",
        "row number", "row checksum", "time",
    ]

    @Test("the bytes of a base are pinned")
    func golden() {
        let ones = [UInt8](repeating: 0xff, count: 8)
        let words: [[UInt8]] = [[2, 1], ones, [3], [4], [5], [7, 6], [8], ones]
        let padded = words.flatMap { $0 + Array(repeating: 0, count: 8 - $0.count) }
        #expect(Self.base.bytes == [1] + padded)
        #expect(Self.base.bytes.count == 65)
    }

    @Test("a base is decoded from its own bytes")
    func roundTrip() throws {
        for base in [Self.base, Self.empty] {
            #expect(try ClusterOrigin(bytes: base.bytes) == base)
        }
    }

    @Test("each truncation of a base is refused by the field in which it ends")
    func truncation() {
        let bytes = Self.base.bytes
        for count in 0..<bytes.count {
            let (index, left) = (count - 1).quotientAndRemainder(dividingBy: 8)
            let expected =
                count == 0
                ? RecordError.truncated(
                    record: "cluster base", at: 0, field: "format", expected: 1, got: 0)
                : RecordError.truncated(
                    record: "cluster base", at: 1 + 8 * index, field: Self.fields[index],
                    expected: 8, got: left)
            #expect(throws: expected, "\(count) bytes") {
                try ClusterOrigin(bytes: Array(bytes.prefix(count)))
            }
        }
    }

    @Test("a base with another format, or with bytes behind its end, is refused")
    func format() {
        let bytes = Self.base.bytes
        for format in [0, 2, 0xff] as [UInt8] {
            #expect(
                throws: RecordError.invalid(
                    record: "cluster base", at: 0, field: "format", got: UInt64(format))
            ) { try ClusterOrigin(bytes: [format] + bytes.dropFirst()) }
        }
        #expect(
            throws: RecordError.excess(record: "cluster base", at: bytes.count, byteCount: 2)
        ) { try ClusterOrigin(bytes: bytes + [0, 0]) }
    }

    @Test("each base has one form: bytes that can be decoded are the bytes of the base")
    func canonical() {
        let bytes = Self.base.bytes
        for offset in bytes.indices.dropFirst() {
            for change in [1, 2, 0x10, 0x80, 0xff] as [UInt8] {
                var changed = bytes
                changed[offset] ^= change
                let base = try? ClusterOrigin(bytes: changed)
                #expect(base?.bytes == changed, "byte \(offset) changed by \(change)")
            }
        }
    }
}
