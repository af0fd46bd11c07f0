import ReactorCore
import Testing

@testable import ReactorClient

/// Types of a mirror and of the daemon, compared without either: ``TypeDifference``,
/// ``TypeComparison``, ``MissingFields``.
@Suite("TypeDifference")
struct TypeDifferenceTests {
    @WireCodable
    struct OldPlace {
        var street = ""
        var number = 1
    }

    @WireCodable
    struct NewPlace {
        @WireAlias("street") var road = ""
        var number: Int8 = 1
        var town: String?
    }

    @Reactor
    struct Shop {
        enum Action { case nothing }
        struct State: Equatable {
            var places: [String] = []
            var size: Int?
        }

        func reduce(state: inout State, mutation: Action) {}
    }

    private func difference<Daemon: WireCodable, Own: WireCodable>(
        _ daemon: Daemon.Type, _ own: Own.Type, _ missing: MissingFields = .fail
    ) -> TypeDifference {
        TypeDifference(from: Daemon.wireSchema, to: Own.wireSchema, missing)
    }

    @Test("nested fields are named with the names around them")
    func nested() {
        let difference = difference([String: OldPlace].self, [String: NewPlace].self)
        #expect(difference.missing == ["*.town"] && difference.skipped.isEmpty)
        #expect(difference.nilPaths == [["*", "town"]] && difference.refusal == nil)
        #expect(difference.changed.count == 2)
        #expect(difference.description.hasPrefix("missing: *.town; changed: *.street"))
    }

    @Test("an alias of the daemon's is no name that the daemon writes")
    func alias() {
        let difference = difference(NewPlace.self, OldPlace.self)
        #expect(difference.skipped == ["road", "town"] && difference.missing == ["street"])
        #expect(difference.refusal == WireError(.missingField("street"), at: 0))
        let accepted = self.difference(NewPlace.self, OldPlace.self, .defaults)
        #expect(accepted.missing == ["street"] && accepted.refusal == nil)
    }

    @Test("a type of another version is refused in both directions, also below others")
    func versions() throws {
        for (daemon, own) in [(1, 2), (2, 1)] {
            let schema = { (version: Int) in
                WireSchema.record(
                    WireSchema.Record(
                        name: "Timeout", fields: [WireSchema.Field(name: "value", schema: .text)],
                        version: version))
            }
            for isNested in [false, true] {
                let wrap = { (schema: WireSchema) in isNested ? WireSchema.map(schema) : schema }
                let difference = TypeDifference(
                    from: wrap(schema(daemon)), to: wrap(schema(own)), .defaults)
                let refusal = try #require(difference.refusal)
                #expect(refusal.path == (isNested ? ["*"] : []))
                #expect("\(refusal)".contains("version \(daemon) of this type"))
                #expect("\(refusal)".contains("this program \(own)"))
            }
        }
    }

    @Test("a missing field is found after any number of other differences")
    func many() {
        let fields = (0..<200).map { WireSchema.Field(name: "f\($0)", schema: .bool) }
        let daemon = WireSchema.record(WireSchema.Record(name: "State", fields: fields))
        let own = WireSchema.record(
            WireSchema.Record(
                name: "State",
                fields: [WireSchema.Field(name: "own", schema: .bool, isOptional: true)]))
        let difference = TypeDifference(from: daemon, to: own, .fail)
        #expect(difference.skipped.count == 200 && difference.missing == ["own"])
        #expect(difference.refusal == WireError(.missingField("own"), at: 0))
    }

    @Test("the text names no list without fields, and is safe to print")
    func text() {
        #expect(TypeDifference().description == "the mutations or the version differ")
        var hostile = TypeDifference()
        hostile.skipped = ["a\u{1b}[2J"]
        #expect(!hostile.description.contains("\u{1b}"))
    }

    private func types(
        _ reactor: String, former: [String] = [], _ fingerprint: UInt64, byValue: Bool = false,
        _ state: WireSchema = Shop.State.wireSchema
    ) -> NodeTypes {
        NodeTypes(
            reactor: reactor, formerNames: former, fingerprint: fingerprint, state: state,
            byValue: byValue)
    }

    private func isReplica(_ verdict: TypeVerdict) -> Bool {
        if case .replica = verdict { true } else { false }
    }

    @Test("equal types make a replica, unless the daemon shows more than the state")
    func equal() {
        var comparison = TypeComparison(of: Shop.self, .fail)
        #expect(isReplica(comparison.learn(types("Shop", Shop.fingerprint), at: "/")))
        #expect(comparison.areKnown && comparison.livePhase == .live)
        comparison.forget()
        #expect(!comparison.areKnown)
        let shown = comparison.learn(types("Shop", Shop.fingerprint, byValue: true), at: "/")
        guard case .value(isChanged: false) = shown else {
            Issue.record("\(shown)")
            return
        }
        #expect(comparison.livePhase == .live)
    }

    @Test("another name is refused unless one of the two types had it, and is known from then on")
    func names() {
        var comparison = TypeComparison(of: Shop.self, .fail)
        let refused = comparison.learn(types("Store", Shop.fingerprint), at: "/a")
        guard case .refused(.otherReactor("/a", "Shop", "Store")) = refused else {
            Issue.record("\(refused)")
            return
        }
        let store = types("Store", former: ["Shop"], Shop.fingerprint)
        #expect(isReplica(comparison.learn(store, at: "/a")))
        let granted = Subscribed(
            start: .snapshot, reactor: "Store", fingerprint: Shop.fingerprint, sequence: 1)
        #expect(comparison.fits(granted))
        #expect(!TypeComparison(of: Shop.self, .fail).fits(granted))
    }

    @Test("a value of an earlier daemon counts as changed once the daemon's types are others")
    func changed() {
        var comparison = TypeComparison(of: Shop.self, .fail)
        for (fingerprint, isNew) in [(UInt64(1), false), (1, false), (2, true)] {
            let verdict = comparison.learn(types("Shop", fingerprint), at: "/")
            guard case .value(let isChanged) = verdict else {
                Issue.record("\(verdict)")
                return
            }
            #expect(isChanged == isNew && comparison.livePhase == .differing(TypeDifference()))
        }
    }

    @Test("a value where nil has to be is refused, in any element")
    func filled() throws {
        let lacking: WireSchema = .record(
            WireSchema.Record(
                name: "State",
                fields: [WireSchema.Field(name: "places", schema: .array(.text))]))
        var comparison = TypeComparison(of: Shop.self, .fail)
        _ = comparison.learn(types("Shop", 1, lacking), at: "/")
        try comparison.check(Shop.State())
        #expect(throws: WireError(.missingField("size"), at: 0)) {
            try comparison.check(Shop.State(size: 4))
        }
        var accepted = TypeComparison(of: Shop.self, .defaults)
        _ = accepted.learn(types("Shop", 1, lacking), at: "/")
        try accepted.check(Shop.State(size: 4))
    }

    @Test("a collection is compared by the names of its children's type")
    func collection() {
        var comparison = TypeComparison(ofChildren: Shop.self, .fail)
        guard case .refused = comparison.learn(types("Shop", 1), at: "/") else {
            Issue.record("a reactor is no collection")
            return
        }
        #expect(isReplica(comparison.learn(types("collection of Shop", Shop.fingerprint), at: "/")))
    }
}
