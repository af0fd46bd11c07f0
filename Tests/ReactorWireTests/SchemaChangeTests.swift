import Testing

@testable import ReactorWire

@WireCodable
private struct OldPlace {
    var street: String
    var number: Int
    var tags: [Int32]
}

@WireCodable
@WireRemoved("number")
private struct NewPlace {
    @WireAlias("street") var road: String
    var tags: [Int64]
    var note: String?
}

@Suite("Changes of a schema")
struct SchemaChangeTests {
    private func field(
        _ name: String, _ schema: WireSchema, isOptional: Bool = false, aliases: [String] = []
    ) -> WireSchema.Field {
        WireSchema.Field(name: name, schema: schema, isOptional: isOptional, aliases: aliases)
    }

    private func record(_ fields: [WireSchema.Field], removed: [String] = []) -> WireSchema {
        .record(WireSchema.Record(name: "State", fields: fields, removed: removed))
    }

    private func choice(_ cases: [WireSchema.Case]) -> WireSchema {
        .choice(WireSchema.Choice(name: "Action", cases: cases))
    }

    private func lines(_ stored: WireSchema, _ today: WireSchema) -> [String] {
        stored.changes(to: today).map(\.description)
    }

    @Test("an equal schema has no changes, and neither has another order of its fields")
    func equal() {
        let action = WireSchemaTests.action
        #expect(action.canonical.changes(to: action).isEmpty)
        let stored = record([field("a", .bool), field("b", .text)])
        #expect(lines(stored, record([field("b", .text), field("a", .bool)])).isEmpty)
    }

