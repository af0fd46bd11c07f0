import Testing

@testable import ReactorJournal

@Suite("Reading snapshots")
struct SnapshotReaderTests {
    @Test("a flipped bit anywhere in a snapshot is refused, or does not change the parts")
    func flipped() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(2, to: journal)
        let good = SnapshotWriterTests.parts(60)
        _ = try SnapshotWriterTests.write(journal, rig, parts: good).get()
        journal.close()
        let name = SnapshotHeader.name(2)
        let header = try SnapshotReader(rig.directory(), of: 2).header
        let bytes = rig.bytes(of: name)
        var refused = 0
        for offset in stride(from: 0, to: bytes.count, by: 19) {
            var flipped = bytes
            flipped[offset] ^= 1 << UInt8(offset % 8)
            try rig.set(name, to: flipped)
            do {
                let reader = try SnapshotReader(rig.directory(), of: 2)
                var parts: [[UInt8]] = []
                while let part = try reader.next() { parts.append(part) }
                #expect(parts == good && reader.header == header, "byte \(offset)")
            } catch {
                #expect(error is JournalError, "byte \(offset): \(error)")
                refused += 1
            }
        }
        #expect(refused > 100)
    }

    @Test("a damaged part is named, and a snapshot with the file name of another is refused")
    func named() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        _ = try SnapshotWriterTests.write(journal, rig).get()
        journal.close()
        try rig.set(SnapshotHeader.name(9), to: rig.bytes(of: SnapshotHeader.name(1)))
        let renamed = failure { _ = try SnapshotReader(rig.directory(), of: 9) }
        #expect(renamed?.damage?.got == "one of row 1")
        try rig.flip("part 3 of", in: SnapshotHeader.name(1))
        let damage = failure { try SnapshotReader(rig.directory(), of: 1).verifyRest() }?.damage
        #expect(damage?.row == 4 && damage?.file == rig.path + "/snapshot-1.sqlite")
    }
}
