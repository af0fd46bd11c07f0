import Testing

/// Drives ``EnumExpansion``.
@Suite("The code that @WireCodable generates for an enum")
struct WireEnumTests {
    @Test("an enum's names are compared and written eight bytes at a time")
    func choice() {
        expectExpansion(
            """
            /// What a client asks for.
            @WireCodable
            public enum Action {
                case increment(by: Int = 1)
                case reset
            }
            """,
            expandedEnum)
    }

    @Test("an enum with @WireInternal tells its internal cases, by value and by name")
    func internalCases() {
        expectExpansion(
            """
            @WireCodable
            enum Action {
                case open
                @WireInternal @WireAlias("expire") case close
            }
            """,
            expandedInternal)
    }
}

// MARK: - Expansions
private let expandedEnum = """
    /// What a client asks for.
    public enum Action {
        case increment(by: Int = 1)
        case reset

        @inlinable public func encode(into writer: inout WireWriter) {
            switch self {
            case .increment(let value0):
                // {"increment":{"by":
                writer.words(0x6d6572636e6969a1, 0x796262a1746e65, byteCount: 15)
                value0.encode(into: &writer)
            case .reset:
                writer.word(0xa0746573657265a1, byteCount: 8)  // {"reset":{}
            }
        }

        @inlinable public static func decode(
            _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Self {
            // the bytes that we write ourselves
            switch cursor.choiceHead(in: bytes) {
            case 0x65:
                if cursor.takes(0xa0746573657265a1, byteCount: 8, in: bytes) {  // reset
                    return .reset
                }
            case 0x69:
                // increment
                if cursor.takes(0x6d6572636e6969a1, 0x796262a1746e656d, byteCount: 15, in: bytes) {
                    return .increment(
                        by: try cursor.expected(Int.self, inside: "increment", "by", in: bytes)
                    )
                }
            default: break
            }
            // any other well-formed bytes
            let choice = try cursor.openChoice(in: bytes)
            let value: Self
            do throws(WireError) {
                switch Self._wireIndex(of: choice.name, in: bytes) {
                case 0:  // increment
                    try cursor.expectPayload(of: choice)
                    value = try Self._wireDecode_0(bytes, &cursor)
                case 1:  // reset
                    try cursor.emptyPayload(of: choice, in: bytes)
                    value = .reset
                default:
                    throw cursor.unknownCase(choice, known: Self._wireCases, in: bytes)
                }
            } catch {
                throw bytes.error(error, inside: choice)
            }
            try cursor.close(choice, in: bytes)
            return value
        }

        public func encode(
            at path: Swift.ArraySlice<WireKey>, into writer: inout WireWriter
        ) -> WireReach {
            guard let name = path.first else {
                encode(into: &writer)
                return .found
            }
            switch name {
            case "increment":
                guard case .increment(let value0) = self else { return .absent }
                let path = path.dropFirst()
                guard let key = path.first else {
                    writer.word(0x796262a1, byteCount: 4)  // {"by":
                    value0.encode(into: &writer)
                    return .found
                }
                switch key {
                case "by":
                    return value0.encode(at: path.dropFirst(), into: &writer)
                default: return .impossible
                }
            case "reset":
                guard case .reset = self else { return .absent }
                guard path.count == 1 else { return .impossible }
                writer.word(0xa0, byteCount: 1)  // {}
                return .found
            default:
                return .impossible
            }
        }

        @inlinable static func _wireIndex(
            of name: WireName, in bytes: Swift.Span<Swift.UInt8>
        ) -> Swift.Int {
            switch name.count {
            case 5:
                let word = bytes.word(at: name.start, byteCount: 5)
                if word == 0x7465736572 {  // reset
                    return 1
                }
            case 9:
                let word = bytes.word(at: name.start, byteCount: 8)
                if word == 0x6e656d6572636e69,  // increment
                    bytes.word(at: name.start &+ 8, byteCount: 1) == 0x74
                {
                    return 0
                }
            default: break
            }
            return -1
        }

        @usableFromInline static var _wireCases: [Swift.String] {
            ["increment", "reset"]
        }

        // the payload of increment
        @inlinable static func _wireDecode_0(
            _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Self {
            var map = try cursor.openMap(in: bytes)
            var value0: Int?  // by
            if cursor.hasPair(map),  // "by":
                cursor.takes(0x796262, byteCount: 3, in: bytes)
            {
                try cursor.expected("by", into: &value0, in: bytes, &map)
            }
            while let name = try cursor.nextName(in: bytes, &map) {
                switch Self._wireIndex_0(of: name, in: bytes) {
                case 0: try cursor.field(name, into: &value0, in: bytes)
                default: try cursor.skipStranger(name, in: bytes, &map)
                }
            }
            return .increment(by: value0 ?? 1)
        }

        @inlinable static func _wireIndex_0(
            of name: WireName, in bytes: Swift.Span<Swift.UInt8>
        ) -> Swift.Int {
            switch name.count {
            case 2:
                let word = bytes.word(at: name.start, byteCount: 2)
                if word == 0x7962 {  // by
                    return 0
                }
            default: break
            }
            return -1
        }

        public static var wireSchema: WireSchema {
            WireSchema.choice(Self.self, name: "Action", doc: "What a client asks for.") {
                [
                    WireSchema.Case(name: "increment", payload: .record([
                        WireSchema.field("by", Int.self, hasDefault: true),
                    ])),
                    WireSchema.Case(name: "reset", payload: .none),
                ]
            }
        }
    }

    extension Action: WireCodable {
    }
    """

