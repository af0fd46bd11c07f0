import DeployExample
import ReactorCore
import ReactorTesting
import Testing

@Suite("The statistics of runs and projects")
struct RunStatsTests {
    @Test("each phase has one count, and removing takes back what adding did")
    func counts() {
        var stats = RunStats()
        for phase in RunPhase.allCases { stats.add(phase) }
        #expect(stats.running == 2, "runs that are deployed are running ones")
        #expect(
            [stats.waiting, stats.pausing, stats.succeeded, stats.failed, stats.cancelled]
                == [1, 1, 1, 1, 1])
        var all = DeployStats()
        all.add(stats)
        all.add(stats)
        #expect(all.projects == 2 && all.runs.running == 4 && all.runs.failed == 2)
        all.remove(stats)
        #expect(all.projects == 1 && all.runs == stats)
        for phase in RunPhase.allCases { stats.remove(phase) }
        #expect(stats == RunStats())
    }

    @Test("projects and the coordinator count their runs, also after a removal and a restart")
    func totals() throws {
        let bench = DeployBench()
        try bench.add("api", runs: 1)
        try bench.add("web", runs: 2)
        var all = DeployStats()
        all.projects = 2
        all.runs.waiting = 3
        #expect(bench.daemon.value(of: DeployStats.self, at: "/stats") == all)
        try bench.apply(Coordinator.Action.remove(project: "web"))
        let ann = bench.worker("ann")
        try ann.ask()
        all = DeployStats()
        all.projects = 1
        all.runs.running = 1
        #expect(bench.daemon.value(of: DeployStats.self, at: "/stats") == all)
        try bench.daemon.restart()
        all.runs = RunStats()
        all.runs.pausing = 1
        #expect(bench.daemon.value(of: RunStats.self, at: "/projects/api/stats") == all.runs)
        #expect(bench.daemon.value(of: DeployStats.self, at: "/stats") == all)
    }
}
