import Testing

@testable import ReactorDaemon

@Suite("MetricsText")
struct MetricsTextTests {
    @Test("a family has its help, its type and its samples")
    func families() {
        var text = MetricsText()
        text.counter("a_total", "Counts.", 3)
        text.gauge("b", "Shows.", -1)
        text.gauge("c", "Is absent.", nil as Int?)
        text.gauge("d_seconds", "Lasts.", seconds: 0.25)
        text.counters("e_total", "Has labels.", by: "code", [("X", 1), ("Y", 2)])
        text.information("f", "Informs.", [("version", "1.0")])
        #expect(
            text.text == """
                # HELP a_total Counts.
                # TYPE a_total counter
                a_total 3
                # HELP b Shows.
                # TYPE b gauge
                b -1
                # HELP d_seconds Lasts.
                # TYPE d_seconds gauge
                d_seconds 0.25
                # HELP e_total Has labels.
                # TYPE e_total counter
                e_total{code="X"} 1
                e_total{code="Y"} 2
                # HELP f Informs.
                # TYPE f gauge
                f{version="1.0"} 1

                """)
    }

    @Test("label values and help texts are escaped")
    func escapes() {
        var text = MetricsText()
        text.gauges("g", "One \\ two\n\"three\".", by: "l", [("a\\b\"c\nd", 1)])
        #expect(
            text.text == """
                # HELP g One \\\\ two\\n"three".
                # TYPE g gauge
                g{l="a\\\\b\\"c\\nd"} 1

                """)
    }

    @Test("a histogram's buckets are cumulative, and the last one counts all durations")
    func histogram() {
        var histogram = Histogram()
        histogram.record(100)
        histogram.record(2_000, times: 2)
        histogram.record(20_000_000_000)
        var text = MetricsText()
        text.histogram("h_seconds", "Spreads.", histogram)
        let lines = text.text.split(separator: "\n").map(String.init)
        #expect(lines[1] == "# TYPE h_seconds histogram")
        #expect(lines[2] == "h_seconds_bucket{le=\"1e-07\"} 1")
        #expect(lines.contains("h_seconds_bucket{le=\"1e-06\"} 1"))
        #expect(lines.contains("h_seconds_bucket{le=\"2.5e-06\"} 3"))
        #expect(lines.contains("h_seconds_bucket{le=\"10.0\"} 3"))
        #expect(
            lines.suffix(3) == [
                "h_seconds_bucket{le=\"+Inf\"} 4", "h_seconds_sum 20.0000041",
                "h_seconds_count 4",
            ])
    }
}
