import ReactorWire
import Testing

@WireCodable
indirect enum Formula: Equatable {
    case number(Int)
    case sum(Formula, Formula)
    case list(items: [Formula], named: [String: Formula] = [:])
}

@WireCodable
enum Mood: String { case calm, busy }

@WireCodable
enum Either<Left, Right> {
    case left(Left)
    case right(value: Right)
    case both(Left, Right)
}

@WireCodable
enum Thing: Equatable {
    case `self value`(Int)
    case naïve
    case decode(bytes: Int, cursor: Int, choice: Int, value: Int)
    case optional(Int?)
    case wrapped(value: Int? = 3)
    case existing((Int))
}

@Suite("The cases of an enum")
struct WireCodableChoiceTests {
    @Test("a case without payload is also decoded from its bare name")
    func bareName() throws {
        #expect(try Desk.Action("reset") == .reset)
        #expect(try Desk.Action("default") == .default)
        #expect(try Desk.Action(.openMap([("reset", [:])])) == .reset)
        #expect(try Desk.Action(.tagged(55799, ["reset": .openMap([])])) == .reset)
    }

    @Test("a case without payload skips values of a newer version")
    func emptyPayload() throws {
        #expect(try Desk.Action(["reset": ["hard": 1]]) == .reset)
        #expect(
            failure(Desk.Action.self, ["reset": ["hard": 1, "hard": 1]])?.condition
                == .duplicateKey("hard"))
        #expect(failure(Desk.Action.self, ["reset": 1])?.path == ["reset"])
    }

    @Test("the bare name of a case with payload is refused")
    func bareNameOfPayload() {
        for name: CBORItem in ["increment", "add", "move"] {
            guard case .mismatch = failure(Desk.Action.self, name)?.condition else {
                Issue.record("\(name) was read")
                continue
            }
        }
    }

    @Test("labelled values follow the rules of fields")
    func labelled() throws {
        #expect(try Desk.Action(["increment": [:]]) == .increment(by: 1))
        #expect(try Desk.Action(["increment": ["later": 1, "by": 3]]) == .increment(by: 3))
        #expect(
            try Desk.Action(["transfer": .openMap([("from", "x"), ("amount", 1)])])
                == .transfer(amount: 1, from: "x", to: "home", über: nil))
        let twice = failure(Desk.Action.self, ["increment": ["by": 1, "by": 2]])
        #expect(twice?.condition == .duplicateKey("by"))
        #expect(twice?.path == ["increment"])
        let missing = failure(Desk.Action.self, ["transfer": ["amount": 1]])
        #expect(missing?.condition == .missingField("from"))
        #expect(missing?.path == ["transfer", "from"])
    }

    @Test("several values without labels are an array of exactly that many")
    func tuple() throws {
        #expect(try Desk.Action(["move": .openArray([1, "up"])]) == .move(1, "up"))
        let expected = WireError.Condition.outOfRange(expected: "an array of 2 elements")
        #expect(failure(Desk.Action.self, ["move": [1]])?.condition == expected)
        #expect(failure(Desk.Action.self, ["move": [1, "up", 2]])?.condition == expected)
        #expect(failure(Desk.Action.self, ["move": [1, 2]])?.path == ["move", "1"])
    }

    // [WIRE-13-1]
    @Test("W18: an unknown case is refused with the known ones")
    func unknownCase() {
        let known = [
            "increment", "add", "move", "reset", "default", "transfer",
            "supercalifragilisticexpialidocious",
        ]
        for item: CBORItem in [["boost": 1], "boost", .openMap([("boost", [])])] {
            let error = failure(Desk.Action.self, item)
            #expect(error?.condition == .unknownCase("boost", known: known))
            #expect(error?.path == [])
        }
    }

    @Test("a map without a key or with two is not a choice")
    func keyCount() {
        let items: [CBORItem] = [
            [:], ["reset": [:], "add": 1], ["reset": [:], "reset": [:]], .openMap([]),
            .openMap([("reset", [:]), ("later", 1)]), 5, [["reset": [:]]], .null,
        ]
        for item in items {
            guard case .mismatch = failure(Desk.Action.self, item)?.condition else {
                Issue.record("\(item) was read as a choice")
                continue
            }
        }
    }

    @Test("an alias of a case is decoded and never encoded")
    func alias() throws {
        #expect(try Desk.Action("clear") == .reset)
        #expect(Desk.Action.reset.wireBytes() == CBORItem.map([("reset", [:])]).bytes)
    }

    @Test("names in backticks and names beyond ASCII are encoded as their UTF-8 bytes")
    func unusualNames() throws {
        for thing: Thing in [
            .`self value`(3), .naïve, .decode(bytes: 1, cursor: 2, choice: 3, value: 4),
            .optional(nil), .optional(1), .wrapped(value: nil), .existing(2),
        ] {
            #expect(try Thing(wireBytes: thing.wireBytes()) == thing)
        }
        #expect(try Thing(["self value": 3]) == .`self value`(3))
        #expect(try Thing("na\u{ef}ve") == .naïve)
        #expect(failure(Thing.self, "nai\u{308}ve") != nil)
        #expect(try Thing(["wrapped": [:]]) == .wrapped(value: 3))
    }

    @Test("an enum with a raw value is encoded as that value")
    func rawValue() throws {
        #expect(Mood.busy.wireBytes() == "busy".wireBytes())
        #expect(try Mood("calm") == .calm)
        #expect(failure(Mood.self, "angry") != nil)
    }

    @Test("a recursive enum is decoded, and refused beyond the depth limit")
    func recursive() throws {
        let formula = Formula.list(
            items: [.sum(.number(1), .number(2))], named: ["x": .number(3)])
        #expect(try Formula(wireBytes: formula.wireBytes()) == formula)
        var deep = CBORItem.map([("number", 1)])
        for _ in 0..<WireLimits.depthMax { deep = ["list": ["items": .array([deep])]] }
        #expect(failure(Formula.self, deep)?.condition == .tooDeep)
    }

    @Test("a nested choice may be as deep as the limit, and no deeper")
    func depthLimit() throws {
        // A sum takes two levels, its map and its array; a number takes one.
        for (sums, fits) in [(63, true), (64, false)] {
            var formula = CBORItem.map([("number", 1)])
            for _ in 0..<sums { formula = ["sum": [["number": 2], formula]] }
            #expect((failure(Formula.self, formula) == nil) == fits)
            if !fits { #expect(failure(Formula.self, formula)?.condition == .tooDeep) }
        }
    }

    @Test("an error in a payload names its path")
    func errorPaths() {
        #expect(failure(Desk.Action.self, ["increment": ["by": "x"]])?.path == ["increment", "by"])
        #expect(failure(Desk.Action.self, ["add": "x"])?.path == ["add"])
        #expect(failure(Desk.Action.self, ["move": ["x", "y"]])?.path == ["move", "0"])
        let open = CBORItem.openMap([("increment", .openMap([("by", "x")]))])
        #expect(failure(Desk.Action.self, open)?.path == ["increment", "by"])
    }

    @Test("the levels of a choice are released after it")
    func depthIsBalanced() throws {
        let many = CBORItem.array(Array(repeating: ["increment": ["by": 1]], count: 200))
        #expect(try [Desk.Action](many).count == 200)
        let open = CBORItem.array(Array(repeating: .openMap([("reset", [:])]), count: 200))
        #expect(try [Desk.Action](open).count == 200)
    }

    @Test("a generic enum is codable if its parameters are")
    func generic() throws {
        let values: [Either<Int, String>] = [.left(1), .right(value: "r"), .both(2, "b")]
        for value in values {
            let back = try Either<Int, String>(wireBytes: value.wireBytes())
            #expect(back.wireBytes() == value.wireBytes())
        }
    }
}
