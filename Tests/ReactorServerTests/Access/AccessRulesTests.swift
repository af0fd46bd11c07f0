import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The rights that rules give.
struct AccessRulesTests {
    private func path(_ text: String) throws -> SlicePath { try SlicePath(text) }

    private func rights(
        _ rules: AccessRules, of peer: Peer, at text: String
    ) throws -> AccessRights {
        var table = AccessTable(rules, ownerUID: 1_000)
        guard let access = table.access(of: peer) else { return .all }
        return access.rights(at: try path(text).components)
    }

    private let staff = Peer(uid: 5, gid: 5, pid: 1, groups: [50])

    @Test("root and the daemon's own user may do everything, whatever the rules are")
    func owner() throws {
        let rules = AccessRules([.init(.root, to: .anyone, may: .none)])
        for uid: UInt32 in [0, 1_000] {
            #expect(try rights(rules, of: Peer(uid: uid, gid: 7, pid: 1), at: "/a") == .all)
        }
        #expect(try rights(rules, of: staff, at: "/a") == .none)
    }

    @Test("the longest path that names the caller decides, and rules for others do not count")
    func longest() throws {
        let rules = AccessRules([
            .init(try path("/team"), to: .gid(50), may: .use),
            .init(try path("/team/secret"), to: .anyone, may: .none),
            .init(try path("/team/secret/plan"), to: .uid(6), may: .use),
        ])
        #expect(try rights(rules, of: staff, at: "/team/chat") == .use)
        #expect(try rights(rules, of: staff, at: "/team/secret/plan") == .none)
        #expect(
            try rights(rules, of: Peer(uid: 6, gid: 6, pid: 1), at: "/team/secret/plan") == .use)
        #expect(try rights(rules, of: staff, at: "/other") == .none)
    }

    @Test("rights at one path are added up, and a rule without rights beats them")
    func union() throws {
        var rules = AccessRules([
            .init(.root, to: .uid(5), may: AccessRights([.read])),
            .init(.root, to: .gid(50), may: AccessRights([], actions: ["claim"])),
        ])
        let both = try rights(rules, of: staff, at: "/jobs")
        #expect(both.verbs == [.see, .read])
        #expect(both.allows(action: "claim") && !both.allows(action: "fail"))
        rules.rules.append(.init(.root, to: .anyone, may: .none))
        #expect(try rights(rules, of: staff, at: "/jobs") == .none)
    }

    @Test("an unknown user is named by nothing but anyone")
    func unknown() throws {
        let rules = AccessRules([
            .init(.root, to: .uid(65_534), may: .use), .init(.root, to: .gid(65_534), may: .use),
            .init(try path("/open"), to: .anyone, may: AccessRights([.read])),
        ])
        let peer = Peer(uid: 65_534, gid: 65_534, pid: 1, groups: [65_534])
        #expect(try rights(rules, of: peer, at: "/x") == .none)
        #expect(try rights(rules, of: peer, at: "/open").verbs == [.see, .read])
    }

    @Test("X111: a path is compared by its decoded components, and never by its text")
    func components() throws {
        let rules = AccessRules(
            [
                .init(try path("/a%2Fb"), to: .anyone, may: .none),
                .init(try path("/caf\u{e9}"), to: .anyone, may: .none),
            ], fallback: .use)
        #expect(try rights(rules, of: staff, at: "/a%2fb/c") == .none)
        #expect(try rights(rules, of: staff, at: "/a/b") == .use)
        #expect(try rights(rules, of: staff, at: "/a%2Fbc") == .use)
        #expect(try rights(rules, of: staff, at: "/cafe\u{301}") == .use)
        #expect(try rights(rules, of: staff, at: "/caf\u{e9}") == .none)
    }

    @Test("a path above a visible one can be seen, and gives nothing else away")
    func above() throws {
        let rules = AccessRules([.init(try path("/a/b/c"), to: .anyone, may: .use)])
        #expect(try rights(rules, of: staff, at: "/").verbs == .see)
        #expect(try rights(rules, of: staff, at: "/a/b").verbs == .see)
        #expect(try rights(rules, of: staff, at: "/a/x") == .none)
        #expect(try rights(rules, of: staff, at: "/a/b/c/d") == .use)
    }

    @Test("callers that equal rules name share a class, also after other rules have changed")
    func classes() throws {
        let rules = AccessRules([.init(.root, to: .gid(50), may: .use)])
        var table = AccessTable(rules, ownerUID: nil)
        let one = table.access(of: staff)
        #expect(one === table.access(of: Peer(uid: 6, gid: 50, pid: 2)))
        let other = table.access(of: Peer(uid: 6, gid: 6, pid: 2))
        #expect(one !== other && one != other)
        let more = AccessRules(
            [.init(SlicePath(["a"]), to: .uid(77), may: .none)] + rules.rules)
        var next = table.replaced(by: more)
        #expect(next.access(of: staff) === one)
        #expect(next.access(of: Peer(uid: 6, gid: 6, pid: 2)) === other)
        var last = next.replaced(by: AccessRules([.init(.root, to: .gid(50), may: .none)]))
        let later = last.access(of: staff)
        #expect(later != one && later != other)
    }

    @Test("a group and an owner with the number of unknown users name none of them")
    func unknownNumbers() throws {
        let unknown = AccessRules.Subject.unknownUID
        let rules = AccessRules([.init(.root, to: .gid(unknown), may: .use)])
        #expect(try rights(rules, of: Peer(uid: 7, gid: unknown, pid: 1), at: "/") == .none)
        var table = AccessTable(rules, ownerUID: unknown)
        #expect(table.access(of: Peer(uid: unknown, gid: unknown, pid: 1)) != nil)
    }

    // MARK: An oracle

    @Test("X111: 100,000 random rule sets give the rights that a plain search gives, at every path")
    func oracle() {
        var generator = SystemRandomNumberGenerator()
        let seed = generator.next()
        var random = RuleRandom(seed: seed)
        for round in 0..<100_000 {
            let rules = random.rules()
            let peer = random.peer()
            var table = AccessTable(rules, ownerUID: 9)
            let access = table.access(of: peer)
            for _ in 0..<10 {
                let path = random.path()
                let found = access?.rights(at: path) ?? .all
                let expected = rules.plainRights(of: peer, owner: 9, at: path)
                if found != expected {
                    Issue.record(
                        "seed \(seed), round \(round): \(rules) for \(peer) at \(path) gave \(found), expected \(expected)"
                    )
                    return
                }
            }
        }
    }

    @Test("what a place covers is what every path below it allows")
    func covered() {
        var random = RuleRandom(seed: 11)
        for _ in 0..<100 {
            let rules = random.rules()
            let access = AccessClass(id: 1, rules.rules, fallback: rules.fallback)
            let start = random.path()
            let place = start.reduce(access.top) { $0.named($1) }
            var all = place.rights.verbs
            let deeper = random.everyPath(below: start)
            for path in deeper { all.formIntersection(access.rights(at: path).verbs) }
            #expect(place.covered == all, "\(rules) at \(start)")
        }
    }
}

