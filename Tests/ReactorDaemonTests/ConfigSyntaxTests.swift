import Testing

@testable import ReactorDaemon

struct ConfigSyntaxTests {
    @Test(
        "broken YAML is reported with line and column",
        arguments: [
            ("log:\n\tlevel: info\n", "r.yaml:2:1: a tab cannot indent YAML, use spaces"),
            ("reactors: { a: [ }\n", "r.yaml:1:18: not YAML: "),
            ("a: b: c\n", "r.yaml:1:5: not YAML: mapping values are not allowed"),
            ("log: *x\n", "r.yaml:1:6: not YAML: found undefined alias"),
            ("a: 'x\n", "not YAML: found unexpected end of stream"),
            ("a: 1\n---\nb: 2\n", "not YAML: but found another document"),
            ("a: \"\u{1}\"\n", "r.yaml:1:5: control characters are not allowed, got U+1"),
        ])
    func syntax(yaml: String, message: String) {
        let lines = refusals(yaml)
        #expect(lines.count == 1)
        #expect(lines.first?.contains(message) == true, "\(lines)")
        #expect(lines.allSatisfy { !$0.contains("\n") })
    }

    @Test(
        "a duplicate key is refused at every depth",
        arguments: [
            "log: {}\nlog: {}\n", "limits:\n  inFlightMax: 1\n  inFlightMax: 2\n",
            "reactors:\n  v: { kind: a, kind: b }\n", "reactors:\n  1: {}\n  '1': {}\n",
            "reactors:\n  v: { kind: k, o: { x: 1, x: 1 } }\n",
            "reactors:\n  caf\u{E9}: {}\n  cafe\u{301}: {}\n",
        ])
    func duplicates(yaml: String) {
        let lines = refusals(yaml)
        #expect(lines.count == 1)
        #expect(lines.first?.contains("is repeated in one mapping") == true, "\(lines)")
        #expect(lines.first?.hasPrefix("r.yaml:") == true)
    }
}
