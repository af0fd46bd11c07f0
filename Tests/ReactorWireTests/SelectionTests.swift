import ReactorWire
import Testing

@Suite("Selection")
struct SelectionTests {
    @Test("a selection decodes to what was encoded, and missing parts take their defaults")
    func coding() throws {
        let selection = Selection(
            keys: KeyBounds(from: "a", through: "b"),
            filter: .any([
                .not(.compare(field: ["a", "b"], by: .lessOrEqual, with: .null)),
                .among(field: ["c"], values: [1, "x", [1.5]]),
            ]), order: [SelectionOrder(field: ["a"]), SelectionOrder(descending: true)], first: 3)
        #expect(try Selection(wireBytes: selection.wireBytes()) == selection)
        #expect(try Selection(wireBytes: ([:] as WireValue).wireBytes()) == Selection())
        let bare: WireValue = ["order": [["field": ["a"]], [:]], "keys": ["from": "x"]]
        #expect(
            try Selection(wireBytes: bare.wireBytes())
                == Selection(
                    keys: KeyBounds(from: "x"),
                    order: [SelectionOrder(field: ["a"]), SelectionOrder()]))
    }

    @Test("a request without a selection has the bytes that it had before there were any")
    func plainRequest() throws {
        let plain: WireValue = [
            "path": "/a", "mode": "value", "from": .null, "patches": false,
        ]
        #expect(Subscribe(path: "/a").wireBytes() == plain.wireBytes())
        #expect(try Subscribe(wireBytes: plain.wireBytes()) == Subscribe(path: "/a"))
        let selecting = Subscribe(path: "/a", mode: .selection, selection: Selection(first: 1))
        #expect(try Subscribe(wireBytes: selecting.wireBytes()) == selecting)
    }

    @Test("depth counts levels, and terms count conditions and values")
    func sizes() {
        let term = SelectionCondition.compare(field: ["a"], by: .equal, with: 1)
        let list = SelectionCondition.among(field: ["a"], values: [1, 2, 3])
        #expect(term.depth == 1 && term.termCount == 1 && list.depth == 1 && list.termCount == 4)
        let whole = SelectionCondition.all([term, .not(.any([term, list]))])
        #expect(whole.depth == 4 && whole.termCount == 1 + 1 + 1 + 1 + 1 + 4)
        #expect(SelectionCondition.all([]).depth == 1)
    }
}

@Suite("parts of schemas")
struct SchemaPartTests {
    private let schema = WireSchema.record(
        WireSchema.Record(
            name: "Run",
            fields: [
                .init(name: "progress", schema: .optional(.integer(min: 0, max: 9))),
                .init(name: "labels", schema: .map(.text)),
                .init(name: "any", schema: .any),
                .init(name: "parts", schema: .array(.optional(.reference("Run")))),
                .init(
                    name: "phase",
                    schema: .choice(
                        WireSchema.Choice(
                            name: "Phase",
                            cases: [
                                .init(name: "idle", payload: .none),
                                .init(name: "at", payload: .single(.float)),
                                .init(
                                    name: "running",
                                    payload: .record([.init(name: "by", schema: .bool)])),
                            ]))),
            ]))

    @Test("a path leads to the shape of a part, through optionals, references and cases")
    func found() throws {
        #expect(try schema.part(at: ["progress"]) == .integer(min: 0, max: 9))
        #expect(try schema.part(at: ["labels", "os"]) == .text)
        #expect(try schema.part(at: ["any", "x", "y"]) == .any)
        #expect(try schema.part(at: ["phase", "at"]) == .float)
        #expect(try schema.part(at: ["phase", "running", "by"]) == .bool)
        #expect(try schema.part(at: ["parts", "3", "progress"]) == .integer(min: 0, max: 9))
        #expect(try schema.part(at: ["parts", "3"]) == schema)
    }

    @Test("a component that is no part is named, with the parts that exist")
    func missing() {
        for (path, name, known) in [
            (["progres"], "progres", ["progress", "labels", "any", "parts", "phase"]),
            (["phase", "dead"], "dead", ["idle", "at", "running"]), (["progress", "x"], "x", []),
            (["parts", "x"], "x", []),
        ] as [([WireKey], WireKey, [String])] {
            let error = #expect(throws: WireSchema.MissingPart.self) {
                try schema.part(at: path[...])
            }
            #expect(error?.name == name && error?.known == known)
        }
    }
}
