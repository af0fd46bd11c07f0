import ReactorDaemon
import Testing

/// Drives ``ConfigMetrics``.
@Suite("MetricsConfig")
struct ConfigMetricsTests {
    @Test("every key is read, and the section may be empty")
    func keys() throws {
        let text = "metrics: { socket: /run/m.sock, textfile: /var/m.prom, every: 5s }\n"
        let metrics = try DaemonConfig(yaml: text + oneReactor, file: "r.yaml").metrics
        #expect(metrics.socket == "/run/m.sock" && metrics.textfile == "/var/m.prom")
        #expect(metrics.every == .seconds(5))
        #expect(
            try DaemonConfig(yaml: "metrics:\n" + oneReactor, file: "r.yaml").metrics
                == MetricsConfig())
    }

    @Test("the summary shows where the metrics are")
    func summary() throws {
        let text = "metrics: { textfile: /var/m.prom }\nsocket: /run/s\n" + oneReactor
        let config = try DaemonConfig(yaml: text, file: "r.yaml")
        let lines = try config.summary(environment: [:], uid: 1).split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix(" /var/m.prom, every 15s") })
    }

    @Test(
        "an invalid value is refused, with the expected value or the nearest name",
        arguments: [
            ("{ socket: m }", "metrics.socket: "), ("{ textfile: m.prom }", "the absolute path of"),
            ("{ textfile: /var/ }", "the absolute path of"), ("{ every: 10ms }", "1s to 1h"),
            ("{ texfile: /a }", "did you mean textfile?"), ("/run/m.sock", "keys such as"),
        ])
    func refused(section: String, hint: String) {
        let lines = refusals("metrics: \(section)\n" + oneReactor)
        #expect(lines.count == 1 && lines[0].contains(hint))
    }
}
