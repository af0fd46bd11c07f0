import ReactorWire
import Testing

@Suite("A revision")
struct RevisionTests {
    @Test("a revision's text decodes to the same revision, with padding and at the extremes")
    func text() {
        let revisions = [
            Revision(epoch: 0, sequence: 0), Revision(epoch: 0xab, sequence: 7),
            Revision(epoch: .max, sequence: .max),
        ]
        #expect(
            revisions.map(\.description) == [
                "0000000000000000:0", "00000000000000ab:7",
                "ffffffffffffffff:18446744073709551615",
            ])
        for revision in revisions { #expect(Revision(revision.description) == revision) }
        #expect(Revision("ab:7") == Revision(epoch: 0xab, sequence: 7))
    }

    @Test("other text than hexadecimal, a colon and decimal is not a revision")
    func notText() {
        for text in [
            "", ":", "ab", "ab:", ":7", "ab:7:1", "+ab:7", "ab:+7", "ab:-7", "xy:7", "ab:0x7",
            "11112222333344445:1", "ab:18446744073709551616", " ab:7",
        ] {
            #expect(Revision(text) == nil, "\(text)")
        }
    }

    @Test("on the wire a revision is an array of exactly two elements")
    func wire() throws {
        let revision = Revision(epoch: 1, sequence: 2)
        #expect(revision.wireBytes().hex == "820102")
        #expect(try Revision(wireBytes: [0x9f, 1, 2, 0xff]) == revision)
        for bytes: [UInt8] in [[0x81, 1], [0x83, 1, 2, 3], [0xa1, 1, 2], [0x82, 1, 0xf6]] {
            #expect(throws: WireError.self, "\(bytes.hex)") { try Revision(wireBytes: bytes) }
        }
    }
}
