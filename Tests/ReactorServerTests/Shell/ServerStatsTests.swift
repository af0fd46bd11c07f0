import Testing

@testable import ReactorServer

/// The counters that the server reports.
struct ServerStatsTests {
    @Test("the server reports every counter by name")
    func named() {
        var stats = ServerStats()
        stats.conflations = 3
        let fields = Mirror(reflecting: stats).children.compactMap(\.label)
        #expect(Set(stats.named.keys) == Set(fields))
        #expect(stats.named["conflations"] == 3)
    }

    @Test("the counters include the lines that the shell's log dropped")
    func droppedLines() {
        let harness = ServerHarness()
        harness.server.countLog(linesDropped: 3)
        #expect(harness.server.statistics.named["logLinesDropped"] == 3)
    }
}
