import Testing

@Suite("Source code as lines")
struct SourceTextTests {
    @Test("a literal keeps quotes, backslashes and line ends")
    func literals() {
        #expect(stringLiteral("a \"b\" \\(c)\n") == #""a \"b\" \\(c)\n""#)
        #expect(stringArrayLiteral(["a", "b"]) == #"["a", "b"]"#)
    }

    @Test("a block indents its body and leaves empty lines empty")
    func blocks() {
        #expect(block("if a", ["b", "", "c"]) == ["if a {", "    b", "", "    c", "}"])
    }

    @Test("long conditions are on a line each, and a long comment on its own line")
    func conditions() {
        let long = String(repeating: "x", count: 40)
        #expect(condition(["a", "b"], note: "n") == ["if a, b {  // n"])
        #expect(
            condition([long, long], note: "n") == ["if \(long),  // n", "    \(long)", "{"])
        #expect(commented(long + long, "n") == ["// n", long + long])
    }
}
