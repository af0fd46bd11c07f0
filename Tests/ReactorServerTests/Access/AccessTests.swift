import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Sums its tallies.
@Reactor
private struct Summed {
    @Children var tallies = { (_: Int) in Tally() }
    /// The sum.
    @Derived var sum: Derivation<Int> = Derivation.sum(over: \Summed.$tallies) { $0.count }

    enum Action { case open(Int) }
    struct State {}

    func mutate(action: Action) -> Mutations<Action> {
        switch action {
        case .open(let key): Mutations.none.creating($tallies, key)
        }
    }
}

/// What clients of other users get where rules hide a part of the tree.
struct AccessTests {
    private static let stranger: UInt32 = 2_000

    /// A daemon whose rules are `rules`, with the rooms `red` and `blue`.
    private func world(
        _ rules: [(path: String, rights: AccessRights)], fallback: AccessRights = .none
    ) throws -> ServerHarness {
        let harness = ServerHarness()
        let list = try rules.map { rule in
            AccessRules.Rule(
                try SlicePath(rule.path), to: .uid(Self.stranger), may: rule.rights)
        }
        harness.server.apply(AccessRules(list, fallback: fallback), ownerUID: 1_000)
        let owner = harness.start()
        for name in ["red", "blue"] { owner.dispatch(House.Action.build(name: name), to: 3) }
        harness.settle()
        return harness
    }

    /// The answers of a stranger's request, without its number.
    private func answers(
        _ harness: ServerHarness, _ ask: (TestClient) -> Void
    ) -> [TestFrame] {
        let client = harness.client(uid: Self.stranger)
        _ = client.frames()
        ask(client)
        harness.settle()
        return client.frames().filter { $0.kind != .mark }
    }

    private func refusal(_ frames: [TestFrame]) throws -> Refusal {
        let frame = try #require(frames.first { $0.kind == .refused })
        return try frame.decode(Refusal.self)
    }

    private func value(_ frames: [TestFrame], _ kind: FrameKind) throws -> String {
        let frame = try #require(frames.last { $0.kind == kind })
        return try WireValue(wireBytes: frame.body).json()
    }

    // MARK: Hidden nodes

    @Test("X112: a hidden node has the answers of an absent one, to every question, byte for byte")
    func hidden() throws {
        let hidden: [(String, AccessRights)] = [("/", .use), ("/visits", .none)]
        let here = try world(hidden)
        let away = ServerHarness(
            Tree(
                ReactorGroup([("other", Tally()), ("page", Page()), ("house", House())]), epoch: 7,
                environment: .inert))
        away.server.apply(
            AccessRules([
                .init(.root, to: .uid(Self.stranger), may: .use),
                .init(try SlicePath("/visits"), to: .uid(Self.stranger), may: .none),
            ]), ownerUID: 1_000)
        let owner = away.client()
        owner.open("/house")
        for name in ["red", "blue"] { owner.dispatch(House.Action.build(name: name)) }
        away.settle()
        for ask in questions(at: "/visits") + questions(at: "/visits/count") {
            #expect(answers(here, ask) == answers(away, ask))
        }
        #expect(try refusal(answers(here) { $0.open("/visits") }).code == .notFound)
    }

    private func questions(at path: String) -> [(TestClient) -> Void] {
        [
            { $0.open(path) }, { $0.ask(.get(path: path)) }, { $0.ask(.describe(path: path)) },
            { $0.ask(.types(path: path)) }, { $0.ask(.checksum(path: path, mode: .value)) },
            { $0.ask(.checksum(path: path, mode: .replica)) },
            { $0.subscribe(path) }, { $0.subscribe(path, .value) },
            { $0.ask(.tree) }, { $0.ask(.get(path: "/")) }, { $0.ask(.describe(path: "/")) },
            { $0.subscribe("/", .value) }, { $0.subscribe("/", .replica) },
            { $0.ask(.select(path: path, selection: Selection())) },
        ]
    }

