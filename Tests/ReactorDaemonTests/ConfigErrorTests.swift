import Testing

@testable import ReactorDaemon

struct ConfigErrorTests {
    private func problem(_ reason: String, line: Int, column: Int = 1) -> ConfigProblem {
        ConfigProblem(reason, at: ConfigLocation(file: "r.yaml", line: line, column: column))
    }

    @Test("problems are listed in the order of the file, one line each")
    func order() {
        let error = ConfigError([
            problem("d", line: 9), problem("b", line: 2, column: 5), problem("a", line: 2),
            problem("c", line: 2, column: 5),
        ])
        #expect(
            error.description == "r.yaml:2:1: a\nr.yaml:2:5: b\nr.yaml:2:5: c\nr.yaml:9:1: d")
    }

    @Test("an unknown name is reported with the nearest known one, else with all, else without")
    func unknown() {
        let place = ConfigLocation(file: "r.yaml")
        func reason(_ name: String, _ known: [String]) -> String {
            ConfigProblem.unknown("kind", name, known: known, key: "", at: place).reason
        }
        #expect(reason("lsit", ["list", "map"]) == "unknown kind \"lsit\", did you mean list?")
        #expect(reason("x", ["list", "map"]) == "unknown kind \"x\", expected one of list, map")
        #expect(reason("x", []) == "unknown kind \"x\", none is known here")
    }

    @Test("text from the file is cut at 64 characters and cannot control the terminal")
    func quoted() {
        let long = String(repeating: "x", count: 64)
        #expect(ConfigProblem.quoted(long) == "\"\(long)\"")
        #expect(ConfigProblem.quoted(long + "y") == "\"\(long)…\"")
        #expect(ConfigProblem.quoted("a\nb\u{1B}") == #""a\nb\u{1B}""#)
        let key = ConfigProblem("r", key: "a\u{1B}", at: ConfigLocation(file: "f"))
        #expect(key.description == #"f: a\u{1B}: r"#)
    }
}
