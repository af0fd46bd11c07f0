import Testing

@testable import ReactorDaemon

struct ReactorSpecTests {
    @Test(
        "what can be a component of a path can be a name",
        arguments: ["visits", "a b", "1", "...", ".a", "caf\u{E9}", "%2F", "a.b", "<<"])
    func goodNames(name: String) {
        #expect(ReactorSpec.refusal(ofName: name) == nil)
    }

    @Test(
        "what cannot is refused with the reason",
        arguments: [
            ("", "empty"), (".", "step"), ("..", "step"), ("/", "holds /"), ("a/b", "holds /"),
            ("a\0", "control character"), ("a\n", "control character"),
            ("\u{7F}", "control character"), (String(repeating: "n", count: 256), "256 bytes"),
        ])
    func badNames(name: String, reason: String) {
        #expect(ReactorSpec.refusal(ofName: name)?.contains(reason) == true)
    }

    @Test("a node made in code has no place in a file")
    func inCode() {
        let spec = ReactorSpec(name: "visits", kind: "counter")
        #expect(spec.mark.description == "code")
        #expect(spec.options.isEmpty && spec.children.isEmpty && spec.optionMarks.isEmpty)
    }
}
