import Logging
import ReactorServer
import Testing

@testable import ReactorDaemon

struct DaemonConfigTests {
    @Test("a tree alone is a configuration, everything else has its default")
    func minimal() throws {
        let config = try DaemonConfig(yaml: oneReactor, file: "r.yaml")
        #expect(config.socket == nil)
        #expect(config.logLevel == .info)
        #expect(config.spin == .microseconds(50))
        #expect(config.limits == ServerLimits())
        #expect(config.reactors.map(\.name) == ["visits"])
    }

    @Test("every section is read")
    func full() throws {
        let config = try DaemonConfig(
            yaml: """
                socket: /run/x.sock
                log: { level: trace }
                loop: { spin: 70us }
                limits: { inFlightMax: 7 }
                \(oneReactor)
                """, file: "r.yaml")
        #expect(config.socket == "/run/x.sock")
        #expect(config.logLevel == .trace)
        #expect(config.spin == .microseconds(70))
        #expect(config.limits.inFlightMax == 7)
    }

    @Test(
        "a wrong value is told with file, line, column, key, what was expected and what is there",
        arguments: [
            (
                "socket: run/x.sock\n",
                "r.yaml:1:9: socket: socket path \"run/x.sock\" is relative, "
                    + "expected an absolute path"
            ),
            (
                "socket:\n",
                "r.yaml:1:1: socket: expected an absolute path, or no `socket:` to let the "
                    + "environment choose, got nothing"
            ),
            (
                "log: { level: loud }\n",
                "r.yaml:1:15: log.level: expected one of trace, debug, info, notice, warning, "
                    + "error, critical, got \"loud\""
            ),
            ("log: info\n", "r.yaml:1:6: log: expected `level:`, got \"info\""),
            (
                "loop:\n  spin: 50\n",
                "r.yaml:2:9: loop.spin: expected a duration such as 5s, 30ms, 50us or 2m, "
                    + "got \"50\""
            ),
            ("loop: { spin: 1s }\n", "r.yaml:1:15: loop.spin: expected 0 to 10ms, got \"1s\""),
            (
                "limits: [1]\n",
                "r.yaml:1:9: limits: expected limits such as `inFlightMax:`, got a list"
            ),
        ])
    func wrongValue(yaml: String, message: String) {
        #expect(refusals(yaml + oneReactor) == [message])
    }

    @Test("all mistakes are told at once, in the order of the file")
    func allAtOnce() {
        let lines = refusals(
            """
            limits: { inFlightMax: x, ringBytesMax: 1mb }
            log: { level: 3 }
            reactors: { a/b: { kind: counter }, c: {} }
            """)
        #expect(lines.map { $0.dropFirst(7).prefix(1) } == ["1", "1", "2", "3", "3"])
    }

    @Test(
        "a daemon without a reactor is refused",
        arguments: ["log: {}", "reactors:", "reactors: {}"])
    func noReactor(yaml: String) {
        let lines = refusals(yaml)
        #expect(lines.count == 1)
        #expect(lines.first?.contains("reactors: expected at least one reactor") == true)
    }

    @Test("a daemon whose reactors stand in its code refuses others, and needs none")
    func reactorsInCode() throws {
        let error = #expect(throws: ConfigError.self) {
            try DaemonConfig(yaml: "log: {}\n" + oneReactor, file: "r.yaml", reactors: .inCode)
        }
        #expect(
            error?.description
                == "r.yaml:2:1: reactors: the reactors of this daemon stand in its code: "
                + "take the section out")
        let config = try DaemonConfig(yaml: "log: {}", file: "r.yaml", reactors: .inCode)
        #expect(config.reactors.isEmpty)
        #expect(config.summary.contains("(in the daemon's code)"))
        #expect(DaemonConfig().limits == config.limits)
    }

    @Test("a value from the file cannot write to the terminal")
    func escapes() {
        let lines = refusals("log: { level: \"\\e[2J\" }\n" + oneReactor)
        #expect(lines.first?.contains(#"got "\u{1B}[2J""#) == true)
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") })
    }

    @Test("the summary names the socket, what was set, and every path with its kind and options")
    func summary() throws {
        let config = try DaemonConfig(
            yaml: """
                loop: { spin: 50us }
                limits: { inFlightMax: 7 }
                reactors:
                  chat: { kind: list, capacity: 5 }
                  team: { children: { lock: { kind: lock } } }
                """, file: "r.yaml")
        let lines = config.summary.split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ")
        }
        for line in [
            "config r.yaml", "socket chosen by the environment", "log info", "loop spins 50us",
            "inFlightMax 7 (set)", "frameBytesMax 1MiB", "/chat list, capacity: 5",
            "/team (group)", "/team/lock lock",
        ] {
            #expect(lines.contains(line), "missing: \(line)")
        }
    }
}
