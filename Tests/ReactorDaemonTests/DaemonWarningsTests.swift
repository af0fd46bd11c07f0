import Logging
import ReactorThreads
import Testing

@testable import ReactorDaemon

/// Drives ``DaemonWarnings``, ``RisingCount`` and ``DaemonEnding``.
@Suite("A daemon's warnings and its end")
struct DaemonWarningsTests {
    @Test("a rise is returned once, and a further one only after the interval")
    func rising() {
        var count = RisingCount()
        #expect(count.rise(to: 0, at: 0, every: 10) == nil)
        #expect(count.rise(to: 3, at: 1, every: 10) == 3)
        #expect(count.rise(to: 5, at: 10, every: 10) == nil)
        #expect(count.rise(to: 6, at: 11, every: 10) == 3)
        #expect(count.rise(to: 6, at: 30, every: 10) == nil)
    }

    @Test("a count that fell rises from its new value")
    func fallen() {
        var count = RisingCount()
        #expect(count.rise(to: 8, at: 0, every: 10) == 8)
        #expect(count.rise(to: 2, at: 20, every: 10) == nil)
        #expect(count.rise(to: 3, at: 21, every: 10) == 1)
    }

    @Test("the same line about the socket is logged once per interval, another one at once")
    func socket() {
        let log = LineLog()
        var warnings = DaemonWarnings(
            Logger(label: "test") { _ in log }, interval: 100)
        warnings.socket(.warning, "lost", path: "/s", at: 0)
        warnings.socket(.warning, "lost", path: "/s", at: 99)
        warnings.socket(.error, "gone", path: "/s", at: 99)
        warnings.socket(.warning, "lost", path: "/s", at: 100)
        warnings.parked(2, at: 0)
        warnings.shortened(TreeJobs(of: Flag()) { [] }, at: 0)
        let lines = log.lines.withLock { $0 }
        #expect(lines.prefix(3) == ["lost", "gone", "lost"] && lines.count == 4)
    }

    @Test("the first error of a daemon is the one that it ends with")
    func ending() {
        var ending = DaemonEnding()
        #expect(ending.failure == nil && !ending.skipsSnapshot && !ending.isClosing)
        ending.fail(with: .diskFailed("first"))
        ending.fail(with: .diskFailed("second"))
        guard case .diskFailed("first")? = ending.failure else { return #expect(Bool(false)) }
        var quick = DaemonEnding()
        quick.hurry()
        quick.close()
        #expect(quick.skipsSnapshot && quick.isClosing)
    }
}

/// Keeps the texts of log lines.
private struct LineLog: LogHandler {
    let lines = Guarded<[String]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.withLock { $0.append("\(event.message)") } }
}
