import Foundation
import TestPrograms
import Testing

@testable import ReactorJournal

/// A copy that one daemon sends to another.
@Suite("A sent copy of a history")
struct HistoryCopyTests {
    /// An open journal with a snapshot and rows after it.
    private func journal() throws -> (JournalRig, SQLiteJournal) {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(20, to: journal, padding: 4_000)
        _ = try SnapshotWriterTests.write(journal, rig).get()
        rig.append(20, to: journal, padding: 4_000)
        return (rig, journal)
    }

    private func transfer(
        _ copy: HistoryCopy, to received: ReceivedCopy, piece: Int = 50_000,
        change: (String, inout [UInt8]) -> Void = { _, _ in }
    ) throws {
        for file in copy.files {
            try received.begin(file.name, byteCount: UInt64(file.byteCount))
            var offset = 0
            while offset < file.byteCount {
                var bytes = try copy.read(file.name, at: offset, count: piece)
                offset += bytes.count
                change(file.name, &bytes)
                try received.append(bytes)
            }
        }
    }

    @Test("the receiver has the sender's history, and nothing remains of the transfer")
    func whole() throws {
        let (rig, journal) = try journal()
        let source = try rig.directory()
        let copy = try HistoryCopy(of: source)
        #expect(copy.files.map(\.name) == ["journal.sqlite", "snapshot-20.sqlite"])
        // The journal grows while the copy is sent.
        rig.append(5, to: journal, padding: 100)
        let target = try DataDirectory(at: rig.home.path("target"))
        _ = try SQLiteJournal.prepare(target)
        let former = try JournalReader(target).instance
        let received = try ReceivedCopy(for: target)
        try transfer(copy, to: received)
        let instance = try JournalReader(source).instance
        #expect(instance != former)
        #expect(try received.install(as: instance).number == 40)
        try copy.remove()
        journal.close()
        let reader = try JournalReader(target)
        #expect(try reader.verifyRest().number == 40 && reader.instance == instance)
        #expect(try SnapshotStore(target).choose().snapshot?.header.position.number == 20)
        for directory in [source, target] {
            #expect(try directory.names().filter { $0.hasPrefix("copy.") } == [])
        }
    }

    @Test("a damaged, short or foreign copy changes nothing")
    func damaged() throws {
        let (rig, journal) = try journal()
        let source = try rig.directory()
        let copy = try HistoryCopy(of: source)
        journal.close()
        let instance = try JournalReader(source).instance
        let target = try DataDirectory(at: rig.home.path("target"))
        _ = try SQLiteJournal.prepare(target)
        let former = try JournalReader(target).instance
        for fault in 0..<4 {
            let received = try ReceivedCopy(for: target)
            var count = 0
            #expect(throws: JournalError.self, "fault \(fault)") {
                try transfer(copy, to: received) { name, bytes in
                    count += 1
                    if fault == 0, count == 2 { bytes[bytes.count / 2] ^= 1 }
                    if fault == 1, count == 2 { bytes.removeLast() }
                    if fault == 2, name != "journal.sqlite" { bytes[bytes.count - 1] ^= 1 }
                }
                _ = try received.install(as: fault == 3 ? former : instance)
            }
            try received.discard()
            #expect(try JournalReader(target).instance == former)
        }
        try copy.remove()
    }

    @Test("a file that no history has is refused, and so are bytes beyond a file's end")
    func hostile() throws {
        let rig = JournalRig()
        let target = try DataDirectory(at: rig.home.path("target"))
        let received = try ReceivedCopy(for: target)
        for name in ["../journal.sqlite", "journal.lock", "journal.sqlite-wal", "last-action", ""] {
            #expect(throws: JournalError.self) { try received.begin(name, byteCount: 1) }
        }
        #expect(throws: JournalError.self) { try received.append([1]) }
        try received.begin("journal.sqlite", byteCount: 2)
        #expect(throws: JournalError.self) { try received.append([1, 2, 3]) }
        #expect(throws: JournalError.self) { try received.begin("snapshot-1.sqlite", byteCount: 1) }
    }

    @Test("what a killed process left of a transfer does not hinder the next one")
    func leftovers() throws {
        let (rig, journal) = try journal()
        let source = try rig.directory()
        _ = try HistoryCopy(of: source)
        let again = try HistoryCopy(of: source)
        #expect(again.files.count == 2)
        let target = try DataDirectory(at: rig.home.path("target"))
        try ReceivedCopy(for: target).begin("journal.sqlite", byteCount: 9)
        let received = try ReceivedCopy(for: target)
        try transfer(again, to: received, piece: 1 << 20)
        #expect(try received.install(as: JournalReader(source).instance).number == 40)
        journal.close()
    }
}
