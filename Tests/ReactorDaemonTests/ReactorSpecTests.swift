import Testing

@testable import ReactorDaemon

struct ReactorSpecTests {
    @Test(
        "a component of a path can be a name",
        arguments: ["visits", "a b", "1", "...", ".a", "caf\u{E9}", "%2F", "a.b", "<<"])
    func goodNames(name: String) {
        #expect(ReactorSpec.refusal(ofName: name) == nil)
    }

    @Test(
        "any other text is refused as a name with the reason",
        arguments: [
            ("", "empty"), (".", "step"), ("..", "step"), ("/", "contains /"),
            ("a/b", "contains /"),
            ("a\0", "control character"), ("a\n", "control character"),
            ("\u{7F}", "control character"), (String(repeating: "n", count: 256), "256 bytes"),
        ])
    func badNames(name: String, reason: String) {
        #expect(ReactorSpec.refusal(ofName: name)?.contains(reason) == true)
    }

    @Test("a node created in code has no location in a file")
    func inCode() {
        let spec = ReactorSpec(name: "visits", kind: "counter")
        #expect(spec.mark.description == "code")
        #expect(spec.options.isEmpty && spec.children.isEmpty && spec.optionMarks.isEmpty)
    }
}