// MARK: - The oracle
extension AccessRules {
    /// The rights by the text of the law: no tree, no class, each rule looked at.
    fileprivate func plainRights(of peer: Peer, owner: UInt32, at path: [WireKey]) -> AccessRights {
        if peer.uid == 0 || peer.uid == owner { return .all }
        let own = decided(for: peer, at: path)
        if own.verbs.contains(.see) { return own }
        // Rules for a path below that let the caller see it.
        let isAbove = rules.contains { rule in
            rule.path.components.count > path.count
                && Array(rule.path.components.prefix(path.count)) == path && isNamed(rule, peer)
                && decided(for: peer, at: rule.path.components).verbs.contains(.see)
        }
        return isAbove ? own.union(AccessRights(.see)) : own
    }

    private func isNamed(_ rule: Rule, _ peer: Peer) -> Bool {
        switch rule.subject {
        case .anyone: return true
        case .uid(let uid): return peer.uid == uid && uid != 65_534
        case .gid(let gid):
            return peer.uid != 65_534 && gid != 65_534 && ([peer.gid] + peer.groups).contains(gid)
        }
    }

    private func decided(for peer: Peer, at path: [WireKey]) -> AccessRights {
        for count in stride(from: path.count, through: 0, by: -1) {
            let prefix = Array(path.prefix(count))
            let here = rules.filter { $0.path.components == prefix && isNamed($0, peer) }
            if here.isEmpty { continue }
            if here.contains(where: { $0.rights.verbs.isEmpty }) { return .none }
            var verbs: AccessVerbs = []
            var actions: Set<WireKey> = []
            for rule in here {
                verbs.formUnion(rule.rights.verbs)
                actions.formUnion(rule.rights.actions)
            }
            return AccessRights(verbs, actions: actions)
        }
        return fallback
    }
}

/// Random rules, callers and paths over few names, so that they meet.
private struct RuleRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    // Twins of one text in two forms of Unicode, prefixes, and what percent-encoding hides.
    private static let names: [WireKey] = ["a", "ab", "a/b", "%2F", "\u{e9}", "e\u{301}"]
    private static let ids: [UInt32] = [0, 5, 6, 9, 65_534]
    private static let rights: [AccessRights] = [
        .none, .use, .all, AccessRights(.see), AccessRights(.read), AccessRights(.admin),
        AccessRights([.read, .history], actions: ["claim"]), AccessRights([], actions: ["fail"]),
    ]

    private mutating func below(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }

    mutating func path() -> [WireKey] {
        (0..<below(4)).map { _ in Self.names[below(Self.names.count)] }
    }

    mutating func peer() -> Peer {
        let groups = (0..<below(3)).map { _ in Self.ids[below(Self.ids.count)] }
        return Peer(
            uid: Self.ids[below(Self.ids.count)], gid: Self.ids[below(Self.ids.count)], pid: 1,
            groups: groups)
    }

    mutating func rules() -> AccessRules {
        let rules = (0..<below(7)).map { _ in
            let id = Self.ids[below(Self.ids.count)]
            let subject: AccessRules.Subject =
                switch below(3) {
                case 0: .anyone
                case 1: .uid(id)
                default: .gid(id)
                }
            return AccessRules.Rule(
                SlicePath(path()), to: subject, may: Self.rights[below(Self.rights.count)])
        }
        return AccessRules(rules, fallback: Self.rights[below(4)])
    }

    func everyPath(below start: [WireKey]) -> [[WireKey]] {
        var paths: [[WireKey]] = []
        var last = [start]
        for _ in start.count..<4 {
            last = last.flatMap { path in (Self.names + ["unnamed"]).map { path + [$0] } }
            paths += last
        }
        return paths
    }
}
