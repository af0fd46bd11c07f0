import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Paths of nodes, for a reader of rows.
@Suite("NodePaths")
struct NodePathsTests {
    private func part(_ number: UInt32, _ path: SlicePath) -> NumberedPath {
        NumberedPath(number: number, path: path)
    }

    @Test("a child, its parts and its children are found by their numbers")
    func paths() throws {
        var book = NodePaths()
        book.learn(
            .create(key: "a", number: 1, parts: [part(2, try SlicePath("/jobs"))]), of: 0)
        book.learn(.create(key: "b", number: 3), of: 2)
        #expect(book.path(of: 3)?.description == "/a/jobs/b")
        #expect(book.path(of: 4) == nil)
    }

    @Test("a removed child is known for a while, and then forgotten with its descendants")
    func forgotten() throws {
        var book = NodePaths()
        book.learn(.create(key: "a", number: 1, parts: [part(2, try SlicePath("/jobs"))]), of: 0)
        book.learn(.create(key: "b", number: 3), of: 2)
        book.learn(.remove(key: "a"), of: 0)
        book.settle()
        #expect(book.path(of: 3)?.description == "/a/jobs/b")
        let churned = UInt32(3 * NodePaths.leavingMax)
        for number in 4..<churned {
            book.learn(.create(key: "c", number: number), of: 0)
            book.learn(.remove(key: "c"), of: 0)
            book.settle()
        }
        #expect(book.path(of: 1) == nil && book.path(of: 2) == nil && book.path(of: 3) == nil)
        #expect(book.path(of: churned - 1)?.description == "/c")
        #expect(book.count == NodePaths.leavingMax + 1)
    }

    @Test("a child that a snapshot named before its creation is not forgotten with its predecessor")
    func early() {
        var book = NodePaths()
        book.learn(.create(key: "a", number: 7), of: 0)
        // The book knows the later of the two nodes by that name, so it removes that one.
        book.learn(.remove(key: "a"), of: 0)
        book.learn(.create(key: "a", number: 7), of: 0)
        for number in 8..<8 + UInt32(2 * NodePaths.leavingMax) {
            book.learn(.create(key: "c", number: number), of: 0)
            book.learn(.remove(key: "c"), of: 0)
            book.settle()
        }
        #expect(book.path(of: 7)?.description == "/a")
    }
}
