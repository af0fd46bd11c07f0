import ReactorServer
import ReactorWire
import Testing

@testable import ReactorDaemon

struct ConfigLimitsTests {
    private func limits(_ yaml: String) throws -> ServerLimits {
        try DaemonConfig(yaml: "limits: { \(yaml) }\n" + oneReactor, file: "r.yaml").limits
    }

    @Test("every limit can be set by its name, in its unit, and only it changes")
    func everyLimit() throws {
        let defaults = ServerLimits()
        for entry in LimitTable.entries {
            let text: String
            switch entry.slot {
            case .count(_, let range): text = "\(range.lowerBound)"
            case .bytes(_, let range), .ceiling(_, let range), .share(_, let range):
                text = ByteSizeText.format(range.lowerBound)
            case .duration(_, let range): text = DurationText.format(range.lowerBound)
            }
            let limits = try limits("\(entry.name): \(text)")
            #expect(LimitTable.text(of: entry, in: limits) == text)
            let outer = LimitTable.nested.filter { $0.outer == entry.name }.map(\.inner)
            for other in LimitTable.entries
            where other.name != entry.name && !outer.contains(other.name) {
                #expect(
                    LimitTable.text(of: other, in: limits)
                        == LimitTable.text(of: other, in: defaults))
            }
        }
    }

    @Test("every default lies within its range")
    func defaultsAreValid() throws {
        let defaults = ServerLimits()
        let yaml = LimitTable.entries.map { "\($0.name): \(LimitTable.text(of: $0, in: defaults))" }
        #expect(try limits(yaml.joined(separator: ", ")) == defaults)
    }

    @Test(
        "a limit out of its range or in the wrong unit is reported with the expected value",
        arguments: [
            ("inFlightMax: 0", "limits.inFlightMax: expected 1 to 1000000, got \"0\""),
            ("inFlightMax: 1k", "limits.inFlightMax: expected a whole number, got \"1k\""),
            ("inFlightMax: [1]", "limits.inFlightMax: expected a whole number, got a list"),
            ("frameBytesMax: 1KiB", "limits.frameBytesMax: expected 4KiB to 64MiB, got \"1KiB\""),
            (
                "frameBytesMax: 1MX",
                "limits.frameBytesMax: expected a byte size such as 1MiB, 64KiB, 500kB "
                    + "or a number of bytes, got \"1MX\""
            ),
            (
                "handshakeDeadline: 5",
                "limits.handshakeDeadline: expected a duration such as 5s, 30ms, 50us or 2m, "
                    + "got \"5\""
            ),
            (
                "handshakeDeadline: 2h",
                "limits.handshakeDeadline: expected 10ms to 1h, got \"2h\""
            ),
            (
                "stateBytesMax: 0%",
                "limits.stateBytesMax: expected 1% to 100%, or a byte size, got \"0%\""
            ),
            (
                "inFlightMx: 1",
                "limits: unknown key \"inFlightMx\", did you mean inFlightMax?"
            ),
        ])
    func wrong(yaml: String, message: String) {
        let lines = refusals("limits: { \(yaml) }\n" + oneReactor)
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix(message) == true, "\(lines)")
    }

    @Test("S35: a default that would exceed its enclosing limit is lowered to it")
    func defaultsShrink() throws {
        let limits = try limits("connectionsMax: 10")
        #expect(limits.connectionsPerUIDMax == 10)
        #expect(limits.handshakesMax == 10)
    }

    @Test("S35: a written limit that exceeds its enclosing limit is a problem")
    func writtenExceeds() {
        let lines = refusals(
            "limits: { connectionsMax: 10, connectionsPerUIDMax: 11 }\n" + oneReactor)
        #expect(
            lines == [
                "r.yaml:1:31: limits.connectionsPerUIDMax: "
                    + "expected at most connectionsMax, which is 10, got 11"
            ])
    }
}
