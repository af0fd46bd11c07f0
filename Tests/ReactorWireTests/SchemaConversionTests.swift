import Testing

@testable import ReactorWire

// Types in several versions; the enclosing names stand for builds of a program.

private enum One {
    @WireCodable
    struct Address {
        var street: String
        var zip: Int
    }

    @WireCodable
    struct State {
        var home: Address
        var others: [String: [Address]]
        var last: Address?
    }

    @WireCodable
    enum Change {
        case moved(Address)
        case swapped(Address, Address)
        case added(to: String, Address: Address)
        case cleared
    }
}

private enum Two {
    @WireCodable
    struct Address {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations { Three.Address.firstStep }
        var road: String
        var zip: Int
    }

    @WireCodable
    struct State {
        var home: Address
        var others: [String: [Address]]
        var last: Address?
    }
}

private enum Three {
    @WireCodable
    struct Address: Equatable {
        static var wireVersion: Int { 3 }
        static var wireMigrations: WireMigrations {
            firstStep.from(2) { try $0.convert("zip") { (zip: Int) in String(zip) } }
        }
        static var firstStep: WireMigrations { .from(1) { try $0.rename("street", to: "road") } }

        var road: String
        var zip: String
    }

    @WireCodable
    struct State: Equatable {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations {
            // The addresses have the version of today here, at whatever version they were stored.
            .from(1) { state in
                try state.convert("last") { (last: Address?) in last.map { [$0] } ?? [] }
                try state.rename("last", to: "former")
            }
        }
        var home: Address
        var others: [String: [Address]]
        var former: [Address]
    }

    @WireCodable
    enum Change: Equatable {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations {
            .from(1) { $0.renameCase("moved", to: "relocated") }
        }
        case relocated(Address)
        case swapped(Address, Address)
        case added(to: String, Address: Address)
        case cleared
    }
}

@WireCodable
private indirect enum OldTree {
    case leaf(Int)
    case node(all: [OldTree], left: OldTree?)
}

private enum Recursive {
    @WireCodable
    indirect enum Old {
        case leaf(Int)
        case node(left: Old?, all: [Old])
    }

    @WireCodable
    indirect enum New: Equatable {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations {
            WireMigrations.formerly("Recursive.Old").from(1) { tree in
                tree.renameCase("leaf", to: "fruit")
                try tree.inCase("fruit") { payload in
                    guard let count = payload.value.intValue else { return }
                    payload.value = try WireValue(encoding: count * 10)
                }
            }
        }
        case fruit(Int)
        case node(left: New?, all: [New])
    }
}

@Suite("Conversion of stored values")
struct SchemaConversionTests {
    private func converted<Old: WireCodable, New: WireCodable>(
        _ old: Old, to type: New.Type
    ) throws -> New {
        let conversion = try SchemaConversion(
            from: Old.wireSchema.canonical, to: New.wireSchema,
            with: VersionedTypes(in: [New.wireSchema]))
        #expect(conversion.isNeeded)
        let value = try conversion.convert(WireValue(encoding: old))
        return try New(keptBytes: value.wireBytes().span)
    }

    @Test("a nested type is converted at every place, from each version, before the outer type")
    func nested() throws {
        let today = Three.State(
            home: Three.Address(road: "A", zip: "1"),
            others: ["x": [Three.Address(road: "B", zip: "2")], "y": []],
            former: [Three.Address(road: "C", zip: "3")])
        let one = One.State(
            home: One.Address(street: "A", zip: 1),
            others: ["x": [One.Address(street: "B", zip: 2)], "y": []],
            last: One.Address(street: "C", zip: 3))
        #expect(try converted(one, to: Three.State.self) == today)
        let two = Two.State(
            home: Two.Address(road: "A", zip: 1),
            others: ["x": [Two.Address(road: "B", zip: 2)], "y": []],
            last: Two.Address(road: "C", zip: 3))
        #expect(try converted(two, to: Three.State.self) == today)
        let bare = One.State(home: One.Address(street: "A", zip: 1), others: [:], last: nil)
        #expect(try converted(bare, to: Three.State.self).former == [])
    }

    @Test("the values of each form of a case are converted, and then the case")
    func payloads() throws {
        let (old, new) = (One.Address(street: "A", zip: 1), Three.Address(road: "A", zip: "1"))
        func check(_ change: One.Change, _ expected: Three.Change) throws {
            #expect(try converted(change, to: Three.Change.self) == expected)
        }
        try check(.moved(old), .relocated(new))
        try check(.swapped(old, old), .swapped(new, new))
        try check(.added(to: "x", Address: old), .added(to: "x", Address: new))
        try check(.cleared, .cleared)
    }

