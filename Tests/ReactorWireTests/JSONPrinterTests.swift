import ReactorWire
import Testing

@Suite("Printing JSON")
struct JSONPrinterTests {
    @Test("values print in the usual form")
    func printing() {
        let printed: KeyValuePairs<WireValue, String> = [
            .null: "null", true: "true", 5: "5", 5.0: "5.0", -0.0: "-0.0", 1e16: "1e+16",
            0.1: "0.1",
            18_446_744_073_709_551_615: "18446744073709551615",
            -18_446_744_073_709_551_616: "-18446744073709551616",
            .float(.nan): #"{"$float":"NaN"}"#, .float(-.infinity): #"{"$float":"-Infinity"}"#,
            .float(Double(bitPattern: 0xfff8_0000_0000_0001)):
                #"{"$float":"NaN:fff8000000000001"}"#,
            .bytes([]): #"{"$bytes":""}"#, .bytes([0, 1, 2]): #"{"$bytes":"AAEC"}"#,
            ["bb": [1, "x"], "a": [:]]: #"{"a":{},"bb":[1,"x"]}"#,
            ["$bytes": 1]: #"{"$map":{"$bytes":1}}"#,
            ["$map": ["$float": 2]]: #"{"$map":{"$map":{"$map":{"$float":2}}}}"#,
            ["$map": ["$float": 2], "a": 1]: #"{"a":1,"$map":{"$map":{"$float":2}}}"#,
            "\u{1b}[31m\n\"\\": #""\u001b[31m\n\"\\""#,
            "\u{9b}\u{202e}\u{2028}\u{7f}\0": #""\u009b\u202e\u2028\u007f\u0000""#,
            "水 é": #""水 é""#,
        ]
        for (value, json) in printed { #expect(value.json() == json) }
        #expect(WireValue("水𐅑").json(ascii: true) == #""\u6c34\ud800\udd51""#)
    }

    @Test("pretty JSON has one element a line, and keeps empty and wrapped values on one line")
    func pretty() {
        let value: WireValue = ["a": [1, .bytes([1])], "b": [:], "c": []]
        #expect(
            value.json(pretty: true) == """
                {
                  "a": [
                    1,
                    {"$bytes": "AQ=="}
                  ],
                  "b": {},
                  "c": []
                }
                """)
        #expect(
            WireValue.json(object: ["outcome": "applied", "at": 1])
                == #"{"outcome":"applied","at":1}"#)
    }

    @Test("W116: a quoted text is safe for a terminal and cut at 256 bytes")
    func quoting() {
        #expect("a\u{1b}[2J\nb\u{202e}".quoted() == #""a\u001b[2J\nb\u202e""#)
        let long = String(repeating: "é", count: 1 << 20)
        #expect(long.quoted() == "\"" + String(repeating: "é", count: 128) + "\"…")
        #expect("abcé".quoted(bytesMax: 4) == "\"abc\"…")
    }
}
