import ReactorCore
import Synchronization
import Testing

@Suite("Preview")
struct PreviewTests {
    @Test("F70: an action is tried on a copy of a state, without other effects")
    func apply() throws {
        let tree = Tree(Tally(), epoch: 1)
        try tree.send(Tally.Action.add(5))
        let state = try tree.state(of: Tally.self)
        let preview = Preview(Tally())
        preview.rebase(on: state)
        try preview.apply(.spread([1, 2]))
        #expect(preview.state == Tally.State(sum: 8, history: [5, 1, 2]))
        #expect(try tree.state(of: Tally.self) == state)
    }

    @Test("F70: a rejected action leaves the shown state unchanged")
    func rejects() throws {
        let preview = Preview(Tally())
        preview.rebase(on: Tally.State(sum: 3, history: [3]))
        #expect(throws: Rejection("refused", "the sum 3 stays")) { try preview.apply(.refuse) }
        #expect(preview.state == Tally.State(sum: 3, history: [3]))
    }

    @Test("F70: effects, replies and followers of a tried action are dropped")
    func drops() throws {
        let preview = Preview(Fetcher())
        try preview.apply(.fetch(["a"]))
        #expect(preview.state.pages == ["-"])
        let desk = Preview(Desk())
        try desk.apply(.hop(3))
        try desk.apply(.answerAll("yes"))
        #expect(desk.state.log == ["step 3"])
    }

    @Test(
        "F70: an action that needs the caller, the cause, a ticket or ownership is not tried",
        arguments: [Desk.Action.whoAmI, .take("key"), .ask])
    func daemonOnly(_ action: Desk.Action) {
        let preview = Preview(Desk())
        let error = #expect(throws: Rejection.self) { try preview.apply(action) }
        #expect(error?.code == Rejection.previewCode)
        #expect(preview.state == Desk.State())
    }

    @Test("F70: a decision that reads a child is not tried; a decision that only mutates it is")
    func children() throws {
        let preview = Preview(Shop())
        let error = #expect(throws: Rejection.self) { try preview.apply(.visit(1)) }
        #expect(error?.code == Rejection.previewCode)
        #expect(preview.state.notes == [])
        try preview.apply(.open("a"))
        #expect(preview.state.notes == ["open a"])
    }

    @Test("F70: a tried decision knows its reactor's path, and is not tried if it needs the id")
    func place() throws {
        let preview = Preview(Signpost(), at: try SlicePath("/a/b"))
        try preview.apply(.read)
        #expect(preview.state.text == "/a/b")
        let census = Preview(Census())
        let error = #expect(throws: Rejection.self) { try census.apply(.count) }
        #expect(error?.code == Rejection.previewCode)
        for action in [Roster.Action.child, .keyed, .own] {
            let roster = Preview(Roster())
            let error = #expect(throws: Rejection.self) { try roster.apply(action) }
            #expect(error?.code == Rejection.previewCode, "\(action)")
        }
    }

    @Test("F70: a series of tried actions copies the written storage once")
    func copies() throws {
        let preview = Preview(Ledger())
        let state = Ledger.State()
        preview.rebase(on: state)
        for number in 1...20 { try preview.apply(.write(number)) }
        #expect(preview.state.lines.numbers == Array(1...20) && state.lines.numbers == [])
        #expect(MeteredList.copyCount == 1)
    }
}

/// Writes its path into its state.
@Reactor
struct Signpost {
    enum Action: Sendable { case read }
    enum Mutation: Sendable { case wrote(String) }
    struct State: Equatable, Sendable { var text = "" }

    func mutate(
        action: Action, state: State, context: ReactorContext<Signpost>
    ) throws(Rejection) -> Mutations<Mutation> {
        [.wrote("\(context.path)")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .wrote(let text): state.text = text
        }
    }
}

/// Uses the ids of reactors in its decisions.
@Reactor
struct Roster {
    @Child var tally = Tally()
    @Children var rooms = { (_: WireKey) in Tally() }

    enum Action: Sendable { case own, child, keyed }
    enum Mutation: Sendable { case noted }
    struct State: Equatable, Sendable { var count = 0 }

    func mutate(
        action: Action, state: State, context: ReactorContext<Roster>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .own: _ = context.id
        case .child: _ = context.id(of: $tally)
        case .keyed: _ = context.id(of: $rooms, "a")
        }
        return [.noted]
    }

    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

/// A list that counts its copies.
struct MeteredList: Sendable, WireCodable {
    private static let copies = Mutex(0)
    private var storage: Storage

    private final class Storage: Sendable {
        let numbers: Mutex<[Int]>
        init(_ numbers: [Int]) { self.numbers = Mutex(numbers) }
    }

    init(_ numbers: [Int] = []) { storage = Storage(numbers) }

    static var copyCount: Int { copies.withLock { $0 } }
    static var wireSchema: WireSchema { [Int].wireSchema }
    var numbers: [Int] { storage.numbers.withLock { $0 } }

    mutating func append(_ number: Int) {
        if !isKnownUniquelyReferenced(&storage) {
            Self.copies.withLock { $0 += 1 }
            storage = Storage(numbers)
        }
        storage.numbers.withLock { $0.append(number) }
    }

    func encode(into writer: inout WireWriter) { numbers.encode(into: &writer) }

    static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> MeteredList {
        MeteredList(try [Int].decode(bytes, &cursor))
    }
}

/// Writes numbers into a metered list.
@Reactor
struct Ledger {
    enum Action: Sendable { case write(Int) }
    struct State: Sendable { var lines: MeteredList = MeteredList() }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .write(let number): state.lines.append(number)
        }
    }
}