    @Test("the macros' declarations of renamed, removed and new fields are fine")
    func declared() {
        let changes = OldPlace.wireSchema.canonical.changes(to: NewPlace.wireSchema)
        #expect(
            changes.map(\.description) == [
                "fine: number is removed, its value is dropped",
                "fine: street is renamed to road", "fine: note is new, with a default",
            ])
        #expect(changes.allSatisfy { $0.verdict == .fine })
    }

    @Test("a change says whether a reader skips the field, or lacks it")
    func kinds() {
        let stored = record([field("a", .bool), field("b", .bool), field("c", .text)])
        let today = record(
            [
                field("c", .bool), field("d", .optional(.bool), isOptional: true),
                field("e", .bool, isOptional: true), field("f", .bool),
            ], removed: ["a"])
        #expect(
            stored.changes(to: today).map(\.kind) == [
                .skipped, .skipped, .other, .missing(takesNil: true, hasDefault: true),
                .missing(takesNil: false, hasDefault: true),
                .missing(takesNil: false, hasDefault: false),
            ])
    }

    @Test("names of removed fields are in the schema, and change no fingerprint")
    func removed() throws {
        let plain = record([field("a", .bool)])
        let declared = record([field("a", .bool)], removed: ["b"])
        #expect(declared.fingerprint == plain.fingerprint)
        #expect(try WireSchema(wireBytes: declared.wireBytes()) == declared)
        guard case .record(let place) = NewPlace.wireSchema else {
            Issue.record("a struct is a record")
            return
        }
        #expect(place.removed == ["number"])
    }

    @Test("a value of an earlier version is converted, and one of a newer version forbidden")
    func versions() {
        func place(_ version: Int, _ name: String) -> WireSchema {
            .record(WireSchema.Record(name: "P", fields: [field(name, .text)], version: version))
        }
        #expect(
            lines(record([field("at", place(1, "a"))]), record([field("at", place(3, "b"))]))
                == ["fine: at has version 1, and is converted to version 3"])
        #expect(
            lines(place(3, "a"), place(2, "a")) == [
                "forbidden: value has version 3, and version 2 in the program: start the newer "
                    + "program that wrote it"
            ])
        let cases = (1...2).map { WireSchema.choice(.init(name: "C", cases: [], version: $0)) }
        #expect(
            lines(cases[0], cases[1]) == [
                "fine: value has version 1, and is converted to version 2"
            ])
    }

    @Test("a field that the program lacks, or has without a default, needs a decision")
    func undeclared() {
        let lines = lines(record([field("old", .bool)]), record([field("new", .text)]))
        #expect(
            lines == [
                "needs a decision: old is not in the program: write @WireAlias(\"old\") on the "
                    + "field that has its value now, or @WireRemoved(\"old\") on the struct",
                "needs a decision: new is new, without a default: give it a default value or an "
                    + "optional type, or write a migration",
            ])
    }

    @Test("another form under the same name is forbidden, at every depth")
    func forms() {
        let stored = record([field("items", .array(.map(record([field("size", .text)]))))])
        let today = record([field("items", .array(.map(record([field("size", .bool)]))))])
        #expect(
            lines(stored, today) == [
                "forbidden: items.*.*.size was text, and is a boolean now: keep the old form under "
                    + "this name, or convert it in a migration"
            ])
        #expect(lines(.text, record([])).first?.hasPrefix("forbidden: value was text") == true)
    }

    @Test("a field that would be read from two stored fields is forbidden")
    func ambiguous() {
        let stored = record([field("a", .bool), field("b", .bool)])
        let changes = stored.changes(to: record([field("a", .bool, aliases: ["b"])]))
        #expect(changes.map(\.verdict) == [.fine, .forbidden])
    }

    @Test("a wider integer, an optional, and any value read what a narrower type wrote")
    func wider() {
        let small = WireSchema.integer(min: 0, max: 255)
        #expect(small.changes(to: .integer(min: -9, max: 300)).isEmpty)
        #expect(small.changes(to: .float).isEmpty && small.changes(to: .any).isEmpty)
        #expect(small.changes(to: .optional(small)).isEmpty)
        #expect(lines(.integer(min: 0, max: 300), small).first?.hasPrefix("needs a dec") == true)
        #expect(lines(.optional(small), small).first?.hasPrefix("needs a decision") == true)
        #expect(lines(.float, small).first?.hasPrefix("forbidden") == true)
    }

    @Test("a case that the program lacks needs a decision; a new or renamed one is fine")
    func cases() {
        let stored = choice([
            WireSchema.Case(name: "stop", payload: .none),
            WireSchema.Case(name: "move", payload: .record([field("by", .bool)])),
        ])
        let today = choice([
            WireSchema.Case(
                name: "go", payload: .record([field("step", .bool, aliases: ["by"])]),
                aliases: ["move"]),
            WireSchema.Case(name: "jump", payload: .single(.text)),
        ])
        #expect(
            lines(stored, today) == [
                "needs a decision: stop is not in the program: keep the case, write "
                    + "@WireAlias(\"stop\") on the case that replaces it, or a migration",
                "fine: move is renamed to go", "fine: move.by is renamed to step",
                "fine: jump is a new case",
            ])
    }

    @Test("a case with other values is compared label by label, or is of another form")
    func payloads() {
        func of(_ payload: WireSchema.Payload) -> WireSchema {
            choice([WireSchema.Case(name: "x", payload: payload)])
        }
        let labelled = WireSchema.Payload.record([field("by", .bool)])
        #expect(
            of(.none).changes(to: of(.record([field("by", .bool, isOptional: true)]))).count == 1)
        #expect(of(labelled).changes(to: of(.none)).map(\.verdict) == [.needsDecision])
        #expect(of(.single(.bool)).changes(to: of(labelled)).map(\.verdict) == [.forbidden])
        #expect(
            of(.tuple([.bool, .text])).changes(to: of(.tuple([.bool, .bool]))).map(\.path)
                == [["x", "1"]])
    }

    @Test("the walk ends at recursive types, and reports every change")
    func bounded() {
        let list = record([field("next", .optional(.reference("State")))])
        #expect(list.changes(to: list).isEmpty)
        let many = record((0..<500).map { field("f\($0)", .bool) })
        #expect(many.changes(to: record([])).count == 500)
    }
}