private let expandedInternal = """
    enum Action {
        case open
        case close

        func encode(into writer: inout WireWriter) {
            switch self {
            case .open:
                writer.word(0xa06e65706f64a1, byteCount: 7)  // {"open":{}
            case .close:
                writer.word(0xa065736f6c6365a1, byteCount: 8)  // {"close":{}
            }
        }

        static func decode(
            _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> Self {
            // the bytes that we write ourselves
            switch cursor.choiceHead(in: bytes) {
            case 0x64:
                if cursor.takes(0xa06e65706f64a1, byteCount: 7, in: bytes) {  // open
                    return .open
                }
            case 0x65:
                if cursor.takes(0xa065736f6c6365a1, byteCount: 8, in: bytes) {  // close
                    return .close
                }
            default: break
            }
            // any other well-formed bytes
            let choice = try cursor.openChoice(in: bytes)
            let value: Self
            do throws(WireError) {
                switch Self._wireIndex(of: choice.name, in: bytes) {
                case 0:  // open
                    try cursor.emptyPayload(of: choice, in: bytes)
                    value = .open
                case 1:  // close
                    try cursor.emptyPayload(of: choice, in: bytes)
                    value = .close
                default:
                    throw cursor.unknownCase(choice, known: Self._wireCases, in: bytes)
                }
            } catch {
                throw bytes.error(error, inside: choice)
            }
            try cursor.close(choice, in: bytes)
            return value
        }

        func encode(
            at path: Swift.ArraySlice<WireKey>, into writer: inout WireWriter
        ) -> WireReach {
            guard let name = path.first else {
                encode(into: &writer)
                return .found
            }
            switch name {
            case "open":
                guard case .open = self else { return .absent }
                guard path.count == 1 else { return .impossible }
                writer.word(0xa0, byteCount: 1)  // {}
                return .found
            case "close":
                guard case .close = self else { return .absent }
                guard path.count == 1 else { return .impossible }
                writer.word(0xa0, byteCount: 1)  // {}
                return .found
            default:
                return .impossible
            }
        }

        private static func _wireIndex(
            of name: WireName, in bytes: Swift.Span<Swift.UInt8>
        ) -> Swift.Int {
            switch name.count {
            case 4:
                let word = bytes.word(at: name.start, byteCount: 4)
                if word == 0x6e65706f {  // open
                    return 0
                }
            case 5:
                let word = bytes.word(at: name.start, byteCount: 5)
                if word == 0x65736f6c63 {  // close
                    return 1
                }
            case 6:
                let word = bytes.word(at: name.start, byteCount: 6)
                if word == 0x657269707865 {  // expire
                    return 1
                }
            default: break
            }
            return -1
        }

        private static var _wireCases: [Swift.String] {
            ["open", "close"]
        }

        var isWireInternal: Swift.Bool {
            switch self {
            case .close: true
            default: false
            }
        }

        static var wireInternalCases: [Swift.String] {
            ["close"]
        }

        static var wireSchema: WireSchema {
            WireSchema.choice(Self.self, name: "Action") {
                [
                    WireSchema.Case(name: "open", payload: .none),
                    WireSchema.Case(name: "close", payload: .none, aliases: ["expire"]),
                ]
            }
        }
    }

    extension Action: WireCodable {
    }
    """
