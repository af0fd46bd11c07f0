import ReactorWire
import Testing

@testable import ReactorServer

/// The counters that the server reports.
struct ServerStatsTests {
    @Test("the server reports every counter by name")
    func named() {
        var stats = ServerStats()
        stats.conflations = 3
        // The counts by reason and by code are parts of two of the counters.
        let fields = Mirror(reflecting: stats).children.filter { $0.value is UInt64 }
            .compactMap(\.label)
        #expect(Set(stats.named.keys) == Set(fields).union(["logLinesDropped"]))
        #expect(stats.named["conflations"] == 3)
    }

    @Test("the counters include the lines that the shell's log dropped")
    func droppedLines() {
        let harness = ServerHarness()
        var counts = ShellCounts()
        counts.logLinesDropped = 3
        harness.server.setCounts(counts)
        #expect(harness.server.statistics.named["logLinesDropped"] == 3)
        #expect(harness.server.statistics.named["diskBytes"] == nil)
        (counts.diskBytes, counts.diskBytesMax) = (5, 9)
        harness.server.setCounts(counts)
        #expect(harness.server.statistics.named["diskBytes"] == 5)
        #expect(harness.server.statistics.named["diskBytesMax"] == 9)
    }

    @Test("refused connections are counted by their reason, and faults by their code")
    func reasons() {
        var stats = ServerStats()
        stats.countRefusal(.connectionsMax)
        stats.countRefusal(.connectionsMax)
        stats.countRefusal(.draining)
        stats.countFault(.timeout)
        #expect(stats.turnedAway == 3 && stats.refusals == [.connectionsMax: 2, .draining: 1])
        #expect(stats.faults == 1 && stats.faultsByCode == [.timeout: 1])
    }
}
