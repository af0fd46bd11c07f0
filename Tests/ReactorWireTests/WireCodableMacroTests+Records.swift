import ReactorWire
import Testing

@WireCodable
struct Order: Equatable {
    @WireAlias("total", "sum") var count: Int
    var name = "none"
    var lines: [Line] = []
    var memo: String?

    @WireCodable
    struct Line: Equatable {
        var quantity: Int
    }
}

/// A record with a removed field.
@WireRemoved("older")
@WireCodable
struct Shrunk: Equatable {
    var items: [Item] = []

    @WireCodable @WireRemoved("old", "oldest")
    struct Item: Equatable { var a = 0 }
}

/// A record whose only field was removed.
@WireCodable @WireRemoved("gone")
struct Emptied: Equatable {}

/// A generic record.
@WireCodable
struct Box<Value> {
    var value: Value
    var others: [Value] = []
}

extension Box: Equatable where Value: Equatable {}

@WireCodable
struct Pair<Left: WireCodable, Right> where Right: WireCodable {
    var left: Left
    var right: Right

    init(_ left: Left, and right: Right) {
        self.left = left
        self.right = right
    }
}

@WireCodable
struct Defaults: Equatable {
    // The generated code has local variables of these names.
    static let start = 11
    var start: Int = Self.start
    var map: Int = Defaults.start + 1
    var cursor: [String: Int] = [:]
    var bytes: [Int] = [-1, 2]
    var name: Int? = 5
    var `in`: Bool = true
    var writer = "w"
    var path = 1
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    var key: Int! = nil
}

@Suite("The fields of a struct")
struct WireCodableRecordTests {
    @Test("recovered data is decoded strictly at every depth, except for removed fields")
    func kept() throws {
        let known = CBORItem.map([("items", .array([.map([("old", 1), ("a", 2)])])), ("older", 3)])
        #expect(try Shrunk(keptBytes: known.bytes.span).items == [Shrunk.Item(a: 2)])
        let unknown = CBORItem.map([("items", .array([.map([("a", 2), ("b", 3)])]))])
        #expect(try Shrunk(wireBytes: unknown.bytes).items == [Shrunk.Item(a: 2)])
        let error = #expect(throws: WireError.self) {
            try Shrunk(keptBytes: unknown.bytes.span)
        }
        #expect(error?.condition == .unknownField("b"))
        #expect(error?.path == ["items", "0", "b"])
        #expect("\(error as Any)".contains("field \"b\" is unknown to the type"))
        #expect(throws: WireError.self) {
            try Emptied(keptBytes: CBORItem.map([("other", 1)]).bytes.span)
        }
        #expect(try Emptied(keptBytes: CBORItem.map([("gone", 1)]).bytes.span) == Emptied())
    }

    @Test("fields are read in any order, from definite and indefinite maps")
    func anyOrder() throws {
        let expected = Order(count: 1, name: "x", lines: [.init(quantity: 4)], memo: "m")
        let pairs: [(String, CBORItem)] = [
            ("count", 1), ("name", "x"), ("lines", [["quantity": 4]]), ("memo", "m"),
        ]
        for shift in pairs.indices {
            let turned = Array(pairs[shift...] + pairs[..<shift])
            #expect(try Order(.map(turned)) == expected)
            #expect(try Order(.openMap(turned.reversed())) == expected)
            #expect(try Order(.tagged(55799, .map(turned))) == expected)
        }
    }

    // [WIRE-3-10]
    @Test("a missing field takes its declared default, and an optional is nil")
    func missingWithDefault() throws {
        #expect(try Order(["count": 2]) == Order(count: 2))
        #expect(
            try Defaults([:])
                == Defaults(
                    start: 11, map: 12, cursor: [:], bytes: [-1, 2], name: 5, in: true,
                    writer: "w", path: 1, key: nil))
    }

    @Test("null decodes to nil for an optional with another default")
    func explicitNull() throws {
        #expect(try Defaults(["name": .null]).name == nil)
    }

    // [WIRE-3-10]
    @Test("a missing field without a default is refused with its path")
    func missing() {
        let error = failure(Order.self, ["count": 1, "lines": [["quantity": 1], [:]]])
        #expect(error?.condition == .missingField("quantity"))
        #expect(error?.path == ["lines", "1", "quantity"])
    }

    @Test("W17: a duplicate field is refused, also under an alias")
    func duplicate() {
        #expect(failure(Order.self, ["count": 1, "count": 1])?.condition == .duplicateKey("count"))
        #expect(failure(Order.self, ["count": 1, "sum": 1])?.condition == .duplicateKey("sum"))
        #expect(
            failure(Order.self, ["memo": .null, "count": 1, "memo": .null])?.condition
                == .duplicateKey("memo"))
    }

    @Test("W18: an unknown field is skipped, whatever its value")
    func unknown() throws {
        let strangers: [CBORItem] = [1, "x", [1, ["a": .null]], ["b": []], .openMap([("c", 1)])]
        for stranger in strangers {
            #expect(try Order(["later": stranger, "count": 3]) == Order(count: 3))
        }
    }

    @Test("W17: a duplicate unknown field is refused")
    func duplicateStranger() {
        let item: CBORItem = ["later": 1, "count": 3, "later": 2]
        #expect(failure(Order.self, item)?.condition == .duplicateKey("later"))
    }

    @Test("an alias is decoded and never encoded")
    func alias() throws {
        #expect(try Order(["total": 7]) == Order(count: 7))
        #expect(try Order(["sum": 8]) == Order(count: 8))
        let key = WireKey("total")
        var writer = WireWriter()
        #expect(Order(count: 7).encode(at: [key], into: &writer) == .impossible)
        #expect(try Order(wireBytes: Order(count: 7).wireBytes()) == Order(count: 7))
        #expect(!String(decoding: Order(count: 7).wireBytes(), as: UTF8.self).contains("total"))
    }

    @Test("a name that only begins like a field is unknown")
    func nearNames() throws {
        let item: CBORItem = ["coun": "no", "counts": "no", "Count": "no", "count": 1]
        #expect(try Order(item) == Order(count: 1))
    }

    @Test("an error in a field names its path")
    func errorPath() {
        let error = failure(Order.self, ["count": 1, "lines": [["quantity": "many"]]])
        #expect(error?.path == ["lines", "0", "quantity"])
        #expect(error?.condition == .mismatch(expected: "an integer", got: "text"))
    }

    @Test("a generic struct is codable if its parameter is")
    func generic() throws {
        let box = Box(value: "a", others: ["b"])
        #expect(try Box<String>(wireBytes: box.wireBytes()) == box)
        #expect(try Box<Box<Int>>(["value": ["value": 1]]).value.value == 1)
        let pair = try Pair<Int, String>(wireBytes: Pair(1, and: "z").wireBytes())
        #expect(pair.left == 1 && pair.right == "z")
        var writer = WireWriter()
        #expect(box.encode(at: ["others", "0"], into: &writer) == .found)
        #expect(writer.bytes == "b".wireBytes())
    }

    @Test("the memberwise initializer stays available")
    func memberwise() {
        #expect(Order.Line(quantity: 1).quantity == 1)
    }
}
