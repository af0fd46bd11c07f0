import Foundation
import ReactorBytes
import ReactorCluster
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon
@testable import ReactorServer

@Suite("figures of a cluster")
struct ClusterMeterTests {
    private static func append(_ entry: [UInt8], expected: UInt64 = 4) -> EngineCall {
        .append(entry: entry, expected: expected, term: 7)
    }

    private static func position(_ number: UInt64) -> LogPosition {
        LogPosition(number: number, revision: number * 10)
    }

    private static func refusal(_ entry: [UInt8], number: UInt64, term: UInt64 = 7) -> EngineEvent {
        .refused(
            .append,
            LogRefusal(
                last: StoredEntry(position: position(number), bytes: entry), term: term,
                leader: nil))
    }

    @Test("an append that is sent again is measured once, from its first call on")
    func repeated() {
        var meter = ClusterMeter()
        meter.record(Self.append([1, 2, 3]), at: 1_000)
        meter.record(.unknown(.append, .late), at: 1_500)
        meter.record(Self.append([1, 2, 3]), at: 2_000)
        meter.record(.appended(Self.position(5)), at: 5_000)
        #expect(meter.appends.count == 1 && meter.appends.sum == 4_000)
        #expect(meter.appendedCount == 1 && meter.appendedByteCount == 3)
        #expect(meter.unknownAppends == 1 && meter.engineErrors == 1)
        // A second answer has no append.
        meter.record(.appended(Self.position(5)), at: 6_000)
        #expect(meter.appendedCount == 1)
    }

    @Test("a refusal counts as an append only if the log has the entry")
    func refused() {
        var meter = ClusterMeter()
        meter.record(Self.append([1, 2]), at: 0)
        meter.record(Self.refusal([1, 2], number: 5), at: 300)
        #expect(meter.appendedCount == 1 && meter.appends.sum == 300)
        meter.record(Self.append([3], expected: 5), at: 400)
        meter.record(Self.refusal([9], number: 6, term: 8), at: 500)
        #expect(meter.appendedCount == 1 && meter.appendedByteCount == 2)
        // Nor does the answer to another call.
        meter.record(.refused(.beat, LogRefusal(last: nil, term: 8, leader: nil)), at: 600)
        #expect(meter.appendedCount == 1)
    }

    @Test("errors, connections after the first, and compactions are counted")
    func engine() {
        var meter = ClusterMeter()
        for event in [
            .up, .unknown(.look, .disconnected), .down("gone"), .up, .trimmed, .beaten,
        ] as [EngineEvent] {
            meter.record(event, at: 0)
        }
        #expect(meter.engineErrors == 1 && meter.unknownAppends == 0)
        #expect(meter.engineReconnects == 1 && meter.compactions == 1)
    }

    private static func figures(leading: Bool) -> ClusterFigures {
        var meter = ClusterMeter()
        for span in Array(repeating: 900_000, count: 98) + [7_000_000, 7_000_000] as [UInt64] {
            meter.record(append([1]), at: 0)
            meter.record(.appended(position(5)), at: span)
        }
        return ClusterFigures(
            role: leading ? .leading : .following, hasLeader: true, isCut: !leading,
            staleRefusals: 2, term: 12, takeovers: 1, depositions: 0, meter: meter,
            appliedRow: 30, headRow: 33, missingEntryCount: 1, age: leading ? 250_000_000 : nil,
            logByteCount: leading ? 4_096 : nil, clockDifference: leading ? 0 : -20)
    }

    @Test("`stats` has the figures by name, and leaves out those that are not known")
    func named() {
        let leader = Self.figures(leading: true).named
        #expect(leader["clusterLeading"] == 1 && leader["clusterCut"] == 0)
        #expect(leader["clusterAppendMicrosP50"] == 1_000)
        #expect(leader["clusterAppendMicrosP99"] == 10_000)
        #expect(leader["clusterAgeMs"] == 250 && leader["clusterLogBytes"] == 4_096)
        #expect(leader["clusterAppliedRow"] == 30 && leader["clusterHeadRow"] == 33)
        let follower = Self.figures(leading: false).named
        #expect(follower["clusterLeading"] == 0 && follower["clusterStaleRefusals"] == 2)
        #expect(follower["clusterAgeMs"] == nil && follower["clusterLogBytes"] == nil)
        #expect(follower["clusterClockDifferenceMs"] == 20)
        var stats = ServerStats()
        stats.shell.cluster = follower
        #expect(stats.named["clusterMissingEntries"] == 1 && stats.named["turns"] == 0)
        #expect(ServerStats().named.keys.allSatisfy { !$0.hasPrefix("cluster") })
    }

    @Test("the page of metrics lists exactly the families of a cluster, with their kinds")
    func page() throws {
        let page = try String(
            contentsOfFile: Built.root
                + "/Sources/ReactorDaemon/ReactorDaemon.docc/Metrics.md", encoding: .utf8)
        let listed = page.matches(of: /\| `(reactord_cluster_\w+)` \| (\w+) \| (?:`(\w+)`)? ?\|/)
            .map { "\($0.output.1) \($0.output.2)" }
        var families: Set<String> = []
        var samples = ""
        for isLeading in [true, false] {
            var text = MetricsText()
            MetricsReport.describe(Self.figures(leading: isLeading), in: &text)
            samples += text.text
            for line in text.text.split(separator: "\n") where line.hasPrefix("# TYPE ") {
                families.insert(String(line.dropFirst(7)))
            }
        }
        #expect(families.count == 20 && Set(listed) == families && listed.count == families.count)
        #expect(samples.contains("\nreactord_cluster_role{role=\"leading\"} 1\n"))
        #expect(samples.contains("\nreactord_cluster_clock_difference_seconds -0.02\n"))
        #expect(samples.contains("\nreactord_cluster_append_seconds_count 100\n"))
        let rules = try String(
            contentsOfFile: Built.root + "/Config/prometheus/reactord.rules.yaml", encoding: .utf8)
        let used = rules.matches(of: /reactord_cluster_[a-z_]+/).map { String($0.output) }
        #expect(used.count >= 5)
        for name in used { #expect(samples.contains("\n# TYPE \(name) "), "\(name)") }
    }
}
