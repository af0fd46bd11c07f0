import Testing

@testable import ReactorCore

/// A reservation that its own plan ends.
@Reactor
private struct Seat {
    enum Action: Equatable, Sendable {
        case reserve(by: String)
        case askFor(Bool)
        @WireInternal case expire
        @WireInternal case pass(String, Int)
    }
    enum Mutation: Equatable, Sendable { case noted(String) }
    struct State: Equatable, Sendable { var notes: [String] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .reserve(let name):
            return Mutations(.noted("reserved by \(name)"))
                .scheduling("expire", after: .seconds(60), Action.expire)
        case .askFor(let isPassed):
            context.dispatch(isPassed ? .pass("desk", 7) : .expire)
            return .none
        case .expire: return [.noted("expired")]
        case .pass(let name, let number): return [.noted("passed to \(name) \(number)")]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let text): state.notes.append(text)
        }
    }
}

/// What a crane does; only the daemon may stop it.
@WireCodable
private indirect enum Command: Equatable, Sendable {
    case lift(Int)
    case each([Command])
    @WireInternal case stop
}

/// A crane, which takes commands in several forms.
@Reactor
private struct Crane {
    enum Action: Equatable, Sendable {
        case run(Command)
        case plan(first: Command?, named: [String: Command])
        case both(Int, Order)
        case stopLater
    }
    @WireCodable
    struct Order: Equatable, Sendable { var command: Command? }
    enum Mutation: Equatable, Sendable { case moved }
    struct State: Equatable, Sendable { var moves = 0 }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        if case .stopLater = action { context.dispatch(.run(.stop)) }
        return [.moved]
    }

    func reduce(state: inout State, mutation: Mutation) { state.moves += 1 }
}

/// Has only actions for the daemon.
@Reactor
private struct Wallet {
    enum Action: Equatable, Sendable {
        @WireInternal case add(Int)
        @WireInternal case clear
    }
    struct State: Equatable, Sendable { var sum = 0 }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .add(let amount): state.sum += amount
        case .clear: state.sum = 0
        }
    }
}

@Reactor
private struct Bank {
    @Child var seat = Seat()
    @Child var wallet = Wallet()

    enum Action: Equatable, Sendable { case pay(Int) }
    enum Mutation: Equatable, Sendable { case paid }
    struct State: Equatable, Sendable { var payments = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .pay(let amount): Mutations(.paid).sending(.add(amount), to: $wallet)
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.payments += 1 }
}

@Suite("Actions that only the daemon sends")
struct InternalActionTests {
    @Test("a client that sends one is refused, and nothing is applied")
    func client() throws {
        let tree = Tree(Seat(), epoch: 1)
        #expect(try tree.send(Seat.Action.expire) == "rejected FORBIDDEN")
        #expect(try tree.send(Seat.Action.pass("x", 1)) == "rejected FORBIDDEN")
        let both = [("/", Seat.Action.reserve(by: "ann")), ("/", .expire)]
        #expect(try tree.sendTogether(both) == "rejected FORBIDDEN")
        #expect(try tree.state(of: Seat.self).notes == [])
        #expect(tree.revision.sequence == 0)
        #expect(try tree.send(Seat.Action.reserve(by: "ann")) == "applied 1")
    }

    @Test("the refusal names the path and the case")
    func message() throws {
        let tree = Tree(Bank(), epoch: 1)
        let node = try #require(tree.node(at: try SlicePath("/wallet")))
        let result = tree.dispatch(
            to: node, Wallet.Action.add(1).wireBytes().span, by: .connection(1), ordinal: 1)
        guard case .failed(.rejected(let rejection)) = result else {
            Issue.record("expected a rejection, got \(result)")
            return
        }
        #expect(rejection == Rejection(.forbidden, "/wallet: only the daemon sends \"add\""))
    }

    @Test("the refusal of an internal action does not depend on its payload")
    func unread() throws {
        let tree = Tree(Bank(), epoch: 1)
        let node = try #require(tree.node(at: try SlicePath("/wallet")))
        func refusal(of action: WireValue, by caller: Caller) -> String? {
            // Options may precede an action in its frame.
            let bytes = [0xff] + action.wireBytes()
            let result = tree.dispatch(to: node, bytes.span, from: 1, by: caller, ordinal: 1)
            guard case .failed(let failure) = result else { return nil }
            return failure.rejection.code
        }
        #expect(refusal(of: ["add": "one"], by: .connection(1)) == "FORBIDDEN")
        #expect(refusal(of: ["ad": 1], by: .connection(1)) == "DECODE")
        #expect(refusal(of: ["add": "one"], by: .daemon) == "DECODE")
        #expect(tree.revision.sequence == 0)
    }