    @Test("X112: the value of a parent, its description and the tree contain visible nodes only")
    func parents() throws {
        let harness = try world([("/house", .use), ("/house/rooms/red", .none)])
        let get = try value(answers(harness) { $0.ask(.get(path: "/house")) }, .answer)
        #expect(get.contains("blue") && !get.contains("red"))
        let follow = try value(answers(harness) { $0.subscribe("/house", .value) }, .value)
        #expect(follow.contains("blue") && !follow.contains("red"))
        let tree = try value(answers(harness) { $0.ask(.tree) }, .answer)
        #expect(tree.contains("/house/rooms/blue") && !tree.contains("red"))
        #expect(!tree.contains("/page"))
        let names = try value(answers(harness) { $0.ask(.describe(path: "/house/rooms")) }, .answer)
        #expect(names.contains("blue") && !names.contains("red"))
    }

    @Test("what cannot leave out hidden nodes is refused, with the reason")
    func partial() throws {
        let harness = try world([("/house", .all), ("/house/rooms/red", .none)])
        let asked: [(TestClient) -> Void] = [
            { $0.subscribe("/house/rooms") },
            { $0.subscribe("/house/rooms", selecting: Selection()) },
            { $0.ask(.checksum(path: "/house/rooms", mode: .replica)) },
            { $0.ask(.select(path: "/house/rooms", selection: Selection())) },
        ]
        for ask in asked {
            let refusal = try refusal(answers(harness, ask))
            #expect(refusal.code == .forbidden && refusal.message.contains("hide"))
        }
        let client = harness.client(uid: Self.stranger)
        client.open("/house")
        let revision = Revision(epoch: 7, sequence: 100)
        client.dispatch(
            House.Action.build(name: "x"), to: 0, options: DispatchOptions(expected: revision))
        harness.settle()
        #expect(try OutcomeLog(client.frames())[1]?.code == FaultCode.forbidden.rawValue)
        #expect(harness.server.statistics.denials == ["read": 5])
    }

    @Test("refusals are counted by the verb that the caller lacks, and hidden nodes are not")
    func denials() throws {
        let harness = try world([("/visits", AccessRights([.see])), ("/page", .none)])
        let asked: [(TestClient) -> Void] = [
            { $0.ask(.get(path: "/visits")) }, { $0.subscribe("/visits") },
            { $0.ask(.get(path: "/page")) }, { $0.ask(.stats) }, { $0.ask(.metrics) },
        ]
        for ask in asked { _ = answers(harness, ask) }
        let client = harness.client(uid: Self.stranger)
        client.open("/visits")
        client.add(1)
        client.batch([(0, Tally.Action.add(by: 1))])
        harness.settle()
        #expect(harness.server.statistics.denials == ["read": 2, "admin": 2, "actions": 2])
    }

    @Test("a rule for a part of a state takes the right to read the whole state")
    func dividedState() throws {
        let harness = try world([("/", .use), ("/page/title", .none)])
        for ask in [
            Question.get(path: "/page"), .get(path: "/page/title"), .get(path: "/page/body"),
        ] {
            #expect(try refusal(answers(harness) { $0.ask(ask) }).code == .forbidden)
        }
        let root = try value(answers(harness) { $0.ask(.get(path: "/")) }, .answer)
        #expect(root.contains("visits") && !root.contains("title"))
    }

