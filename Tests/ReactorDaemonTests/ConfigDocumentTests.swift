import Testing

@testable import ReactorDaemon

struct ConfigDocumentTests {
    @Test(
        "a file without content is refused as empty",
        arguments: ["", "\n\n", "# only a comment\n", "---\n"])
    func empty(yaml: String) {
        let lines = refusals(yaml)
        #expect(lines.count == 1)
        #expect(lines.first?.contains("expected at least") == true, "\(lines)")
    }

    @Test("aliases that would expand to a billion values are refused immediately")
    func billionLaughs() {
        let names = "abcdefghij"
        var yaml = "x:\n  - &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
        for (inner, outer) in zip(names, names.dropFirst()) {
            let uses = Array(repeating: "*\(inner)", count: 9).joined(separator: ", ")
            yaml += "  - &\(outer) [\(uses)]\n"
        }
        #expect(refusals(yaml + "  - *j\n").first?.contains("with aliases resolved") == true)
        for key in ["? *j\n  : 1", "*j : 1", "? [*j]\n  : 1"] {
            let lines = refusals(yaml + "y:\n  \(key)\n")
            #expect(lines.count == 1)
            #expect(
                lines.first?.contains("an alias cannot be a key") == true
                    || lines.first?.contains("got a mapping or list") == true, "\(lines)")
        }
    }

    @Test("a long chain of nested aliases is refused, and its tree is freed without a crash")
    func longChain() {
        let deep = ConfigDocument.depthMax - 3
        for links in [ConfigDocument.aliasesMax, ConfigDocument.aliasesMax + 1] {
            var yaml = "x:\n  - &a0 1\n"
            for link in 1...links {
                let open = String(repeating: "[", count: deep)
                let close = String(repeating: "]", count: deep)
                yaml += "  - &a\(link) \(open)*a\(link - 1)\(close)\n"
            }
            let lines = refusals(yaml)
            #expect(lines.count == 1)
            let isOver = links > ConfigDocument.aliasesMax
            let reason = isOver ? "more than 256 aliases" : "nested deeper"
            #expect(lines.first?.contains(reason) == true, "\(lines)")
        }
    }

    @Test(
        "nesting beyond the limit is refused, by the parser or by the composer's count",
        arguments: [65, 5_000])
    func nesting(depth: Int) {
        let open = String(repeating: "[", count: depth)
        let close = String(repeating: "]", count: depth)
        let lines = refusals("x: \(open)\(close)")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("r.yaml:1:") == true, "\(lines)")
    }

    @Test("an alias for a whole value is allowed, and an asterisk in text is not an alias")
    func plainAlias() throws {
        let config = try DaemonConfig(
            yaml: """
                reactors:
                  a: &list { kind: list, note: "*not & alias*" }
                  b: *list
                """, file: "r.yaml")
        #expect(config.reactors[1].options == config.reactors[0].options)
        #expect(config.reactors[1].name == "b")
    }
}
