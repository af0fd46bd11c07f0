import ReactorWire
import Testing

@testable import ReactorDaemon

struct ReactorCatalogTests {
    private enum Toy: Equatable {
        case counter
        case list(capacity: Int)
        case clock(period: Duration, buffer: Int, ratio: Double, mode: String, on: Bool)
    }

    private var catalog: ReactorCatalog<Toy> {
        var catalog = ReactorCatalog<Toy>()
        catalog.register("counter") { _ in .counter }
        catalog.register("list") { options throws(ConfigProblem) in
            .list(capacity: try options.integer("capacity", default: 1_000, in: 1...1_000_000))
        }
        catalog.register("clock") { options throws(ConfigProblem) in
            .clock(
                period: try options.duration("period", default: .seconds(1)),
                buffer: try options.byteSize("buffer", default: 1, in: 1...1 << 20),
                ratio: try options.number("ratio", default: 0.5, in: 0...1),
                mode: try options.text("mode", default: "fast", oneOf: ["fast", "slow"]),
                on: try options.bool("on", default: true))
        }
        return catalog
    }

    private func make(_ yaml: String) throws -> [MadeReactor<Toy>] {
        let config = try DaemonConfig(yaml: "reactors:\n" + yaml, file: "r.yaml")
        return try catalog.make(config.reactors)
    }

    private func refusals(_ yaml: String) -> [String] {
        let error = #expect(throws: ConfigError.self) { try make(yaml) }
        return error.map { $0.problems.map(\.description) } ?? []
    }

    @Test("the tree is created with its options, defaults, groups and order")
    func makes() throws {
        let made = try make(
            """
              z: { kind: counter }
              team:
                children:
                  a: { kind: list }
                  b: { kind: list, capacity: 3 }
                  c: { children: { c: { kind: counter } } }
                  d: { kind: clock, period: 5ms, buffer: 4KiB, ratio: 1, mode: slow, on: false }
                  e: { kind: clock, period: 0, buffer: 7 }
            """)
        #expect(made.map(\.name) == ["z", "team"])
        #expect(made[0].reactor == .counter)
        #expect(made[1].reactor == nil)
        let team = made[1].children
        #expect(team[0].reactor == .list(capacity: 1_000))
        #expect(team[1].reactor == .list(capacity: 3))
        #expect(team[2].reactor == nil)
        #expect(team[2].children[0].reactor == .counter)
        #expect(
            team[3].reactor
                == .clock(
                    period: .milliseconds(5), buffer: 4_096, ratio: 1, mode: "slow", on: false))
        #expect(
            team[4].reactor
                == .clock(period: .zero, buffer: 7, ratio: 0.5, mode: "fast", on: true))
    }

    @Test(
        "a value that a kind refuses is reported with its location in the file",
        arguments: [
            (
                "kind: conter",
                "r.yaml:2:14: reactors.v.kind: unknown kind \"conter\", did you mean counter?"
            ),
            (
                "kind: widget",
                "r.yaml:2:14: reactors.v.kind: unknown kind \"widget\", "
                    + "expected one of clock, counter, list"
            ),
            (
                "kind: list, capcity: 3",
                "r.yaml:2:20: reactors.v: unknown option of kind list \"capcity\", "
                    + "did you mean capacity?"
            ),
            (
                "kind: counter, step: 3",
                "r.yaml:2:23: reactors.v: unknown option of kind counter \"step\", "
                    + "none is known here"
            ),
            (
                "kind: list, capacity: 0",
                "r.yaml:2:20: reactors.v.capacity: expected 1 to 1000000, got 0"
            ),
            (
                "kind: list, capacity: many",
                "r.yaml:2:20: reactors.v.capacity: expected an integer, got text \"many\""
            ),
            (
                "kind: list, capacity:",
                "r.yaml:2:20: reactors.v.capacity: expected an integer, got nothing"
            ),
            (
                "kind: clock, mode: slwo",
                "r.yaml:2:21: reactors.v.mode: unknown value \"slwo\", did you mean slow?"
            ),
            (
                "kind: clock, on: yes",
                "r.yaml:2:21: reactors.v.on: expected true or false, got text \"yes\""
            ),
            (
                "kind: clock, ratio: 2",
                "r.yaml:2:21: reactors.v.ratio: expected 0.0 to 1.0, got 2"
            ),
            (
                "kind: clock, ratio: .nan",
                "r.yaml:2:21: reactors.v.ratio: expected 0.0 to 1.0, got nan"
            ),
            (
                "kind: clock, period: 5",
                "r.yaml:2:21: reactors.v.period: expected a duration such as 5s, 30ms, 50us "
                    + "or 2m, got 5"
            ),
            (
                "kind: clock, buffer: 2MiB",
                "r.yaml:2:21: reactors.v.buffer: expected 1 to 1MiB, got text \"2MiB\""
            ),
            (
                "kind: clock, buffer: [1]",
                "r.yaml:2:21: reactors.v.buffer: expected a byte size such as 1MiB, 64KiB, "
                    + "500kB or a number of bytes, got a list"
            ),
        ])
    func refuses(yaml: String, message: String) {
        #expect(refusals("  v: { \(yaml) }\n") == [message])
    }

    @Test("every mistake in the tree is reported together")
    func allAtOnce() {
        let lines = refusals(
            """
              a: { kind: lst }
              b: { kind: list, capacity: x }
              c: { kind: list, x: 1, y: 2 }
            """)
        #expect(lines.count == 4)
        #expect(lines.map { $0.prefix(8) } == ["r.yaml:2", "r.yaml:3", "r.yaml:4", "r.yaml:4"])
    }
}
