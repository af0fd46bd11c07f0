import ReactorWire
import Testing

@Suite("Reading JSON")
struct JSONParserTests {
    /// Returns the error text for `json`.
    private func refusal(_ json: String) -> String? {
        do throws(JSONError) {
            _ = try WireValue(json: json)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("numbers without fraction and exponent stay integers, all others are doubles")
    func numbers() throws {
        #expect(try WireValue(json: "9007199254740993") == 9_007_199_254_740_993)
        #expect(try WireValue(json: "-0") == 0)
        #expect(try WireValue(json: "-0.0") == .float(-0.0))
        #expect(try WireValue(json: "1E2") == .float(100))
        #expect(try WireValue(json: " 1.0 ") == .float(1))
        #expect(
            try WireValue(json: "18446744073709551615")
                == .integer(WireInteger(exactly: UInt64.max)!))
        #expect(refusal("18446744073709551616")?.contains("is beyond -2^64 to 2^64 - 1") == true)
        #expect(refusal("-18446744073709551617")?.contains("is beyond -2^64 to 2^64 - 1") == true)
        #expect(refusal(String(repeating: "9", count: 100_000)) != nil)
        #expect(refusal("1e999") == "line 1, column 1: number \"1e999\" is too large for a double")
    }

    @Test(
        "invalid JSON is refused with its line and column",
        arguments: [
            ("", "line 1, column 1: expected a value, got the end of the text"),
            ("[1,\n 2,]", "line 2, column 4: expected a value, got \"]\""),
            ("{\"a\" 1}", "line 1, column 6: expected \":\", got \"1\""),
            ("{a:1}", "line 1, column 2: expected a key in quotation marks, got \"a\""),
            ("[1 2]", "line 1, column 4: expected \",\" or \"]\", got \"2\""),
            ("1 2", "line 1, column 3: expected the end of the text, got \"2\""),
            ("[\"水\", x]", "line 1, column 7: expected a value, got \"x\""),
            ("nul", "line 1, column 4: expected \"null\", got the end of the text"),
            ("01", "line 1, column 2: expected no digit after a leading zero, got \"1\""),
            ("-", "line 1, column 2: expected a digit, got the end of the text"),
            ("1.", "line 1, column 3: expected a digit, got the end of the text"),
            ("+1", "line 1, column 1: expected a value, got \"+\""),
            ("NaN", "line 1, column 1: expected a value, got \"N\""),
            (
                "\"a",
                "line 1, column 3: expected a quotation mark that ends the text, "
                    + "got the end of the text"
            ),
            (
                "\"a\u{1b}\"",
                "line 1, column 3: expected an escape for the control character, got \"\\u001b\""
            ),
            (#""\x""#, "line 1, column 3: expected an escape, got \"x\""),
            (#""\u12g4""#, "line 1, column 6: expected a hexadecimal digit, got \"g\""),
            (#"{"a":1,"b":2,"a":3}"#, "line 1, column 14: key \"a\" occurs twice"),
        ])
    func errors(json: String, description: String) {
        #expect(refusal(json) == description)
    }

    @Test("W14: lone surrogates and bytes that are not UTF-8 are refused, pairs are read")
    func surrogates() throws {
        #expect(try WireValue(json: #""\ud83d\ude00\u00e9\/\b\f""#) == "😀é/\u{8}\u{c}")
        for half in [
            #""\ud83d""#, #""\ude00""#, #""\ud83d\u0041""#, #""\ud83dx""#, #""\ude00\ud83d""#,
        ] {
            #expect(refusal(half)?.hasSuffix("half of a surrogate pair without the other") == true)
        }
        #expect(throws: JSONError(condition: .invalidText, line: 1, column: 2)) {
            try WireValue(json: [0x22, 0xc0, 0x80, 0x22])
        }
    }

    @Test("W15: the two Unicode forms of a key are two keys")
    func unicodeKeys() throws {
        let value = try WireValue(json: #"{"\u00e9":1,"e\u0301":2}"#)
        #expect(value.mapValue?.count == 2)
        #expect(value["\u{e9}"] == 1)
    }

    @Test("a wrapper with an unexpected value is refused, with the remedy")
    func wrappers() throws {
        for json in [
            #"{"$bytes":"A"}"#, #"{"$bytes":"AB=="}"#, #"{"$bytes":"A-=="}"#, #"{"$bytes":1}"#,
            #"{"$bytes":"===="}"#, #"{"$bytes":"AA=A"}"#, #"{"$float":"nan"}"#, #"{"$float":1}"#,
            #"{"$float":"NaN:7ff0000000000000"}"#, #"{"$float":"NaN:+ff8000000000001"}"#,
            #"{"$map":[]}"#, #"{"$map":1}"#,
        ] {
            #expect(
                refusal(json)?.contains("a map with this single key is written") == true, "\(json)")
        }
        #expect(
            try WireValue(json: #"{"$map":{"$bytes":"AQ=="},"a":1}"#)
                == ["$map": .bytes([1]), "a": 1])
        #expect(try WireValue(json: #"{"$bytes":"x","a":1}"#) == ["$bytes": "x", "a": 1])
        #expect(try WireValue(json: #"{"$float":"NaN:7ff8000000000000"}"#) == .float(.nan))
    }

    @Test("W11: 128 levels are accepted, wrapped or not; 129, 10,000 and 1,000,000 are refused")
    func depth() throws {
        var plain = WireValue.bytes([1])
        var wrapped = plain
        for _ in 0..<WireLimits.depthMax {
            plain = [plain]
            wrapped = ["$map": wrapped]
        }
        #expect(try WireValue(json: plain.json()) == plain)
        #expect(try WireValue(json: wrapped.json()) == wrapped)
        for deeper: WireValue in [[plain], ["a": plain], [wrapped], ["$map": wrapped]] {
            #expect(refusal(deeper.json())?.hasSuffix("nested deeper than 128") == true)
        }
        for piece in ["[", "{\"a\":", "{\"$map\":", "[{\"$map\":"] {
            for levels in [10_000, 1_000_000] {
                let json = String(repeating: piece, count: levels)
                #expect(refusal(json)?.hasSuffix("nested deeper than 128") == true)
            }
        }
    }
}