    @Test("a derived value that may show a hidden state is hidden, unless a rule names it")
    func derived() throws {
        let tree = Tree(Summed(), epoch: 1)
        let sum = try #require(tree.node(at: try SlicePath("/sum")))
        let secret = AccessRules.Rule(try SlicePath("/tallies/2"), to: .anyone, may: .none)
        let named = AccessRules.Rule(try SlicePath("/sum"), to: .anyone, may: AccessRights(.read))
        #expect(AccessClass(id: 1, [], fallback: .use).reads(sum))
        #expect(!AccessClass(id: 1, [secret], fallback: .use).sees(sum))
        #expect(AccessClass(id: 1, [secret, named], fallback: .use).reads(sum))
        let past = Question.past(path: "/sum", at: Revision(epoch: 1, sequence: 1))
        let source = AnswerSource(tree: tree)
        let granted = AccessRights([.read, .history])
        #expect(throws: Never.self) {
            try source.check(past, for: AccessClass(id: 1, [], fallback: granted))
        }
        #expect(
            try source.check(past, for: AccessClass(id: 1, [secret], fallback: granted)) == 0)
    }

    @Test("a collection with hidden children takes no actions, which could name these")
    func leases() throws {
        let harness = try world([("/house", .use), ("/house/rooms/red", .none)])
        let client = harness.client(uid: Self.stranger)
        client.open("/house/rooms")
        client.dispatch(["lease": ["key": "red"]] as WireValue)
        harness.settle()
        #expect(try OutcomeLog(client.frames())[1]?.code == FaultCode.forbidden.rawValue)
    }

    @Test("the past needs history at every node that it may show")
    func past() throws {
        let source = AnswerSource(tree: TestTree.make())
        let rules = [
            AccessRules.Rule(
                try SlicePath("/house"), to: .anyone, may: AccessRights([.read, .history])),
            AccessRules.Rule(try SlicePath("/house/rooms/red"), to: .anyone, may: .none),
        ]
        let access = AccessClass(id: 1, rules, fallback: AccessRights(.read))
        func code(_ ask: Question) -> FaultCode? {
            do throws(Refusal) {
                _ = try source.check(ask, for: access)
                return nil
            } catch {
                return error.code
            }
        }
        let revision = Revision(epoch: 7, sequence: 1)
        #expect(code(.past(path: "/house/rooms/blue", at: revision)) == nil)
        #expect(code(.export(path: "/house/rooms")) == .forbidden)
        // A hidden node: the archive answers, as for a name that no node has.
        for (path, seenCount) in [("/house/rooms/red", 2), ("/house/rooms/red/x", 2)] {
            #expect(try source.check(.past(path: path, at: revision), for: access) == seenCount)
            #expect(try source.check(.export(path: path), for: access) == seenCount)
        }
        #expect(try source.check(.export(path: "/house/rooms/blue"), for: access) == nil)
        let hidden = AccessRules.Rule(try SlicePath("/visits"), to: .anyone, may: .none)
        let seen = AccessClass(id: 2, rules + [hidden], fallback: AccessRights(.see))
        let none = AccessClass(id: 3, rules + [hidden], fallback: .none)
        for path in ["/visits", "/nothing"] {
            for (access, expected) in [(seen, FaultCode.forbidden), (none, .notFound)] {
                let refusal = #expect(throws: Refusal.self) {
                    try source.check(.export(path: path), for: access)
                }
                #expect(refusal?.code == expected, "\(path)")
            }
        }
        #expect(code(.past(path: "/visits", at: revision)) == .forbidden)
        #expect(code(.log(path: "/house/rooms/blue")) == .forbidden)
        #expect(code(.snapshot) == .forbidden && code(.backup(to: "/x")) == .forbidden)
    }

    // MARK: Verbs

    @Test("a visible node refuses what the caller may not do with it, by name")
    func verbs() throws {
        let harness = try world([("/page", AccessRights(.see)), ("/visits", AccessRights(.read))])
        #expect(answers(harness) { $0.open("/page") }.first?.kind == .opened)
        let get = try refusal(answers(harness) { $0.ask(.get(path: "/page")) })
        #expect(get.code == .forbidden && get.message.contains("read"))
        #expect(answers(harness) { $0.ask(.get(path: "/visits")) }.first?.kind == .answer)
        for ask in [Question.stats, .clients, .slowLog(after: 0), .metrics] {
            #expect(try refusal(answers(harness) { $0.ask(ask) }).code == .forbidden)
        }
        #expect(answers(harness) { $0.ask(.limits) }.first?.kind == .answer)
    }

    @Test("actions are granted by case, alone, with options and in batches")
    func actions() throws {
        let harness = try world([("/visits", AccessRights(.read, actions: ["add"]))])
        let client = harness.client(uid: Self.stranger)
        client.open("/visits")
        client.add(2)
        client.dispatch(Tally.Action.ask)
        client.dispatch(Tally.Action.add(by: 3), options: DispatchOptions(deadline: 1_000))
        client.dispatch(Tally.Action.ask, options: DispatchOptions(deadline: 1_000))
        client.batch([(0, Tally.Action.add(by: 1)), (0, Tally.Action.ask)])
        client.batch([(0, Tally.Action.add(by: 4))])
        client.ask(.get(path: "/visits/count"))
        harness.settle()
        let frames = client.frames()
        let log = try OutcomeLog(frames)
        #expect(log[1]?.isApplied == true && log[3]?.isApplied == true && log[6]?.isApplied == true)
        for ordinal in [2, 4, 5] as [UInt64] {
            #expect(log[ordinal]?.code == FaultCode.forbidden.rawValue)
        }
        #expect(try value(frames, .answer).contains("9"))
    }

    @Test("the daemon's own user and root are bound by no rule")
    func owner() throws {
        let harness = try world([], fallback: .none)
        for uid: UInt32 in [0, 1_000] {
            let client = harness.client(uid: uid)
            client.open("/visits")
            client.add()
            client.ask(.stats)
            harness.settle()
            let frames = client.frames()
            #expect(try OutcomeLog(frames)[1]?.isApplied == true)
            #expect(frames.contains { $0.kind == .answer })
        }
    }

    @Test("an unknown user's session is never continued")
    func unknown() throws {
        let harness = ServerHarness()
        harness.server.apply(AccessRules(fallback: .use), ownerUID: 1_000)
        for (uid, isResumed) in [(65_534, false), (5, true)] as [(UInt32, Bool)] {
            let client = harness.client(uid: uid)
            client.open("/visits")
            client.add()
            harness.settle()
            let welcome = try #require(client.frames(.welcome).first).decode(Welcome.self)
            client.disconnect()
            let next = harness.client(uid: uid, session: welcome.session)
            let again = try #require(next.frames(.welcome).first).decode(Welcome.self)
            #expect(again.isResumed == isResumed)
        }
    }

    // MARK: Other rules

    @Test("the same rules, applied again, end no subscription")
    func unchanged() throws {
        let harness = ServerHarness()
        let rules = AccessRules(
            [.init(try SlicePath("/house/rooms/red"), to: .anyone, may: .none)], fallback: .use)
        harness.server.apply(rules, ownerUID: 1_000)
        let client = harness.client(uid: Self.stranger)
        client.subscribe("/house", .value)
        harness.settle()
        _ = client.frames()
        harness.server.apply(rules, ownerUID: 1_000)
        harness.start().dispatch(House.Action.build(name: "green"), to: 3)
        harness.settle()
        let frames = client.frames()
        #expect(!frames.contains { $0.kind == .gone })
        #expect(try value(frames, .value).contains("green"))
    }

    @Test("X113: tighter rules end at once what they forbid, and nothing comes after that")
    func tightening() throws {
        let harness = try world([], fallback: .use)
        let client = harness.client(uid: Self.stranger)
        client.open("/visits", as: 0)
        client.open("/other", as: 1)
        client.subscribe("/visits")
        client.subscribe("/house", .value)
        client.subscribe("/other", .value)
        harness.settle()
        _ = client.frames()
        let rules = AccessRules(
            [
                .init(try SlicePath("/visits"), to: .anyone, may: .none),
                .init(try SlicePath("/house/rooms/red"), to: .anyone, may: .none),
            ], fallback: .use)
        harness.server.apply(rules, ownerUID: 1_000)
        let owner = harness.start()
        owner.add(5)
        owner.add(6, to: 1)
        client.add()
        client.add(1, to: 1)
        harness.settle()
        let frames = client.frames()
        #expect(frames.filter { $0.kind == .gone }.count == 2)
        #expect(!frames.contains { $0.kind == .delta })
        #expect(frames.filter { $0.kind == .value }.count == 1)
        let log = try OutcomeLog(frames)
        #expect(log[1]?.code == FaultCode.notFound.rawValue && log[2]?.isApplied == true)
    }
}
