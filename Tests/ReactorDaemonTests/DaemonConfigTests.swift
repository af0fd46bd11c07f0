import Logging
import ReactorServer
import Testing

@testable import ReactorDaemon

struct DaemonConfigTests {
    @Test("a tree alone is a configuration with defaults for the rest")
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
        "a wrong value is reported with file, line, column, key, expected and actual value",
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
            (
                "process: { coreDumps: yes }\n",
                "r.yaml:1:23: process.coreDumps: expected true or false, got \"yes\""
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

    @Test("all mistakes are reported together, in the order of the file")
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

    @Test(
        "a daemon with reactors in its code needs none in the file, and refuses a section of them")
    func reactorsInCode() throws {
        let error = #expect(throws: ConfigError.self) {
            try DaemonConfig(yaml: "log: {}\n" + oneReactor, file: "r.yaml", reactors: .inCode)
        }
        #expect(
            error?.description
                == "r.yaml:2:1: reactors: the reactors of this daemon are defined in its code: "
                + "remove the section")
        let config = try DaemonConfig(yaml: "log: {}", file: "r.yaml", reactors: .inCode)
        #expect(config.reactors.isEmpty)
        let summary = try config.summary(environment: [:], uid: 1)
        #expect(summary.contains("(in the daemon's code)"))
        #expect(DaemonConfig().limits == config.limits)
    }

    @Test("a value from the file cannot control the terminal")
    func escapes() {
        let lines = refusals("log: { level: \"\\e[2J\" }\n" + oneReactor)
        #expect(lines.first?.contains(#"got "\u{1B}[2J""#) == true)
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") })
    }

    /// The lines of the summary, with single spaces.
    private func summaryLines(
        of config: DaemonConfig, _ environment: [String: String]
    ) throws -> [String] {
        try config.summary(environment: environment, uid: 1).split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ")
        }
    }

    @Test("the summary shows the worst case of the limits, and what it leaves for states")
    func worstCase() throws {
        func lines(_ limits: String) throws -> [String] {
            let yaml = "limits: { \(limits) }\nreactors:\n  visits: { kind: counter }\n"
            return try summaryLines(
                of: try DaemonConfig(yaml: yaml, file: "r.yaml"), ["TMPDIR": "/tmp"])
        }
        let small = try lines("memoryMax: 512MiB")
        #expect(small.contains("one user 256MiB") && small.contains("states 256MiB"))
        #expect(
            small.contains {
                $0.hasPrefix("worst case with states ") && $0.hasSuffix("more than the ceiling")
            })
        #expect(small.contains { $0.hasPrefix("sure to be left for states none: at the ceiling") })
        let large = try lines("memoryMax: 1024GiB")
        #expect(large.contains("one user 512MiB") && large.contains("shared by all 912MiB"))
        let one = ServerLimits().connectionBytesMax
        let worst = 1_024 * one + 912 << 20
        #expect(large.contains("worst case without states \(ByteSizeText.format(worst))"))
        let rest = ByteSizeText.format(1 << 40 - worst)
        #expect(large.contains("sure to be left for states \(rest)"))
        let all = ByteSizeText.format(worst + 1 << 39)
        #expect(large.contains("worst case with states \(all)"))
        #expect(try lines("memoryMax: 1GiB, stateBytesMax: 3MiB").contains("states 3MiB"))
        #expect(!large.contains { $0.hasPrefix("kept free") || $0.hasPrefix("one state of") })
    }

    @Test("X117: the summary shows what a start and a state of the past need beside the states")
    func besideStates() throws {
        let yaml = """
            limits: { memoryMax: 1GiB, stateBytesMax: 300MiB }
            data: { directory: /tmp/d }

            """
        let config = try DaemonConfig(yaml: yaml + oneReactor, file: "r.yaml")
        let lines = try summaryLines(of: config, ["TMPDIR": "/tmp"])
        #expect(lines.contains("kept free for a start the largest state, up to 300MiB"))
        #expect(
            lines.contains("one state of the past up to 600MiB, or BUSY where that does not fit"))
    }

    @Test("the summary names the variable behind each path that the file does not name")
    func summaryOrigins() throws {
        let config = try DaemonConfig(
            yaml: "data: {}\nreactors:\n  visits: { kind: counter }\n", file: "r.yaml")
        let lines = try summaryLines(of: config, ["HOME": "/h"])
        #expect(lines.contains("directory /h/.local/state/reactord ($HOME)"))
        #expect(lines.contains { $0.hasPrefix("socket /tmp/reactord-1/reactord.sock (") })
        #expect(throws: DaemonError.self) { try config.summary(environment: [:], uid: 1) }
        #expect(throws: DaemonError.self) {
            try config.summary(environment: ["REACTORD_SOCKET": "relative"], uid: 1)
        }
    }

    @Test("a daemon of another name has other default paths, and needs its name only for them")
    func otherName() throws {
        var config = DaemonConfig()
        config.data = DataConfig()
        config.name = "tracker-daemon"
        let lines = try summaryLines(of: config, ["HOME": "/h"])
        #expect(lines.contains("directory /h/.local/state/tracker-daemon ($HOME)"))
        #expect(
            lines.contains { $0.hasPrefix("socket /tmp/tracker-daemon-1/tracker-daemon.sock (") })
        config.name = "no/name"
        #expect(throws: DaemonError.self) {
            try config.summary(environment: ["HOME": "/h"], uid: 1)
        }
        let named = ["REACTORD_SOCKET": "/run/me.sock", "STATE_DIRECTORY": "/s"]
        #expect(try summaryLines(of: config, named).contains("directory /s ($STATE_DIRECTORY)"))
        config.socket = "/run/me.sock"
        config.data?.directory = "/d"
        #expect(try summaryLines(of: config, [:]).contains("socket /run/me.sock"))
    }

    @Test("the summary lists the socket, the settings, and every path with its kind and options")
    func summary() throws {
        let config = try DaemonConfig(
            yaml: """
                loop: { spin: 50us }
                limits: { inFlightMax: 7 }
                reactors:
                  chat: { kind: list, capacity: 5 }
                  team: { children: { lock: { kind: lock } } }
                """, file: "r.yaml")
        let lines = try summaryLines(of: config, ["REACTORD_SOCKET": "/run/me.sock"])
        for line in [
            "config r.yaml", "socket /run/me.sock ($REACTORD_SOCKET)",
            "log info, as text",
            "loop spins 50us", "process dumps no core",
            "inFlightMax 7 (set)", "frameBytesMax 1MiB", "/chat list, capacity: 5",
            "/team (group)", "/team/lock lock",
        ] {
            #expect(lines.contains(line), "missing: \(line)")
        }
    }
}
