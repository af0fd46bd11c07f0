import FoundationEssentials
import ReactorCore
import ReactorFoundation
import ReactorWire
import Testing

@Suite("Foundation's types on the wire")
struct FoundationTypesTests {
    private func uuid() throws -> UUID {
        try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    }

    private func refusal<Value: WireCodable>(_ type: Value.Type, _ json: String) -> String? {
        do {
            _ = try WireValue(json: json).decoded(as: type)
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: UUID

    @Test("a UUID is text in lower case, and read in either case")
    func uuids() throws {
        let text = "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"
        #expect(try uuid().wireBytes() == [0x78, 36] + Array(text.utf8))
        #expect(try UUID(wireBytes: uuid().wireBytes()) == uuid())
        #expect(try UUID(wireBytes: text.uppercased().wireBytes()) == uuid())
        #expect(
            refusal(UUID.self, #""e621""#)
                == #"value at byte 0: "e621" is no UUID"#)
    }

    @Test("as a key, a UUID has one text")
    func keys() throws {
        var jobs: Keyed<UUID, Int> = [:]
        jobs[try uuid()] = 3
        let value = try WireValue(encoding: jobs)
        #expect(value.json() == #"{"e621e1f8-c36c-495a-93fc-0c247a3e6e5f":3}"#)
        #expect(try value.decoded(as: Keyed<UUID, Int>.self)[uuid()] == 3)
        #expect(try value.decoded(as: [UUID: Int].self) == [uuid(): 3])
        #expect(UUID(wireKeyText: try uuid().uuidString) == nil)
        #expect(
            refusal([UUID: Int].self, #"{"a":1}"#)
                == #"value at byte 1: expected a UUID in lower case, got the key "a""#)
    }

    // MARK: URL

    @Test("a URL is its text; one with a base is both")
    func urls() throws {
        let plain = try #require(URL(string: "https://example.org/a?b=c#d"))
        #expect(plain.wireBytes() == [0x78, 27] + Array("https://example.org/a?b=c#d".utf8))
        let base = try #require(URL(string: "https://example.org/a/"))
        let relative = try #require(URL(string: "b/c?d", relativeTo: base))
        #expect(
            try WireValue(encoding: relative).json() == #"["b/c?d","https://example.org/a/"]"#)
        let nested = try #require(URL(string: "e", relativeTo: relative))
        let empty = try #require(URLComponents().url)
        for url in [plain, relative, nested, empty, URL(filePath: "/tmp/ü/x y")] {
            let read = try URL(wireBytes: url.wireBytes())
            #expect(read == url)
            #expect(read.relativeString == url.relativeString)
            #expect(read.baseURL == url.baseURL)
        }
    }

    @Test("characters beyond ASCII are percent-encoded, and survive a round trip so")
    func nonASCII() throws {
        let url = try WireValue(json: #""https://example.org/ü?q=ß#é""#).decoded(as: URL.self)
        #expect(url.absoluteString == "https://example.org/%C3%BC?q=%C3%9F#%C3%A9")
        #expect(try URL(wireBytes: url.wireBytes()) == url)
    }

    @Test("what is no URL is refused")
    func noURL() {
        #expect(
            refusal(URL.self, #""http://[::1""#)
                == #"value at byte 0: "http://[::1" is no URL"#)
        #expect(refusal(URL.self, "3") != nil)
        #expect(refusal(URL.self, #"["a"]"#) != nil)
        #expect(refusal(URL.self, #"["a","b","c"]"#) != nil)
        let deep =
            String(repeating: #"["a","#, count: 9) + #""b""# + String(repeating: "]", count: 9)
        #expect(refusal(URL.self, deep)?.contains("nested too deep") == true)
    }

    // MARK: Data

    @Test("data is a byte string, also a slice and empty data")
    func data() throws {
        #expect(Data().wireBytes() == [0x40])
        #expect(Data([0, 1, 2]).wireBytes() == [0x43, 0, 1, 2])
        #expect(Data([9, 9, 1, 2])[2...].wireBytes() == [0x42, 1, 2])
        for data in [Data(), Data([0, 1, 2]), Data(repeating: 7, count: 70_000)] {
            #expect(try Data(wireBytes: data.wireBytes()) == data)
        }
        #expect(try WireValue(encoding: Data([0, 1, 2])).json() == #"{"$bytes":"AAEC"}"#)
        #expect(try WireValue(json: "[0,255]").decoded(as: Data.self) == Data([0, 255]))
        #expect(refusal(Data.self, "[256]") != nil)
        var writer = WireWriter()
        #expect(Data([5, 6]).encode(at: ["1"], into: &writer) == .found)
        #expect(writer.bytes == [6])
    }

    // MARK: Decimal

    @Test(
        "a decimal is text with all its digits",
        arguments: ["0", "-12.5", "0.1", "12345678901234567890123456789012345678", "1e-127"])
    func decimals(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        #expect(try Decimal(wireBytes: decimal.wireBytes()) == decimal)
    }

    @Test("the bytes of a decimal are pinned, and its extremes survive a round trip")
    func decimalBytes() throws {
        let price = try #require(Decimal(string: "-12.50"))
        #expect(price.wireBytes() == [0x65] + Array("-12.5".utf8))
        for decimal in [
            Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude,
            Decimal.leastNonzeroMagnitude,
            Decimal(sign: .plus, exponent: -128, significand: Decimal.greatestFiniteMagnitude),
        ] {
            #expect(try Decimal(wireBytes: decimal.wireBytes()) == decimal)
        }
        #expect(try WireValue(json: "7").decoded(as: Decimal.self) == 7)
        let padded = try WireValue(json: #""007.10""#).decoded(as: Decimal.self)
        #expect(padded == Decimal(string: "7.1"))
        #expect(try Decimal(keptBytes: Decimal.nan.wireBytes().span).isNaN)
    }

    @Test(
        "what a decimal does not hold exactly is refused",
        arguments: [
            #""12abc""#, #""1e3""#, #""""#, #""-""#, #"".5""#, #""5.""#, #""+5""#, #""1 ""#,
            #""NaN""#, "0.1", #""0.12345678901234567890123456789012345678901""#,
            "\"1\(String(repeating: "0", count: 200))\"",
            "\"1\(String(repeating: "0", count: 300))\"",
        ])
    func noDecimal(json: String) {
        #expect(refusal(Decimal.self, json) != nil)
    }

    @Test("a schema names the types, and checks what it can")
    func schemas() throws {
        let names = [Date.wireSchema, UUID.wireSchema, URL.wireSchema, Decimal.wireSchema].map {
            schema in
            if case .named(let named) = schema { named.name } else { "" }
        }
        #expect(names == ["Date", "UUID", "URL", "Decimal"])
        #expect(Data.wireSchema == .bytes)
        #expect(
            UUID.wireSchema.check(.integer(3)).map(\.description)
                == ["value: expected UUID (text), got an integer"])
        #expect(UUID.wireSchema.check("x").isEmpty)
    }
}
