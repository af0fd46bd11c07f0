import ReactorWire
import Testing

@Suite("Schemas")
struct WireSchemaTests {
    static let action = WireSchema.choice(
        WireSchema.Choice(
            name: "Action", doc: "What a client asks for.",
            cases: [
                WireSchema.Case(
                    name: "increment",
                    payload: .record([
                        WireSchema.Field(
                            name: "by", schema: .integer(min: 0, max: 9), doc: "How many.",
                            aliases: ["amount"]),
                        WireSchema.Field(name: "note", schema: .optional(.text), isOptional: true),
                    ]), doc: "Adds."),
                WireSchema.Case(name: "reset", payload: .none, aliases: ["clear"]),
                WireSchema.Case(name: "add", payload: .single(.float)),
                WireSchema.Case(name: "move", payload: .tuple([.duration, .bytes])),
                WireSchema.Case(name: "batch", payload: .single(.array(.reference("Action")))),
                WireSchema.Case(name: "merge", payload: .single(.map(.any))),
                WireSchema.Case(
                    name: "place",
                    payload: .single(
                        .record(
                            WireSchema.Record(
                                name: "Place",
                                fields: [
                                    WireSchema.Field(name: "isOpen", schema: .bool),
                                    WireSchema.Field(
                                        name: "inner", schema: .reference("Place"), isOptional: true
                                    ),
                                ])))),
            ]))

    private static let oneOf = "one of increment, reset, add, move, batch, merge, place"

    /// The issues of `json` against the action's schema, as text.
    private func issues(_ json: String) throws -> [String] {
        Self.action.check(try WireValue(json: json)).map(\.description)
    }

    @Test("a schema survives a round trip through bytes, which any tool can read")
    func coding() throws {
        #expect(try WireSchema(wireBytes: Self.action.wireBytes()) == Self.action)
        let value = try WireValue(encoding: WireSchema.array(.integer(min: -1, max: 9)))
        #expect(value.json() == #"{"array":{"integer":{"max":9,"min":-1}}}"#)
        for plain: WireSchema in [.bool, .float, .text, .bytes, .any, .duration] {
            let bytes = plain.wireBytes()
            #expect(try WireSchema(wireBytes: bytes) == plain)
            // A case without payload may be its bare name.
            #expect(try WireSchema(wireBytes: "\(plain)".wireBytes()) == plain)
        }
    }

