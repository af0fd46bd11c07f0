import ReactorWire
import Testing

@testable import ReactorDaemon

struct ConfigReactorsTests {
    private func specs(_ yaml: String) throws -> [ReactorSpec] {
        try DaemonConfig(yaml: "reactors:\n" + yaml, file: "r.yaml").reactors
    }

    @Test("specs keep names, kinds, options, children, order, and lines and columns")
    func tree() throws {
        let specs = try specs(
            """
              zoo:
                kind: list
                capacity: 5
              team:
                children:
                  lock: { kind: lock }
                  and: { children: { more: { kind: set } } }
            """)
        #expect(specs.map(\.name) == ["zoo", "team"])
        #expect(specs[0].kind == "list")
        #expect(specs[0].options == ["capacity": .integer(5)])
        #expect(specs[0].mark == ConfigLocation(file: "r.yaml", line: 2, column: 3))
        #expect(specs[0].kindMark == ConfigLocation(file: "r.yaml", line: 3, column: 11))
        #expect(specs[0].optionMarks["capacity"]?.line == 4)
        #expect(specs[1].kind == nil)
        #expect(specs[1].children.map(\.name) == ["lock", "and"])
        #expect(specs[1].children[1].children[0].key == "reactors.team.children.and.children.more")
    }

    @Test(
        "a name that cannot be part of a path is refused",
        arguments: [
            ("''", "the name is empty"), (".", "is a step in a path"),
            ("..", "is a step in a path"), ("a/b", "contains /"),
            (#""a\0b""#, "contains a control character"),
            (#""a\eb""#, "contains a control character"),
            (String(repeating: "é", count: 128), "name of 256 bytes, expected at most 255"),
        ])
    func badNames(name: String, reason: String) {
        for yaml in ["\(name): { kind: map }", "ok: { children: { \(name): { kind: map } } }"] {
            let lines = refusals("reactors:\n  " + yaml)
            #expect(lines.count == 1)
            #expect(lines.first?.contains(reason) == true, "\(lines)")
        }
    }

    @Test("a name of 255 bytes, with spaces, or in the form of a number is allowed")
    func goodNames() throws {
        let long = String(repeating: "n", count: 255)
        let specs = try specs(
            "  \(long): { kind: map }\n  a b: { kind: map }\n  1: { kind: map }\n")
        #expect(specs.map(\.name) == [long, "a b", "1"])
    }

    @Test(
        "the error for a reactor without kind and children names the missing keys",
        arguments: [
            ("v: {}", "r.yaml:2:3: reactors.v: expected `kind:` or `children:`, got neither"),
            ("v:", "r.yaml:2:3: reactors.v: expected `kind:` or `children:`, got neither"),
            (
                "v: { knd: map }",
                "r.yaml:2:3: reactors.v: expected `kind:` or `children:`, got neither; "
                    + "did you mean kind by knd?"
            ),
            (
                "v: counter",
                "r.yaml:2:6: reactors.v: expected `kind:` with options, or `children:`, "
                    + "got \"counter\""
            ),
            (
                "v: { kind: }",
                "r.yaml:2:8: reactors.v.kind: expected the name of a kind such as counter, "
                    + "got nothing"
            ),
            (
                "v: { kind: [map] }",
                "r.yaml:2:14: reactors.v.kind: expected the name of a kind such as counter, "
                    + "got a list"
            ),
            (
                "v: { children: [a] }",
                "r.yaml:2:18: reactors.v.children: expected a mapping of names to reactors, "
                    + "got a list"
            ),
            (
                "v: { kind: map, children: { x: { kind: map } } }",
                "r.yaml:2:19: reactors.v: expected `kind:` or `children:`, got both; "
                    + "a kind brings its own children"
            ),
            (
                "v: { childern: {}, children: {} }",
                "r.yaml:2:8: reactors.v: unknown key \"childern\", did you mean children?"
            ),
        ])
    func lacking(yaml: String, message: String) {
        #expect(refusals("reactors:\n  " + yaml) == [message])
    }

    @Test("a name with terminal escapes is shown escaped")
    func escapedName() {
        let lines = refusals("reactors:\n  \"a\\e[2J\": { kind: map }")
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") })
    }
}