    @Test("the values of a recursive type are converted at every depth")
    func recursive() throws {
        let old = Recursive.Old.node(
            left: .node(left: nil, all: [.leaf(1)]),
            all: [.leaf(2), .node(left: .leaf(3), all: [])])
        let new = Recursive.New.node(
            left: .node(left: nil, all: [.fruit(10)]),
            all: [.fruit(20), .node(left: .fruit(30), all: [])])
        #expect(try converted(old, to: Recursive.New.self) == new)
    }

    @Test("a schema of today's versions needs no conversion")
    func unneeded() throws {
        for schema in [Three.State.wireSchema, Three.Change.wireSchema] {
            let conversion = try SchemaConversion(
                from: schema.canonical, to: schema, with: VersionedTypes(in: [schema]))
            #expect(!conversion.isNeeded)
        }
        let plain = try SchemaConversion(
            from: OldTree.wireSchema.canonical, to: OldTree.wireSchema,
            with: VersionedTypes(in: [OldTree.wireSchema]))
        #expect(!plain.isNeeded)
    }

    // MARK: Errors

    private func error<Old: WireCodable, New: WireCodable>(
        _ old: Old, to type: New.Type
    ) -> String {
        let error = #expect(throws: MigrationError.self) { _ = try converted(old, to: type) }
        return error?.description ?? ""
    }

    @Test("a newer version in the history is refused, with the place in the schema")
    func newer() {
        let stored = Three.State(
            home: Three.Address(road: "A", zip: "1"), others: [:], former: [])
        let text = #expect(throws: MigrationError.self) {
            try SchemaConversion(
                from: stored.schema, to: Two.State.wireSchema,
                with: VersionedTypes(in: [Two.State.wireSchema]))
        }
        #expect(
            text?.description == "home: Two.Address has version 3 in the history, and version 2 in "
                + "the program: start the newer program that wrote it")
    }

    @Test("a step's refusal names the place, the type, both versions and the step's text")
    func refused() {
        let old = Refusing.Old(list: [Refusing.Part(size: 1), Refusing.Part(size: -1)])
        #expect(
            error(old, to: Refusing.New.self)
                == "list.1: Refusing.Item of version 1 is refused by the step from version 2: "
                + "a size of -1")
    }

    @Test("a version whose step was removed is refused where a value has it")
    func unsupported() throws {
        let old = Unsupported.Old(part: Unsupported.Part(size: 1), rest: [])
        #expect(
            error(old, to: Unsupported.New.self)
                == "part: Unsupported.Item has version 1 in the history, and the program has no step "
                + "from that version: start a program that has it first")
        let bare = Unsupported.Old(part: nil, rest: [])
        #expect(
            try converted(bare, to: Unsupported.New.self) == Unsupported.New(part: nil, rest: []))
    }

    @Test("a value that is not of the stored schema is refused")
    func mismatched() throws {
        let conversion = try SchemaConversion(
            from: One.State.wireSchema, to: Three.State.wireSchema,
            with: VersionedTypes(in: [Three.State.wireSchema]))
        for (value, text) in [
            (
                [1] as WireValue,
                "value: the stored schema expects the fields of One.State, got an array"
            ),
            (
                ["home": 5],
                "home: the stored schema expects the fields of One.Address, got an integer"
            ),
            (["others": [:], "last": .null, "home": .null], "home: the stored schema"),
            (["others": ["x": 1]], "others.x: the stored schema expects an array"),
        ] {
            let error = #expect(throws: MigrationError.self) { try conversion.convert(value) }
            #expect(error?.description.hasPrefix(text) == true, "\(error as Any)")
        }
    }
}

extension Three.State {
    /// The schema as if the type had the name that it has in another build.
    fileprivate var schema: WireSchema {
        guard case .record(var state) = Self.wireSchema.canonical else { return .any }
        state.name = "Two.State"
        state.version = 1
        state.fields = [
            WireSchema.Field(
                name: "home",
                schema: .record(.init(name: "Two.Address", fields: [], version: 3)))
        ]
        return .record(state)
    }
}

private enum Refusing {
    @WireCodable struct Part { var size: Int }

    @WireCodable struct Old { var list: [Part] }

    @WireCodable
    struct Item: Equatable {
        static var wireVersion: Int { 3 }
        static var wireMigrations: WireMigrations {
            WireMigrations.formerly("Refusing.Part").from(1) { _ in }.from(2) { item in
                let size = try item.read("size", as: Int.self)
                if size < 0 { throw MigratedValue.Problem("a size of \(size)") }
            }
        }
        var size: Int
    }

    @WireCodable struct New: Equatable { var list: [Item] }
}

private enum Unsupported {
    @WireCodable struct Part { var size: Int }

    @WireCodable
    struct Old {
        var part: Part?
        var rest: [Part]
    }

    @WireCodable
    struct Item: Equatable {
        static var wireVersion: Int { 3 }
        static var wireMigrations: WireMigrations {
            WireMigrations.from(2) { _ in }.formerly("Unsupported.Part")
        }
        var size: Int
    }

    @WireCodable
    struct New: Equatable {
        var part: Item?
        var rest: [Item]
    }
}
