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
        #expect(slice.note(["page", "title"]) && !slice.note(["page", "body"]))
        guard case .whole? = slice.change else {
            Issue.record("nobody asked for patches")
            return
        }
        slice.change = nil
        slice.hasPatches = true
        #expect(slice.note(["page", "title"]) && !slice.note(["page", "body"]))
        guard case .places(let places)? = slice.change else {
            Issue.record("places are forgotten")
            return
        }
        #expect(places == [["page", "title"], ["page", "body"]])
        #expect(!slice.note(["page"]) && !slice.note(["page", "title"]))
        guard case .whole? = slice.change else {
            Issue.record("the whole is forgotten")
            return
        }
    }
}
