public import ReactorWire
import Testing

@WireCodable
public struct Person: Equatable, Sendable {
    public var name: String
    public var friends: [Person]
    public var partner: [String: Pet]

    public init(name: String, friends: [Person], partner: [String: Pet]) {
        self.name = name
        self.friends = friends
        self.partner = partner
    }
}

/// Contains ``Person``, which contains it.
@WireCodable
public struct Pet: Equatable, Sendable {
    public var owners: [Person]
}

@Suite("Paths into values, and schemas")
struct WireCodablePathTests {
    private func reach(
        _ value: some WireCodable, _ path: [WireKey]
    ) -> (reach: WireReach, bytes: [UInt8]) {
        var writer = WireWriter()
        let reach = value.encode(at: path[...], into: &writer)
        return (reach, writer.bytes)
    }

    @Test("a path leads to a field and into it")
    func fields() {
        let sale = Sale.sample
        #expect(reach(sale, []) == (.found, sale.wireBytes()))
        #expect(reach(sale, ["name"]) == (.found, "tea".wireBytes()))
        #expect(reach(sale, ["place"]) == (.found, sale.place.wireBytes()))
        #expect(reach(sale, ["place", "counter"]) == (.absent, []))
        #expect(reach(sale, ["item"]) == (.impossible, []))
        #expect(reach(sale, ["version"]) == (.impossible, []))
        #expect(reach(Empty(), ["x"]) == (.impossible, []))
        #expect(reach(Empty(), []) == (.found, [0xa0]))
    }

    @Test("a path through a case leads to its payload, if it is the current case")
    func cases() {
        let transfer = Desk.Action.transfer(amount: 7, from: "x", to: "y", über: nil)
        #expect(reach(transfer, ["transfer", "amount"]) == (.found, [7]))
        #expect(reach(transfer, ["transfer", "über"]).reach == .found)
        #expect(reach(transfer, ["transfer", "none"]) == (.impossible, []))
        #expect(reach(transfer, ["add"]) == (.absent, []))
        #expect(reach(transfer, ["boost"]) == (.impossible, []))
        #expect(reach(Desk.Action.add(9), ["add"]) == (.found, [9]))
        #expect(reach(Desk.Action.add(9), ["add", "x"]) == (.impossible, []))
        #expect(reach(Desk.Action.reset, ["reset"]) == (.found, [0xa0]))
        #expect(reach(Desk.Action.reset, ["reset", "x"]) == (.impossible, []))
        #expect(reach(Desk.Action.move(1, "u"), ["move"]) == (.found, [0x82, 1, 0x61, 0x75]))
        #expect(reach(Desk.Action.move(1, "u"), ["move", "1"]) == (.found, "u".wireBytes()))
        #expect(reach(Desk.Action.move(1, "u"), ["move", "2"]) == (.impossible, []))
        #expect(reach(Lone.only(4), ["only"]) == (.found, [4]))
    }

    @Test("a field is found by its bytes, not by Unicode equivalence")
    func byteExact() {
        let transfer = Desk.Action.transfer(amount: 7, from: "x", to: "y", über: 1)
        #expect(reach(transfer, ["transfer", "u\u{308}ber"]) == (.impossible, []))
    }

    @Test("a schema names the fields, their defaults, aliases and documentation")
    func recordSchema() throws {
        guard case .record(let record) = Sale.wireSchema else {
            Issue.record("\(Sale.wireSchema)")
            return
        }
        #expect(record.name == "Sale")
        #expect(record.doc == "A point of sale: every kind of field that a struct may have.")
        #expect(
            record.fields.map(\.name) == [
                "quantity", "name", "a", "b", "rate", "note", "observed", "place", "kind",
            ])
        let needed = record.fields.filter { !$0.isOptional }
        #expect(needed.map(\.name) == ["quantity", "a", "b", "kind"])
        let name = try #require(record.fields.first { $0.name == "name" })
        #expect(name.doc == "What was sold, by its name.")
        #expect(name.aliases == ["item", "article"])
        #expect(name.schema == .text)
    }

    @Test("a schema names the cases and the forms of their payloads")
    func choiceSchema() {
        guard case .choice(let choice) = Desk.Action.wireSchema else {
            Issue.record("\(Desk.Action.wireSchema)")
            return
        }
        #expect(choice.name == "Desk.Action")
        #expect(choice.doc == "What a customer may ask for.")
        #expect(choice.cases[0].doc == "Counts up.")
        #expect(
            choice.cases[0].payload
                == .record([.init(name: "by", schema: Int.wireSchema, isOptional: true)]))
        #expect(choice.cases[1].payload == .single(Int.wireSchema))
        #expect(choice.cases[2].payload == .tuple([Int.wireSchema, .text]))
        #expect(choice.cases[3].payload == .none)
        #expect(choice.cases[3].aliases == ["clear"])
    }

    @Test("a recursive type is a reference in its schema, also through another type")
    func recursiveSchema() {
        guard case .choice(let formula) = Formula.wireSchema else {
            Issue.record("\(Formula.wireSchema)")
            return
        }
        #expect(formula.cases[1].payload == .tuple([.reference("Formula"), .reference("Formula")]))
        guard case .record(let person) = Person.wireSchema else {
            Issue.record("\(Person.wireSchema)")
            return
        }
        #expect(person.fields[1].schema == .array(.reference("Person")))
        guard case .map(.record(let pet)) = person.fields[2].schema else {
            Issue.record("\(person.fields[2].schema)")
            return
        }
        #expect(pet.fields[0].schema == .array(.reference("Person")))
    }

    @Test("the schema of a generic type contains its parameter's")
    func genericSchema() {
        guard case .record(let box) = Box<Int>.wireSchema else {
            Issue.record("\(Box<Int>.wireSchema)")
            return
        }
        #expect(box.doc == "A generic record.")
        #expect(box.fields.map(\.schema) == [Int.wireSchema, .array(Int.wireSchema)])
    }
}
