import Testing

@Suite("The code that @WireCodable generates for a struct")
struct WireStructTests {
    @Test("a struct's fields are collected, and passed to an initializer in the extension")
    func record() {
        expectExpansion(
            """
            @WireCodable
            struct State {
                /// How many.
                @WireAlias("total")
                var count = 0
                var name: String
                var limit: Int = Self.limitMax
            }
            """,
            expandedStruct)
    }

    @Test("a generic type is codable if its parameters are")
    func generic() {
        expectExpansion(
            """
            @WireCodable
            struct Box<Value> {
                let value: Value
            }
            """,
            expandedGeneric)
    }
}

// MARK: - Expansions
private let expandedStruct = """
    struct State {
        /// How many.
        var count = 0
        var name: String
        var limit: Int = Self.limitMax

        private typealias _WireValues = (Int, String, Int)

        func encode(into writer: inout WireWriter) {
            writer.word(0x656d616e64a3, byteCount: 6)  // {"name":
            self.name.encode(into: &writer)
            writer.word(0x746e756f6365, byteCount: 6)  // ,"count":
            self.count.encode(into: &writer)
            writer.word(0x74696d696c65, byteCount: 6)  // ,"limit":
            self.limit.encode(into: &writer)
        }

        static func decode(
            _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Self {
            let start = cursor.offset
            var map = try cursor.openMap(in: bytes)
            var value0: Int?  // count
            var value1: String?  // name
            var value2: Int?  // limit
            if cursor.hasPair(map),  // "name":
                cursor.takes(0x656d616e64, byteCount: 5, in: bytes)
            {
                try cursor.expected("name", into: &value1, in: bytes, &map)
            }
            if cursor.hasPair(map),  // "count":
                cursor.takes(0x746e756f6365, byteCount: 6, in: bytes)
            {
                try cursor.expected("count", into: &value0, in: bytes, &map)
            }
            if cursor.hasPair(map),  // "limit":
                cursor.takes(0x74696d696c65, byteCount: 6, in: bytes)
            {
                try cursor.expected("limit", into: &value2, in: bytes, &map)
            }
            while let name = try cursor.nextName(in: bytes, &map) {
                switch Self._wireIndex(of: name, in: bytes) {
                case 0: try cursor.field(name, into: &value0, in: bytes)
                case 1: try cursor.field(name, into: &value1, in: bytes)
                case 2: try cursor.field(name, into: &value2, in: bytes)
                default: try cursor.skipStranger(name, in: bytes, &map)
                }
            }
            return Self(_wireValues: (
                value0 ?? 0,
                try cursor.required(value1, "name", at: start),
                value2 ?? Self._wireDefault_2
            ))
        }

        func encode(
            at path: Swift.ArraySlice<WireKey>, into writer: inout WireWriter
        ) -> WireReach {
            guard let key = path.first else {
                encode(into: &writer)
                return .found
            }
            switch key {
            case "count":
                return self.count.encode(at: path.dropFirst(), into: &writer)
            case "name":
                return self.name.encode(at: path.dropFirst(), into: &writer)
            case "limit":
                return self.limit.encode(at: path.dropFirst(), into: &writer)
            default: return .impossible
            }
        }

        private static func _wireIndex(
            of name: WireName, in bytes: Swift.Span<Swift.UInt8>
        ) -> Swift.Int {
            switch name.count {
            case 4:
                let word = bytes.word(at: name.start, byteCount: 4)
                if word == 0x656d616e {  // name
                    return 1
                }
            case 5:
                let word = bytes.word(at: name.start, byteCount: 5)
                if word == 0x746e756f63 {  // count
                    return 0
                }
                if word == 0x6c61746f74 {  // total
                    return 0
                }
                if word == 0x74696d696c {  // limit
                    return 2
                }
            default: break
            }
            return -1
        }

        private static var _wireDefault_2: Int {
            Self.limitMax
        }

        static var wireSchema: WireSchema {
            WireSchema.record(Self.self, name: "State") {
                [
                    WireSchema.field("count", Int.self, hasDefault: true, doc: "How many.", aliases: ["total"]),
                    WireSchema.field("name", String.self),
                    WireSchema.field("limit", Int.self, hasDefault: true),
                ]
            }
        }
    }

    extension State: WireCodable {
        private init(_wireValues values: _WireValues) {
            self.count = values.0
            self.name = values.1
            self.limit = values.2
        }
    }
    """

private let expandedGeneric = """
    struct Box<Value> {
        let value: Value

        private typealias _WireValues = Value

        func encode(into writer: inout WireWriter) where Value: WireCodable {
            writer.word(0x65756c617665a1, byteCount: 7)  // {"value":
            self.value.encode(into: &writer)
        }

        static func decode(
            _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Self where Value: WireCodable {
            let start = cursor.offset
            var map = try cursor.openMap(in: bytes)
            var value0: Value?  // value
            if cursor.hasPair(map),  // "value":
                cursor.takes(0x65756c617665, byteCount: 6, in: bytes)
            {
                try cursor.expected("value", into: &value0, in: bytes, &map)
            }
            while let name = try cursor.nextName(in: bytes, &map) {
                switch Self._wireIndex(of: name, in: bytes) {
                case 0: try cursor.field(name, into: &value0, in: bytes)
                default: try cursor.skipStranger(name, in: bytes, &map)
                }
            }
            return Self(_wireValues: try cursor.required(value0, "value", at: start))
        }

        func encode(
            at path: Swift.ArraySlice<WireKey>, into writer: inout WireWriter
        ) -> WireReach where Value: WireCodable {
            guard let key = path.first else {
                encode(into: &writer)
                return .found
            }
            switch key {
            case "value":
                return self.value.encode(at: path.dropFirst(), into: &writer)
            default: return .impossible
            }
        }

        private static func _wireIndex(
            of name: WireName, in bytes: Swift.Span<Swift.UInt8>
        ) -> Swift.Int {
            switch name.count {
            case 5:
                let word = bytes.word(at: name.start, byteCount: 5)
                if word == 0x65756c6176 {  // value
                    return 0
                }
            default: break
            }
            return -1
        }

        private static func _wireSchema() -> WireSchema where Value: WireCodable {
            WireSchema.record(Self.self, name: "Box") {
                [
                    WireSchema.field("value", Value.self),
                ]
            }
        }
    }

    extension Box: WireCodable where Value: WireCodable {
        private init(_wireValues values: _WireValues) {
            self.value = values
        }
        static var wireSchema: WireSchema {
            Self._wireSchema()
        }
    }
    """
