import CoreMetrics
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Drives ``ProgramMetrics``, ``MetricSeries`` and ``MetricName``.
@Suite("Metrics of a program's own code", .timeLimit(.minutes(10)))
struct ProgramMetricsTests {
    private let metrics = ProgramMetrics()

    /// The lines without comments, and without the count of dropped metrics.
    private var lines: [String] {
        var text = MetricsText()
        metrics.describe(in: &text)
        return text.text.split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("#") && !$0.hasPrefix("reactord_")
        }
    }

    @Test("counters, gauges, recorders and timers are families of their kinds")
    func kinds() {
        let counter = metrics.makeCounter(label: "orders.placed", dimensions: [("shop", "north")])
        counter.increment(by: 2)
        counter.increment(by: -5)
        let share = metrics.makeFloatingPointCounter(label: "share", dimensions: [])
        share.increment(by: 0.5)
        share.increment(by: .nan)
        let meter = metrics.makeMeter(label: "level", dimensions: [])
        meter.set(7 as Int64)
        meter.decrement(by: 2)
        let gauge = metrics.makeRecorder(label: "height", dimensions: [], aggregate: false)
        gauge.record(3 as Int64)
        gauge.record(4 as Int64)
        let sizes = metrics.makeRecorder(label: "sizes", dimensions: [], aggregate: true)
        sizes.record(3 as Int64)
        sizes.record(4.5)
        let timer = metrics.makeTimer(label: "sent", dimensions: [("to", "a\"b")])
        timer.recordNanoseconds(2_000_000_000)
        timer.recordNanoseconds(-1)
        #expect(
            lines.filter { !$0.contains("_bucket") } == [
                "height 4.0", "level 5.0", "orders_placed_total{shop=\"north\"} 2.0",
                "sent_seconds_sum{to=\"a\\\"b\"} 2.0", "sent_seconds_count{to=\"a\\\"b\"} 2",
                "share_total 0.5", "sizes_sum 7.5", "sizes_count 2",
            ])
        let buckets = lines.filter { $0.hasPrefix("sent_seconds_bucket{to=") }
        #expect(buckets.count == Histogram.bounds.count + 1)
        #expect(buckets.last == "sent_seconds_bucket{to=\"a\\\"b\",le=\"+Inf\"} 2")
        #expect(metrics.droppedCount == 0)
    }

    @Test("equal names and labels share a series, which stays until its last metric is destroyed")
    func shared() {
        let one = metrics.makeCounter(label: "a", dimensions: [("x", "1"), ("y", "2")])
        let other = metrics.makeCounter(label: "a_total", dimensions: [("y", "2"), ("x", "1")])
        one.increment(by: 1)
        other.increment(by: 1)
        #expect(lines == ["a_total{x=\"1\",y=\"2\"} 2.0"])
        metrics.destroyCounter(one)
        #expect(lines.count == 1)
        metrics.destroyCounter(other)
        #expect(lines.isEmpty)
        metrics.destroyCounter(other)
        metrics.makeMeter(label: "a_total", dimensions: []).set(1.0)
        #expect(lines == ["a_total 1.0"])
    }

    @Test("the number of families, of series and of labels is bounded, and the rest is counted")
    func bounds() {
        for number in 0..<ProgramMetrics.seriesPerFamilyMax + 9 {
            metrics.makeCounter(label: "user", dimensions: [("id", "\(number)")]).increment(by: 1)
        }
        #expect(lines.count == ProgramMetrics.seriesPerFamilyMax && metrics.droppedCount == 9)
        for number in 0..<ProgramMetrics.familiesMax {
            metrics.makeCounter(label: "f\(number)", dimensions: []).increment(by: 1)
        }
        #expect(metrics.droppedCount == 10)
        let before = lines.count
        for family in 0..<16 {
            for number in 0..<ProgramMetrics.seriesPerFamilyMax {
                _ = metrics.makeCounter(label: "f\(family)", dimensions: [("n", "\(number)")])
            }
        }
        #expect(before < ProgramMetrics.seriesMax && lines.count == ProgramMetrics.seriesMax)
    }

    @Test(
        "a metric that Prometheus could not read records nothing, and is counted",
        arguments: [
            ("", []), ("reactord_turns", []), (String(repeating: "n", count: 129), []),
            ("a", [("le", "1")]), ("a", [("__x", "1")]), ("a", [("x", "1"), ("x", "2")]),
            ("a", [("x", String(repeating: "v", count: 129))]), ("a", [("", "1")]),
            ("a", (0..<9).map { ("l\($0)", "") }),
        ] as [(String, [(String, String)])])
    func unusable(label: String, dimensions: [(String, String)]) {
        metrics.makeCounter(label: label, dimensions: dimensions).increment(by: 1)
        #expect(lines.isEmpty && metrics.droppedCount == 1)
    }

    @Test("what a library reports of the process does not repeat the daemon's own families")
    func ownFamilies() {
        metrics.makeMeter(label: "process_resident_memory_bytes", dimensions: []).set(1.0)
        metrics.makeMeter(label: "process_cpu_seconds_total", dimensions: []).set(1.0)
        metrics.makeCounter(label: "process_cpu_seconds", dimensions: []).increment(by: 1)
        #expect(lines.isEmpty && metrics.droppedCount == 3)
        metrics.makeMeter(label: "process_open_fds", dimensions: []).set(1.0)
        #expect(lines == ["process_open_fds 1.0"])
    }

    @Test("a name gets the form that Prometheus reads, and one family has one kind")
    func names() {
        metrics.makeMeter(label: "9 lives/é", dimensions: [("a-b", "c\nd")]).set(1.0)
        #expect(lines == ["_9_lives__{a_b=\"c\\nd\"} 1.0"])
        let summary = metrics.makeRecorder(label: "9 lives/é", dimensions: [], aggregate: true)
        summary.record(4.0)
        #expect(lines.count == 1 && metrics.droppedCount == 1)
    }

    @Test("a daemon shows what its reactors record, with its own metrics")
    func shown() async throws {
        let daemon = try await DaemonProcess.start("stubborn-daemon", config: nil)
        let control = Reactorctl(daemon: daemon)
        for name in ["a", "b"] {
            let run = try await control("dispatch", "/", "{\"obey\":\"\(name)\"}")
            #expect(run.code == 0, "\(run)")
        }
        let lines = try await control("metrics").lines
        #expect(lines.contains("# TYPE stubborn_effects_total counter"))
        #expect(lines.contains("stubborn_effects_total 2.0"))
        #expect(lines.contains("reactord_program_metrics_dropped_total 0"))
        #expect(lines.contains("# TYPE reactord_turns_total counter"))
        #expect(await daemon.stop() == .exited(0))
    }
}