    @Test("the bytes of a schema are pinned: the order of keys, and every default is written")
    func bytes() throws {
        let pinned = #"""
            {"choice":{"doc":"What a client asks for.","name":"Action","cases":[{"doc":"Adds.",\#
            "name":"increment","aliases":[],"payload":{"record":[{"doc":"How many.","name":"by",\#
            "schema":{"integer":{"max":9,"min":0}},"aliases":["amount"],"isOptional":false},\#
            {"doc":"","name":"note","schema":{"optional":{"text":{}}},"aliases":[],\#
            "isOptional":true}]}},{"doc":"","name":"reset","aliases":["clear"],\#
            "payload":{"none":{}}},{"doc":"","name":"add","aliases":[],\#
            "payload":{"single":{"float":{}}}},{"doc":"","name":"move","aliases":[],\#
            "payload":{"tuple":[{"duration":{}},{"bytes":{}}]}},{"doc":"","name":"batch",\#
            "aliases":[],"payload":{"single":{"array":{"reference":"Action"}}}},{"doc":"",\#
            "name":"merge","aliases":[],"payload":{"single":{"map":{"any":{}}}}},{"doc":"",\#
            "name":"place","aliases":[],"payload":{"single":{"record":{"doc":"","name":"Place",\#
            "fields":[{"doc":"","name":"isOpen","schema":{"bool":{}},"aliases":[],\#
            "isOptional":false},{"doc":"","name":"inner","schema":{"reference":"Place"},\#
            "aliases":[],"isOptional":true}]}}}}]}}
            """#
        #expect(try WireValue(wireBytes: Self.action.wireBytes()).json() == pinned)
        #expect(try WireValue(json: pinned).decoded(as: WireSchema.self) == Self.action)
        #expect(try WireValue(json: pinned).wireBytes() == Self.action.wireBytes())
    }

    @Test("a type with a form of its own has a name, a form in words, and the shape of its values")
    func named() throws {
        let date = WireSchema.named(
            WireSchema.Named(name: "Date", doc: "seconds", schema: .any))
        let key = WireSchema.named(WireSchema.Named(name: "Key", schema: .text))
        let pinned = #"{"named":{"doc":"seconds","name":"Date","schema":{"any":{}}}}"#
        #expect(try WireValue(encoding: date).json() == pinned)
        #expect(try WireSchema(wireBytes: date.wireBytes()) == date)
        #expect(date.check(["a": 1]).isEmpty)
        #expect(key.check("x").isEmpty)
        #expect(key.check(3).map(\.description) == ["value: expected Key, got an integer"])
        let list = WireSchema.array(.named(WireSchema.Named(name: "Key", doc: "a", schema: .text)))
        #expect(list.check([3]).map(\.description) == ["0: expected Key (a), got an integer"])
        #expect(date.allows([]))
        #expect(!date.allows(["part"]))
        let documented = WireSchema.named(
            WireSchema.Named(name: "Key", doc: "words", schema: .text))
        #expect(key.fingerprint == documented.fingerprint)
        #expect(key.fingerprint != WireSchema.text.fingerprint)
        #expect(key.fingerprint != date.fingerprint)
    }

    @Test("W18: in a newer schema unknown fields are skipped and unknown cases refused")
    func newer() throws {
        let newer: WireValue = ["record": ["name": "A", "fields": [], "since": ["x": 1]]]
        #expect(
            try newer.decoded(as: WireSchema.self)
                == .record(WireSchema.Record(name: "A", fields: [])))
        #expect(throws: WireError.self) {
            try (["matrix": [:]] as WireValue).decoded(as: WireSchema.self)
        }
        #expect(throws: WireError.self) { try WireValue("integer").decoded(as: WireSchema.self) }
        let missing = #expect(throws: WireError.self) {
            try (["record": ["fields": []]] as WireValue).decoded(as: WireSchema.self)
        }
        #expect(missing?.path == ["record", "name"])
    }

    @Test("W11: a schema nested beyond the depth is refused")
    func depth() {
        // The innermost schema has two levels itself: its case and an empty payload.
        var schema = WireSchema.text
        for _ in 0..<WireLimits.depthMax - 2 { schema = .optional(schema) }
        #expect(throws: Never.self) { try WireSchema(wireBytes: schema.wireBytes()) }
        schema = .optional(schema)
        #expect(throws: WireError.self) { try WireSchema(wireBytes: schema.wireBytes()) }
    }

    @Test(
        "the fingerprint is pinned, ignores documentation and order, and depends on names and types"
    )
    func fingerprint() {
        #expect(WireSchema.text.fingerprint == 0x42bd_5e19_de62_a9ed)
        func record(_ fields: WireSchema.Field..., doc: String = "") -> UInt64 {
            WireSchema.record(WireSchema.Record(name: "R", doc: doc, fields: fields)).fingerprint
        }
        let count = WireSchema.Field(name: "count", schema: .integer(min: 0, max: 9))
        let text = WireSchema.Field(name: "text", schema: .text)
        let base = record(count, text)
        var other = count
        other.doc = "words"
        other.aliases = ["total"]
        #expect(record(text, other, doc: "words") == base)
        #expect(record(count) != base)
        other = count
        other.name = "counts"
        #expect(record(other, text) != base)
        other = count
        other.schema = .integer(min: 0, max: 10)
        #expect(record(other, text) != base)
        other = count
        other.isOptional = true
        #expect(record(other, text) != base)
    }

    @Test(
        "a decodable value has no issues",
        arguments: [
            #"{"increment":{"by":5}}"#, #"{"increment":{"amount":5,"note":null}}"#,
            #"{"reset":{}}"#,
            #""reset""#, #""clear""#, #"{"add":5}"#, #"{"add":5.5}"#,
            #"{"move":[5,{"$bytes":"AQ=="}]}"#,
            #"{"move":[[1,5],[1,255]]}"#, #"{"batch":[{"add":1},{"batch":["reset"]}]}"#,
            #"{"merge":{"a":{"b":[null]}}}"#,
            #"{"place":{"isOpen":true,"inner":{"isOpen":false}}}"#,
        ])
    func fitting(json: String) throws {
        #expect(try issues(json) == [])
    }

    @Test(
        "an issue names its place, the expected value, and the nearest name",
        arguments: [
            (
                #"{"incremnt":{"by":5}}"#,
                #"incremnt: expected \#(oneOf), got the unknown case "incremnt"; "#
                    + #"did you mean "increment"?"#
            ),
            (
                #"{"increment":{"bye":5,"by":1}}"#,
                #"increment.bye: expected one of by, note, got the unknown field "bye"; "#
                    + #"did you mean "by"?"#
            ),
            (#"{"increment":{"by":10}}"#, "increment.by: expected an integer from 0 to 9, got 10"),
            (
                #"{"increment":{"by":5.0}}"#,
                "increment.by: expected an integer from 0 to 9, got a float"
            ),
            (#"{"increment":{}}"#, "increment.by: expected an integer from 0 to 9, got nothing"),
            (
                #"{"increment":{"by":1,"amount":1}}"#,
                "increment.by: expected the field once, got it under two names"
            ),
            (
                #"{"increment":5}"#,
                "increment: expected a map of the fields by, note, got an integer"
            ),
            (
                #"{"reset":{"now":true}}"#,
                #"reset.now: expected no fields, got the unknown field "now""#
            ),
            (#""add""#, #"value: expected a map {"add":…} with a number, got the name alone"#),
            (
                #""rset""#,
                #"value: expected \#(oneOf), got the unknown case "rset"; did you mean "reset"?"#
            ),
            (
                #"{"add":9007199254740993}"#,
                "add: expected a number that a double holds, got 9007199254740993"
            ),
            (#"{"move":[1]}"#, "move: expected an array of 2, got an array of 1"),
            (
                #"{"move":[true,[256]]}"#,
                "move.0: expected a number of seconds or [seconds, attoseconds], got a bool"
            ),
            (
                #"{"batch":[{"add":1},{"sub":1}]}"#,
                #"batch.1.sub: expected \#(oneOf), got the unknown case "sub""#
            ),
            (
                #"{"place":{"isOpen":true,"inner":{"isopen":false}}}"#,
                #"place.inner.isopen: expected one of isOpen, inner, "#
                    + #"got the unknown field "isopen"; did you mean "isOpen"?"#
            ),
            (
                #"{"add":1,"reset":{}}"#,
                "value: expected a map with one key, \(oneOf), got a map with 2 keys"
            ),
            (
                "[]",
                "value: expected a map with one key, \(oneOf), got an array"
            ),
        ])
    func issue(json: String, description: String) throws {
        #expect(try issues(json).first == description)
    }

    @Test("a check stops at 16 issues")
    func limit() {
        let elements = [WireValue](repeating: "x", count: 100_000)
        #expect(WireSchema.array(.bool).check(.array(elements)).count == WireSchema.issuesMax)
    }

    @Test(
        "a name is near if at most a third of it differs",
        arguments: [
            ("incremnt", "increment"), ("INCREMENT", "increment"), ("icnrement", "increment"),
            ("vists", "visits"), ("by", nil), ("completely", nil), ("", nil),
        ] as [(String, String?)])
    func nearest(name: String, expected: String?) {
        #expect(NearestName.of(name, among: ["increment", "reset", "visits"]) == expected)
    }

    @Test("a schema allows the paths that lead somewhere or could, and no others")
    func allows() {
        func allowed(_ value: some WireCodable, _ path: [WireKey]) -> Bool {
            var writer = WireWriter()
            let isPossible = value.encode(at: path[...], into: &writer) != .impossible
            let allows = type(of: value).wireSchema.allows(path[...])
            #expect(allows == isPossible, "\(path)")
            return allows
        }
        let sale = Sale.sample
        #expect(
            allowed(sale, []) && allowed(sale, ["name"]) && allowed(sale, ["place", "counter"]))
        #expect(!allowed(sale, ["item"]) && !allowed(sale, ["name", "x"]))
        let transfer = Desk.Action.transfer(amount: 7, from: "x", to: "y", über: nil)
        #expect(allowed(transfer, ["transfer", "amount"]) && allowed(transfer, ["add"]))
        #expect(!allowed(transfer, ["transfer", "none"]) && !allowed(transfer, ["boost"]))
        #expect(!allowed(transfer, ["transfer", "u\u{308}ber"]))
        #expect(allowed(Desk.Action.move(1, "u"), ["move", "1"]))
        #expect(!allowed(Desk.Action.move(1, "u"), ["move", "2"]))
        #expect(!allowed(Desk.Action.reset, ["reset", "x"]))
        let state: [String: [[String: Int]?]] = ["a": [["x": 1], nil]]
        #expect(allowed(state, ["a", "0", "x"]) && allowed(state, ["b", "7", "y"]))
        #expect(!allowed(state, ["a", "01"]) && !allowed(state, ["a", "0", "x", "y"]))
        #expect(allowed([1, 2] as [UInt8], ["1"]) && !allowed([1, 2] as [UInt8], ["1", "0"]))
        #expect(allowed(["a": 5] as WireValue, ["b", "c", "d"]))
        #expect(!allowed(Duration.seconds(1), ["0"]))
    }

    @Test("a schema allows paths through a recursive type")
    func allowsRecursion() {
        let schema = Person.wireSchema
        #expect(schema.allows(["friends", "3", "friends", "0", "name"]))
        #expect(schema.allows(["partner", "x", "owners", "0", "partner"]))
        #expect(!schema.allows(["friends", "3", "friends", "0", "owners"]))
    }

    @Test("where only the type can decide, the schema allows a path")
    func allowsMore() {
        #expect(Set<Int>.wireSchema.allows(["0"]))
        #expect([Int: Bool].wireSchema.allows(["07"]))
    }
}
