import ReactorWire
import Testing

@testable import ReactorCore

struct CapturedPage: Reactor {
    @WireCodable
    struct State: Sendable, Equatable {
        var title = "a"
        var size = 0
    }

    @WireCodable
    enum Action: Sendable {
        case title(String)
    }

    var initialState: State { State() }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .title(let title): state.title = title
        }
    }
}

struct CapturedBook: Reactor {
    @WireCodable
    struct State: Sendable, Equatable {
        var name = "book"
    }

    @WireCodable
    enum Action: Sendable {
        case add(String)
    }

    @Children var pages = { (_: WireKey) in CapturedPage() }
    var initialState: State { State() }

    func mutate(
        action: Action, state: State, context: ReactorContext<CapturedBook>
    ) throws(Rejection) -> Mutations<Action> {
        switch action {
        case .add(let key): Mutations(action).creating($pages, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Action) {}
    func children(_ visitor: inout ChildVisitor) { visitor.children("pages", _pages) }
}

/// States that are encoded later than captured.
struct SliceCaptureTests {
    private func tree() throws -> Tree {
        let tree = Tree(
            ReactorGroup([("book", CapturedBook()), ("other", CapturedPage())]), epoch: 1)
        for key in ["bb", "a", "c"] {
            try send(CapturedBook.Action.add(key), to: "/book", in: tree)
        }
        return tree
    }

    private func send(_ action: some WireCodable, to path: String, in tree: Tree) throws {
        let node = try #require(tree.node(at: try SlicePath(path)))
        let bytes = action.wireBytes()
        _ = tree.dispatch(to: node, bytes.span, by: .daemon, ordinal: 1)
    }

    private func direct(_ path: String, in tree: Tree) throws -> [UInt8] {
        let (node, field) = tree.resolve(try SlicePath(path))
        var writer = WireWriter()
        guard node.encodeValue(at: field, into: &writer) == .found else { return [] }
        return writer.bytes
    }

    @Test(
        "a captured value is encoded as of its capture",
        arguments: [
            "/", "/book", "/book/pages", "/book/pages/a", "/book/pages/a/title", "/other/size",
            "/book/pages/none",
        ])
    func value(path: String) throws {
        let tree = try tree()
        let expected = try direct(path, in: tree)
        let (node, field) = tree.resolve(try SlicePath(path))
        let capture = node.captureValue(at: field)
        try send(CapturedPage.Action.title("new"), to: "/book/pages/a", in: tree)
        try send(CapturedBook.Action.add("d"), to: "/book", in: tree)
        let encoding = capture.encode()
        #expect(encoding.bytes == expected && encoding.isThere == !expected.isEmpty)
        #expect(encoding.checksum == WireChecksum(of: expected.span).value)
    }

    @Test("a captured replica equals the start of a replica", arguments: ["/book/pages", "/book"])
    func replica(path: String) throws {
        let tree = try tree()
        let node = try #require(tree.node(at: try SlicePath(path)))
        var expected = WireWriter()
        node.encodeReplica(into: &expected)
        let capture = node.captureReplica()
        try send(CapturedBook.Action.add("d"), to: "/book", in: tree)
        #expect(capture.encode().bytes == expected.bytes)
    }

    @Test("the captured list has parents before children, and siblings in the order of their names")
    func entries() throws {
        let tree = try tree()
        var expected: [TreeEntry] = []
        tree.forEachNode { node in
            expected.append(
                TreeEntry(
                    path: node.path.description, reactor: node.describedName,
                    sequence: node.sequence))
        }
        let capture = tree.captureEntries()
        try send(CapturedBook.Action.add("d"), to: "/book", in: tree)
        #expect(try [TreeEntry](wireBytes: capture.encode().bytes) == expected)
    }
}
