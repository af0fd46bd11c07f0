import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// A collection whose keys are numbers.
@Reactor
struct NumberedPages {
    @Children var pages = { (_: Int) in NumberedPage() }

    enum Action: Equatable, Sendable { case open(Int) }
    enum Mutation: Equatable, Sendable { case opened }
    struct State: Equatable, Sendable { var count = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let number): Mutations(.opened).creating($pages, number)
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

/// A page of a numbered collection.
@Reactor
struct NumberedPage {
    enum Action: Equatable, Sendable { case turn }
    struct State: Equatable, Sendable { var turns = 0 }

    func reduce(state: inout State, mutation: Action) { state.turns += 1 }
}

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

    @Test("text that is no key of a collection is refused as a path, with the key and the type")
    func keys() throws {
        let finder = NodeFinder(tree: Tree(NumberedPages(), epoch: 1))
        #expect(throws: Never.self) { try finder.find("/pages/7") }
        for path in ["/pages/07", "/pages/seven/turns"] {
            let refusal = #expect(throws: Refusal.self) { try finder.find(path) }
            #expect(refusal?.code == .path)
            #expect(refusal?.message.contains("Int") == true)
        }
    }
}
