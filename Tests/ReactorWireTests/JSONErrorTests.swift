import ReactorWire
import Testing

@Suite("Errors of JSON")
struct JSONErrorTests {
    @Test(
        "an error is one line with the place, the expected value and the remedy",
        arguments: [
            (.tooDeep, "nested deeper than 128"),
            (.invalidText, "text is not valid UTF-8"),
            (.duplicateKey("a\n"), #"key "a\n" occurs twice"#),
            (.unexpected("\u{1b}", expected: "a value"), #"expected a value, got "\u001b""#),
            (
                .integerOutOfRange("99"),
                #"integer "99" is beyond -2^64 to 2^64 - 1, write a float (1e30) or text"#
            ),
            (
                .invalidWrapper(key: "$map", expected: "an object"),
                #""$map" takes an object; a map with this single key is written {"$map":{…}}"#
            ),
        ] as [(JSONError.Condition, String)])
    func lines(condition: JSONError.Condition, text: String) {
        let error = JSONError(condition: condition, line: 3, column: 14)
        #expect(error.description == "line 3, column 14: " + text)
    }
}
