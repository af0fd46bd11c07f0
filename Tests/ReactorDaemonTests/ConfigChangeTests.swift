import ReactorServer
import Testing

@testable import ReactorDaemon

@Suite("ConfigChange")
struct ConfigChangeTests {
    private func config(_ text: String) throws -> DaemonConfig {
        try DaemonConfig(yaml: text + oneReactor, file: "r.yaml")
    }

    @Test("equal configurations have no difference, wherever their keys are in the file")
    func equal() throws {
        let former = try config("log: { level: debug }\nlimits: { inFlightMax: 8 }\n")
        let moved = try config("\n\n\nlimits:\n  inFlightMax: 8\nlog:\n  level: debug\n")
        let change = ConfigChange(of: former, to: moved)
        #expect(change.applied == [] && change.needsRestart == [])
        #expect(change.config == former)
    }

    @Test("a key that applies gets its new value, a key that needs a restart keeps the former")
    func kinds() throws {
        let former = try config(
            """
            socket: /run/a
            data: { directory: /var/a, durability: strict, keepBytes: 1MiB }
            loop: { spin: 10us, watchdog: 5s }
            metrics: { socket: /run/m, textfile: /var/m.prom }

            """)
        let wanted = try config(
            """
            socket: /run/b
            data:
              directory: /var/b
              durability: relaxed
              snapshotBytes: 2MiB
              snapshotInterval: 2m
              keepBytes: 2MiB
              bytesMax: 1GiB
              keepDuration: 2h
              reserveBytes: 0
              dropped: /old
            log: { level: warning, format: json }
            loop: { spin: 20us, watchdog: 6s }
            process: { coreDumps: true }
            metrics: { socket: /run/n, textfile: /var/n.prom, every: 9s }
            slowLog: { actions: 1ms, turns: 1ms, commits: 1ms, questions: 1ms, entriesMax: 9 }
            limits: { inFlightMax: 8, handshakeDeadline: 9s, queueBytesMax: 2MiB }

            """)
        let change = ConfigChange(of: former, to: wanted)
        #expect(
            change.needsRestart == [
                "socket.path", "data.directory", "data.durability", "data.reserveBytes",
                "data.dropped", "metrics.socket", "loop.watchdog", "process.coreDumps",
            ])
        #expect(
            Set(change.applied) == [
                "data.snapshotBytes", "data.snapshotInterval", "data.keepDuration",
                "data.keepBytes", "data.bytesMax", "log.level", "log.format", "metrics.textfile",
                "metrics.every",
                "slowLog.actions", "slowLog.turns", "slowLog.commits", "slowLog.questions",
                "slowLog.entriesMax", "loop.spin", "limits.inFlightMax",
                "limits.handshakeDeadline", "limits.queueBytesMax",
            ])
        #expect(change.config.socket == "/run/a" && change.config.watchdog == .seconds(5))
        #expect(change.config.data?.directory == "/var/a")
        #expect(change.config.data?.keepBytes == 2 << 20)
        #expect(change.config.limits == wanted.limits && change.config.slowLog == wanted.slowLog)
        // What needs a restart is still reported by the next comparison, and nothing else is.
        let next = ConfigChange(of: change.config, to: wanted)
        #expect(next.applied == [] && next.needsRestart == change.needsRestart)
    }

    @Test("every limit is compared")
    func limits() throws {
        let former = try config("")
        for entry in LimitTable.entries {
            var wanted = former
            switch entry.slot {
            case .count(let path, _), .bytes(let path, _), .ceiling(let path, _):
                wanted.limits[keyPath: path] += 1
            case .share(let path, _): wanted.limits[keyPath: path] = .bytes(5 << 20)
            case .duration(let path, _): wanted.limits[keyPath: path] += 1
            }
            let change = ConfigChange(of: former, to: wanted)
            #expect(change.applied == ["limits.\(entry.name)"])
            #expect(change.config == wanted)
        }
    }

    @Test("a smaller frame needs a restart, since clients were promised the larger one")
    func frames() throws {
        let former = try config("limits: { frameBytesMax: 2MiB }\n")
        let change = ConfigChange(of: former, to: try config(""))
        #expect(change.needsRestart == ["limits.frameBytesMax"] && change.applied == [])
        #expect(change.config.limits.frameBytesMax == 2 << 20)
    }

    @Test("added, removed and changed reactors need a restart, named at the top of the tree")
    func reactors() throws {
        let former = try DaemonConfig(
            yaml: """
                reactors:
                  same: { kind: counter }
                  other: { kind: counter }
                  gone: { kind: map }
                  team: { children: { lock: { kind: lock }, chat: { kind: list, capacity: 5 } } }
                """, file: "r.yaml")
        let wanted = try DaemonConfig(
            yaml: """
                reactors:
                  new: { kind: map }
                  same: { kind: counter }
                  other: { kind: map }
                  team: { children: { lock: { kind: lock }, chat: { kind: list, capacity: 6 } } }
                """, file: "r.yaml")
        let change = ConfigChange(of: former, to: wanted)
        #expect(
            change.needsRestart == [
                "reactors.other", "reactors.gone", "reactors.team", "reactors.new",
            ])
        #expect(change.config == former)
    }

    @Test("a data section that comes or goes needs a restart")
    func data() throws {
        let (with, without) = (try config("data: { directory: /var/a }\n"), try config(""))
        for (former, wanted) in [(with, without), (without, with)] {
            let change = ConfigChange(of: former, to: wanted)
            #expect(change.needsRestart == ["data"] && change.config == former)
        }
    }
}
