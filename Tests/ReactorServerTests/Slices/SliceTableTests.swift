import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

@Suite("SliceTable")
struct SliceTableTests {
    @Test(
        "followers of the same path share a slice; the last to leave removes the node's marks")
    func sharing() throws {
        let tree = TestTree.make()
        let page = try #require(try tree.node(at: SlicePath("/page")))
        var table = SliceTable(cachedBytesMax: 100)
        let title = table.slice(page, ["title"], .value)
        #expect(table.slice(page, ["title"], .value) === title && page.isWatched)
        let body = table.slice(page, ["body"], .value)
        #expect(table.values(of: page.number).map(\.id).sorted() == [title.id, body.id])
        #expect(table.values(of: page.number, showing: ["body"]).map(\.id) == [body.id])
        let harness = ServerHarness()
        _ = harness.client()
        let connection = try #require(harness.server.connections.values.first)
        table.leave(title, connection)
        #expect(page.isWatched && table.count == 1)
        table.leave(body, connection)
        #expect(!page.isWatched && table.count == 0 && table.values(of: page.number).isEmpty)
    }

    @Test("a slice records changes by place, and the whole value where it knows no more")
    func notes() {
        let tree = TestTree.make()
        var table = SliceTable(cachedBytesMax: 0)
        let slice = table.slice(tree.root, ["page"], .value)
        #expect(slice.addChange(at: ["page", "title"]) && !slice.addChange(at: ["page", "body"]))
        guard case .whole? = slice.change else {
            Issue.record("no follower takes patches")
            return
        }
        _ = slice.takeChange()
        slice.expectPatches()
        #expect(slice.addChange(at: ["page", "title"]) && !slice.addChange(at: ["page", "body"]))
        guard case .places(let places)? = slice.change else {
            Issue.record("places are forgotten")
            return
        }
        #expect(places == [["page", "title"], ["page", "body"]])
        #expect(!slice.addChange(at: ["page"]) && !slice.addChange(at: ["page", "title"]))
        guard case .whole? = slice.change else {
            Issue.record("the whole is forgotten")
            return
        }
    }

    @Test("a patch is compared with that of the turn before alone")
    func patches() {
        let tree = TestTree.make()
        var table = SliceTable(cachedBytesMax: 0)
        let slice = table.slice(tree.root, ["page"], .value)
        slice.expectPatches()
        func turn() -> [UInt8]? {
            _ = slice.addChange(at: ["page", "title"])
            return slice.takeChange()?.lastPatch
        }
        #expect(turn() == nil && slice.takeChange() == nil)
        slice.keepPatch([1, 2])
        #expect(turn() == [1, 2] && turn() == nil)
        slice.keepPatch([UInt8](repeating: 0, count: Slice.lastPatchBytesMax + 1))
        #expect(turn() == nil, "a large patch is not kept")
        let changes = [[7], [7], [8]].map { slice.replaceValue($0) }
        #expect(changes == [true, false, true])
        slice.forgetValue()
        #expect(slice.replaceValue([8]))
    }

    @Test("snapshots beyond the limit replace those of other slices")
    func caching() throws {
        let tree = TestTree.make()
        var table = SliceTable(cachedBytesMax: 10)
        let first = table.slice(tree.root, ["page"], .value)
        let second = table.slice(tree.root, [], .replica)
        func snapshot(_ count: Int) -> Slice.Snapshot {
            Slice.Snapshot(
                sequence: tree.turn.sequence, frames: [UInt8](repeating: 1, count: count))
        }
        table.cache(snapshot(6), of: first, isFresh: false)
        table.cache(snapshot(4), of: second, isFresh: true)
        #expect(table.cachedBytes == 10 && second.currentFrames(isFresh: true)?.count == 4)
        #expect(second.currentFrames(isFresh: false) == nil)
        table.cache(snapshot(5), of: second, isFresh: false)
        #expect(table.cachedBytes == 9 && first.currentFrames(isFresh: false) == nil)
        #expect(first.followers.isEmpty && table[second.id] === second)
    }

    @Test("numbers of value slices start again after the highest, without those in use")
    func ids() {
        var ids = ValueSliceIDs(behind: .max - 1)
        let lowest: UInt32 = 1 << 31
        #expect(ids.next { _ in false } == .max)
        #expect(ids.next { $0 < lowest + 3 } == lowest + 3)
        #expect(ids.next { _ in false } == lowest + 4)
    }
}
