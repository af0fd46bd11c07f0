import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The nodes and fields at the ends of paths.
struct NodeFinderTests {
    private let finder = NodeFinder(tree: TestTree.make())

    @Test("a path leads to a node and a field inside its state")
    func found() throws {
        let (node, field) = try finder.find("/page/title")
        #expect(node.path.description == "/page" && Array(field) == ["title"])
        #expect(try finder.find("/").node === finder.tree.root)
    }

    @Test("a text that is no path, and a path without a node, are refused with the nearest name")
    func missing() {
        func refusal(_ path: String) -> Refusal? {
            do throws(Refusal) {
                _ = try finder.find(path)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal("page")?.code == .path)
        #expect(refusal("/pages")?.code == .notFound && refusal("/pages")?.nearest == "/page")
    }
}
