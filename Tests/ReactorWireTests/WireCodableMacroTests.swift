import ReactorWire
import Testing

/// A point of sale: every kind of field that a struct may have.
@WireCodable
struct Sale: Equatable {
    /// How many were sold.
    var quantity: Int
    /// What was sold,
    /// by its name.
    ///
    /// This paragraph is for the reader of the source.
    @WireAlias("item", "article") var name: String = "thing"
    var a, b: Int
    var rate = 0.5
    var note: String?
    var observed: Bool = false { didSet {} }
    var place: Place = .counter(number: Sale.counterMax)
    let kind: Int8
    let version = 1
    var total: Int { quantity * 2 }
    static let counterMax = 9

    @WireCodable
    enum Place: Equatable {
        case counter(number: Int)
        case street
    }
}

extension Sale {
    static let sample = Sale(
        quantity: 3, name: "tea", a: 1, b: 2, rate: 1.5, note: nil, observed: true,
        place: .street, kind: -1)
}

struct Desk {
    /// What a customer may ask for.
    @WireCodable
    enum Action: Equatable {
        /// Counts up.
        case increment(by: Int = 1)
        case add(Int)
        case move(Int, String)
        @WireAlias("clear") case reset
        case `default`
        case transfer(amount: Int, from: String, to: String = Desk.home, über: Int? = nil)
        case supercalifragilisticexpialidocious(x: Bool)
    }

    static var home: String { "home" }
}

@WireCodable
struct Empty: Equatable {}

@WireCodable
enum Lone: Equatable { case only(Int) }

@Suite("Encoding and decoding with @WireCodable")
struct WireCodableMacroTests {
    static let actions: [(Desk.Action, CBORItem)] = [
        (.increment(by: 5), ["increment": ["by": 5]]),
        (.add(-500), ["add": -500]),
        (.move(1, "up"), ["move": [1, "up"]]),
        (.reset, ["reset": [:]]),
        (.default, ["default": [:]]),
        (
            .transfer(amount: 7, from: "x", to: "y", über: 2),
            ["transfer": ["to": "y", "from": "x", "über": 2, "amount": 7]]
        ),
        (
            .supercalifragilisticexpialidocious(x: true),
            .map([("supercalifragilisticexpialidocious", .map([("x", .null)]))])
        ),
    ]

    @Test("each case has one encoded form, with keys in the order of their encoding")
    func choiceBytes() throws {
        for (action, item) in Self.actions.dropLast() {
            #expect(action.wireBytes().hex == item.bytes.hex)
            #expect(try Desk.Action(item) == action)
        }
    }

    @Test("a name longer than 23 bytes has a head of two bytes and decodes")
    func longName() throws {
        let action = Desk.Action.supercalifragilisticexpialidocious(x: true)
        let name = "supercalifragilisticexpialidocious"
        let payload: [UInt8] = [0xa1, 0x61, 0x78, 0xf5]
        #expect(action.wireBytes() == [0xa1, 0x78, 34] + Array(name.utf8) + payload)
        #expect(try Desk.Action(wireBytes: action.wireBytes()) == action)
    }

    @Test("a struct is a map of its stored properties, shorter names first")
    func recordBytes() throws {
        let item: CBORItem = [
            "a": 1, "b": 2, "kind": -1, "name": "tea", "note": .null, "rate": .integer(0),
            "place": ["street": [:]], "observed": .integer(0), "quantity": 3,
        ]
        var expected = item.bytes.hex
        // CBORItem has no floats and bools.
        expected.replace("647261746500", with: "6472617465f93e00")
        expected.replace("6f6273657276656400", with: "6f62736572766564f5")
        #expect(Sale.sample.wireBytes().hex == expected)
        #expect(try Sale(wireBytes: Sale.sample.wireBytes()) == Sale.sample)
    }

    @Test("a struct without fields is an empty map, and skips fields of a newer version")
    func empty() throws {
        #expect(Empty().wireBytes() == [0xa0])
        #expect(try Empty(["later": [1, 2]]) == Empty())
        #expect(failure(Empty.self, ["later": 1, "later": 2])?.condition == .duplicateKey("later"))
    }

    @Test("every truncation of a value is refused, never decoded as another value")
    func truncations() {
        for action in Self.actions.map(\.0) {
            let bytes = action.wireBytes()
            for count in 0..<bytes.count {
                #expect(throws: WireError.self, "\(action) cut to \(count) bytes") {
                    try Desk.Action(wireBytes: Array(bytes[..<count]))
                }
            }
        }
        let bytes = Sale.sample.wireBytes()
        for count in 0..<bytes.count {
            #expect(throws: WireError.self, "the sale cut to \(count) bytes") {
                try Sale(wireBytes: Array(bytes[..<count]))
            }
        }
    }

    @Test("no changed byte traps: it decodes or is refused")
    func changedBytes() {
        let samples = [Sale.sample.wireBytes(), Self.actions[5].0.wireBytes()]
        var refused = 0
        for sample in samples {
            for index in sample.indices {
                for byte in [0x00, 0x1f, 0x5f, 0x7f, 0x80, 0xa0, 0xbf, 0xf6, 0xff] as [UInt8] {
                    var bytes = sample
                    bytes[index] = byte
                    if (try? Sale(wireBytes: bytes)) == nil { refused += 1 }
                    if (try? Desk.Action(wireBytes: bytes)) == nil { refused += 1 }
                }
            }
        }
        #expect(refused > 0)
    }
}
