import ReactorWire
import Testing

@testable import ReactorDaemon

/// The first entry of a log.
@Suite("LogReader")
struct LogReaderTests {
    /// Sequences 1 to 3 of epoch 7, where 3 changes the root, and 4 and 5 of epoch 8.
    private func rig() throws -> ArchiveRig {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        rig.append(2, .state(of: 1))
        rig.append(3, .state(of: 0))
        rig.append(4, epoch: 8, .state(of: 1))
        rig.append(5, epoch: 8, .state(of: 0))
        return rig
    }

    private func told(_ rig: ArchiveRig, _ epoch: UInt64, _ sequence: UInt64) throws -> [UInt64] {
        let reader = try LogReader(
            "/a", from: Revision(epoch: epoch, sequence: sequence), after: nil,
            in: rig.directory, isCancelled: { false })
        let page = try #require(try reader.page(rowsMax: .max) { false })
        #expect(page.isEnd)
        return page.sequences
    }

    @Test("later epochs are reported even if the path has not changed since the revision")
    func epochs() throws {
        let rig = try rig()
        #expect(try told(rig, 7, 2) == [2, 4])
        #expect(try told(rig, 7, 3) == [4])
        #expect(try told(rig, 7, 99) == [4])
        #expect(try told(rig, 8, 4) == [4])
        rig.close()
    }

    @Test("a revision outside the history is refused, except the next one")
    func outOfReach() throws {
        let rig = try rig()
        #expect(try told(rig, 8, 6) == [])
        for (epoch, sequence) in [(8, 7), (9, 1), (0, 3)] as [(UInt64, UInt64)] {
            #expect(throws: PastError.self) { try told(rig, epoch, sequence) }
        }
        rig.close()
    }

    @Test("a cancelled reader throws")
    func cancelled() throws {
        let rig = try rig()
        let reader = try LogReader(
            "/a", from: nil, after: nil, in: rig.directory, isCancelled: { false })
        #expect(throws: PastError.self) { try reader.page(rowsMax: .max) { true } }
        rig.close()
    }

    @Test("a page read in parts equals the page read at once")
    func slices() throws {
        let rig = try rig()
        let reader = try LogReader(
            "/a", from: nil, after: nil, in: rig.directory, isCancelled: { false })
        for _ in 1...5 { #expect(try reader.page(rowsMax: 1) { false } == nil) }
        let page = try #require(try reader.page(rowsMax: 1) { false })
        #expect(page.sequences == [2, 4] && page.isEnd)
        rig.close()
    }
}