    @Test("followers and parents send them, and a client is refused again afterwards")
    func daemon() throws {
        let tree = Tree(Bank(), epoch: 1)
        #expect(try tree.send(Seat.Action.askFor(true), to: "/seat") == "applied 1")
        #expect(try tree.send(Seat.Action.askFor(false), to: "/seat") == "applied 3")
        #expect(try tree.state(of: Seat.self, "/seat").notes == ["passed to desk 7", "expired"])
        #expect(try tree.send(Seat.Action.expire, to: "/seat") == "rejected FORBIDDEN")
        #expect(try tree.send(Bank.Action.pay(3)) == "applied 5")
        #expect(try tree.state(of: Wallet.self, "/wallet").sum == 3)
        #expect(try tree.send(Wallet.Action.clear, to: "/wallet") == "rejected FORBIDDEN")
    }

    @Test("the schema for clients does not have them, and the author's type has")
    func schema() throws {
        let tree = Tree(Bank(), epoch: 1)
        let seat = try #require(tree.node(at: try SlicePath("/seat")))
        guard case .choice(let choice) = seat.actionSchema else {
            Issue.record("no choice: \(seat.actionSchema)")
            return
        }
        #expect(choice.cases.map(\.name) == ["reserve", "askFor"])
        #expect(Seat.Action.wireInternalCases == ["expire", "pass"])
        #expect(Seat.Action.pass("x", 1).isWireInternal && !Seat.Action.askFor(true).isWireInternal)
        let wallet = try #require(tree.node(at: try SlicePath("/wallet")))
        #expect(wallet.actionSchema == .choice(.init(name: "Wallet.Action", cases: [])))
        #expect(Wallet.Action.clear.isWireInternal)
    }

    @Test(
        "in a payload, a client that sends one is refused with the way to it",
        arguments: [
            (Crane.Action.run(.stop), "run.stop"),
            (.run(.each([.lift(1), .each([.stop])])), "run.each.each.stop"),
            (.plan(first: nil, named: ["a": .lift(1), "b": .stop]), "plan.stop"),
            (.both(1, Crane.Order(command: .stop)), "both.stop"),
        ])
    fileprivate func nested(action: Crane.Action, name: String) throws {
        let tree = Tree(Crane(), epoch: 1)
        let result = tree.dispatch(
            to: tree.root, action.wireBytes().span, by: .connection(1), ordinal: 1)
        guard case .failed(.rejected(let rejection)) = result else {
            Issue.record("expected a rejection, got \(result)")
            return
        }
        #expect(rejection == Rejection(.forbidden, "/: only the daemon sends \"\(name)\""))
        #expect(throws: rejection) { try Preview(Crane()).apply(action) }
        #expect(tree.revision.sequence == 0)
    }

    @Test("other payloads of such a type are applied, and the daemon sends all of them")
    func otherPayloads() throws {
        let tree = Tree(Crane(), epoch: 1)
        #expect(try tree.send(Crane.Action.run(.each([.lift(1)]))) == "applied 1")
        #expect(try tree.send(Crane.Action.plan(first: nil, named: [:])) == "applied 2")
        #expect(try tree.send(Crane.Action.stopLater) == "applied 3")
        #expect(try tree.state(of: Crane.self).moves == 4)
    }

    @Test("the schema for clients has no such case in a payload, and the author's type has")
    func nestedSchema() throws {
        let tree = Tree(Crane(), epoch: 1)
        let offered = try WireValue(wireBytes: tree.root.actionSchema.wireBytes()).json()
        let own = try WireValue(wireBytes: Crane.Action.wireSchema.wireBytes()).json()
        #expect(own.contains(#""name":"stop""#) && !offered.contains(#""name":"stop""#))
        #expect(offered.contains(#""name":"lift""#) && offered.contains(#""name":"stopLater""#))
        #expect(InternalActions(of: Crane.Action.self).areInPayloads)
        #expect(!InternalActions(of: Seat.Action.self).areInPayloads)
    }

    @Test("a mirror does not preview one")
    func preview() throws {
        let preview = Preview(Seat())
        #expect(throws: Rejection(.forbidden, "/: only the daemon sends \"expire\"")) {
            try preview.apply(.expire)
        }
        #expect(preview.state.notes == [])
    }

    @Test("the daemon's own action by bytes is applied, such as a saga's to another node")
    func ownBytes() throws {
        let bench = StoreBench(Bank())
        let notes = Notes()
        let handle = bench.run { saga in
            do { try await saga.put(Wallet.Action.add(4), to: "/wallet") } catch {
                notes.add("\(error)")
            }
        }
        bench.settle()
        withExtendedLifetime(handle) {}
        #expect(notes.all == [])
        let tree = bench.store.core.tree
        #expect(try tree.state(of: Wallet.self, "/wallet").sum == 4)
        #expect(try tree.send(Wallet.Action.clear, to: "/wallet") == "rejected FORBIDDEN")
    }
}
