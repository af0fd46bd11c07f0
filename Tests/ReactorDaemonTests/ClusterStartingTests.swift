import Logging
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Drives ``ClusterStarting``; real daemons start again in the torture of a cluster.
struct ClusterStartingTests {
    private let home = TestDirectory()

    private func starting(
        _ change: (inout DaemonConfig) -> Void, _ variables: [String: String] = [:]
    )
        throws -> ClusterStarting
    {
        var config = DaemonConfig()
        config.cluster = try PeerRig().config("b")
        var data = DataConfig()
        data.directory = home.path("data")
        config.data = data
        change(&config)
        return ClusterStarting(config, environment: variables, uid: 0, Logger(label: "tests"))
    }

    @Test("a daemon without a cluster, or without data, needs no copy")
    func alone() throws {
        var alone = try starting { $0.cluster = nil }
        try alone.takeCopyIfNeeded()
        var memory = try starting { $0.data = nil }
        try memory.takeCopyIfNeeded()
    }

    @Test("a daemon that fell behind takes up to three copies in a row, after another error none")
    func again() throws {
        let behind = DaemonError.fellBehind("the log no longer has the rows after 7")
        #expect(behind.exitCode == 78 && "\(behind)".hasPrefix("the log"))
        let first = try starting { _ in }
        #expect(first.mayStartAgain(after: behind, running: .zero))
        #expect(!first.mayStartAgain(after: .cluster("forked"), running: .zero))
        #expect(first.copies(running: .zero) == 1)
        let second = try starting({ _ in }, [ClusterStarting.variable: "2"])
        #expect(second.mayStartAgain(after: behind, running: .zero))
        #expect(second.copies(running: .zero) == 3)
        let last = try starting({ _ in }, [ClusterStarting.variable: "3"])
        #expect(!last.mayStartAgain(after: behind, running: .zero))
        #expect(last.mayStartAgain(after: behind, running: .seconds(61)))
        #expect(last.copies(running: .seconds(61)) == 1)
        #expect(!(try starting { $0.cluster = nil }).mayStartAgain(after: behind, running: .zero))
    }
}
