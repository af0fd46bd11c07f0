import ReactorServer
import Testing

@testable import ReactorDaemon

@Suite("DaemonAlarms")
struct DaemonAlarmsTests {
    @Test("each state has one line, the gravest first, and none without a reason")
    func lines() {
        #expect(DaemonAlarms().lines == [])
        var all = DaemonAlarms()
        all.admission = .full
        all.isStateFull = true
        (all.pressure, all.memory) = (.high, "the daemon has 9 of 10")
        all.isDiskScarce = true
        all.hasSnapshotFailed = true
        all.isFileRefused = true
        #expect(
            all.lines.map { $0.prefix(16) } == [
                "read-only: the j", "the states have ", "the daemon has 9", "the last snapsho",
                "the configuratio",
            ])
        all.admission = .all
        #expect(all.lines.contains { $0.contains("near bytesMax") } && all.lines.count == 5)
        all.admission = .limited
        #expect(all.lines.first?.hasPrefix("the data directory has bytesMax") == true)
        all.admission = .cut
        #expect(all.lines.first?.hasPrefix("cut off") == true)
        all.admission = .shrinking
        #expect(all.lines.first?.hasPrefix("the disk is full") == true)
    }
}
