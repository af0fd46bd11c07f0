import DeployExample
import ReactorCore
import ReactorTesting
import Testing

/// Drives ``DeployInvariants`` and ``DeployPicture``.
@Suite("The invariants of the deploy coordinator")
struct DeployInvariantsTests {
    @Test("all claims hold for a coordinator with a run in each phase of its life")
    func sound() throws {
        let picture = try DeployPicture.sound()
        let phases = picture.numberedRuns(of: "web").mapValues(\.phase)
        #expect(phases == [1: .succeeded, 2: .pausing, 3: .running, 4: .waiting])
        #expect(picture.workers?.idle.map(\.worker.name) == ["ann"])
        #expect(picture.broken == [])
    }

    @Test("a wrong picture breaks the claims about it, and no others", arguments: DeployFault.all)
    func broken(fault: DeployFault) throws {
        var picture = try DeployPicture.sound()
        fault.apply(&picture)
        #expect(picture.broken == fault.broken)
    }

    @Test("for each claim there is a picture that breaks it alone")
    func coverage() {
        let alone = DeployFault.all.map(\.broken).filter { $0.count == 1 }
        #expect(Set(alone.joined()) == Set(DeployInvariants.Claim.allCases))
    }

    @Test("before an upgrade, only the claims about runs and workers can break")
    func beforeUpgrade() throws {
        var picture = try DeployPicture.sound()
        picture.queue = nil
        picture.projects = [:]
        picture.targets = [:]
        picture.projectStats = [:]
        picture.stats = nil
        #expect(picture.broken == [])
        picture.runs[.web(3)]?.owners = []
        picture.workers?.names = [:]
        #expect(picture.broken == [.ownership, .idleWorkers])
    }

    @Test("owners and plans that the daemon does not show break no claim")
    func hidden() throws {
        var picture = try DeployPicture.sound()
        picture.runs[.web(2)]?.plans = nil
        picture.runs[.web(3)]?.owners = nil
        #expect(picture.broken == [])
    }

    @Test("a run has ended for the next picture of the same history, and may be removed there")
    func endedBefore() throws {
        var picture = try DeployPicture.sound()
        picture.revision = Revision(epoch: 1, sequence: 7)
        let last = picture
        func ended(_ epoch: UInt64, _ sequence: UInt64) -> [RunID] {
            Array(last.endedRuns(before: Revision(epoch: epoch, sequence: sequence)).keys)
        }
        #expect(ended(1, 8) == [.web(1)])
        #expect(ended(1, 7) == [], "a run of the simulation begins again")
        #expect(ended(1, 5) == [], "a crash lost the end")
        #expect(ended(2, 9) == [], "another epoch")
        var next = DeployPicture()
        next.ended = last.endedRuns(before: Revision(epoch: 1, sequence: 8))
        #expect(next.broken == [])
    }

    @Test("two builds of a project with the same number are found")
    func numbers() {
        let build = DeployInvariants.Build(path: "/projects/web", number: 1, epoch: 1)
        func isFound(path: String = "/projects/web", number: Int = 1, epoch: UInt64 = 1) -> Bool {
            let other = DeployInvariants.Build(path: path, number: number, epoch: epoch)
            return !DeployInvariants.hasNumberOnce([build, other])
        }
        #expect(isFound())
        #expect(!isFound(path: "/projects/api"))
        #expect(!isFound(number: 2))
        #expect(!isFound(epoch: 2), "a crash lost the first build")
        #expect(DeployInvariants.hasNumberOnce([build]))
        var removable = build
        removable.path = DeploySimulation.removedPath
        #expect(DeployInvariants.hasNumberOnce([removable, removable]))
    }

    @Test("a build that its client does not see is found, as soon as the client could see it")
    func seen() {
        var build = DeployInvariants.Build(path: "/projects/web", number: 2, epoch: 1)
        #expect(DeployInvariants.isSeen([build], in: ["/projects/web": 2]))
        #expect(DeployInvariants.isSeen([build], in: ["/projects/web": 3]))
        #expect(!DeployInvariants.isSeen([build], in: ["/projects/web": 1]))
        #expect(!DeployInvariants.isSeen([build], in: ["/projects/api": 2]))
        build.isShown = false
        #expect(DeployInvariants.isSeen([build], in: [:]))
        build.isShown = true
        build.path = DeploySimulation.removedPath
        #expect(DeployInvariants.isSeen([build], in: [:]))
    }
}

/// A change that makes a sound picture wrong, and the claims that it breaks.
struct DeployFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let broken: Set<DeployInvariants.Claim>
    let apply: @Sendable (inout DeployPicture) -> Void

    init(
        _ description: String, breaks broken: Set<DeployInvariants.Claim>,
        _ apply: @escaping @Sendable (inout DeployPicture) -> Void
    ) {
        testDescription = description
        self.broken = broken
        self.apply = apply
    }

    static let all: [DeployFault] = queue + projects + workers + ends

    private static let queue: [DeployFault] = [
        DeployFault("more runs than the limit at the last start", breaks: [.limit]) {
            $0.runs[.web(3)]?.state.limits.runsMax = 0
        },
        DeployFault("a waiting run is not in the queue", breaks: [.queue]) {
            $0.queue?.waiting = []
        },
        DeployFault("a waiting run is in the queue twice", breaks: [.queue]) {
            $0.queue?.waiting = [.web(4), .web(4)]
        },
        DeployFault("an ended run is in the queue", breaks: [.queue]) {
            $0.queue?.waiting = [.web(4), .web(1)]
        },
        DeployFault("a running run is not listed as running", breaks: [.queue]) {
            $0.queue?.running = []
        },
        DeployFault("a running run is listed twice", breaks: [.queue, .limit]) {
            $0.queue?.running = [.web(3), .web(3)]
        },
    ]

    private static let projects: [DeployFault] = [
        DeployFault("a project lists another phase", breaks: [.projects]) {
            $0.projects["web"]?.lines[3]?.phase = .waiting
        },
        DeployFault("a project does not list a run", breaks: [.projects]) {
            $0.projects["web"]?.lines[1] = nil
        },
        DeployFault("a project lists a removed run", breaks: [.projects]) { picture in
            let line = picture.projects["web"]?.lines[1]
            picture.projects["web"]?.lines[5] = line
        },
        DeployFault("a project with a time plans no nightly run", breaks: [.nights]) {
            $0.nightlyPlans["web"] = false
        },
        DeployFault("a project without a time plans a nightly run", breaks: [.nights]) {
            $0.projects["web"]?.settings.set(ProjectSettings(), by: .daemon)
        },
        DeployFault("a run that was not deployed is an environment's", breaks: [.targets]) {
            $0.targets["web"]?[.production]?.run = 2
        },
        DeployFault("a run is another environment's", breaks: [.targets]) { picture in
            let target = picture.targets["web"]?[.production]
            picture.targets["web"]?[.staging] = target
        },
        DeployFault("a deployed run is no environment's", breaks: [.targets]) {
            $0.targets["web"] = nil
        },
        DeployFault("a run that never was is an environment's", breaks: [.targets]) {
            $0.targets["web"]?[.production]?.run = 9
        },
        DeployFault("a project counts a run too many", breaks: [.statistics]) {
            $0.projectStats["web"]?.waiting += 1
        },
        DeployFault("a project shows no statistics", breaks: [.statistics]) {
            $0.projectStats["web"] = nil
        },
        DeployFault("the coordinator does not count a project", breaks: [.statistics]) {
            $0.stats?.projects = 0
        },
        DeployFault("the coordinator counts a run in another phase", breaks: [.statistics]) {
            $0.stats?.runs.failed = 1
        },
    ]

    private static let workers: [DeployFault] = [
        DeployFault("a run runs without a worker", breaks: [.worker]) { picture in
            picture.runs[.web(3)]?.state.worker = nil
            picture.runs[.web(3)]?.owners = []
            picture.runs[.web(3)]?.plans = []
        },
        DeployFault("an ended run keeps its worker", breaks: [.worker]) { picture in
            picture.runs[.web(1)]?.state.worker = Worker(connection: 99, name: "eve")
            picture.runs[.web(1)]?.owners = [99]
            picture.runs[.web(1)]?.plans = [.expire]
        },
        DeployFault("another connection owns a run", breaks: [.ownership]) {
            $0.runs[.web(3)]?.owners = [99]
        },
        DeployFault("a connection owns an ended run", breaks: [.ownership]) {
            $0.runs[.web(1)]?.owners = [99]
        },
        DeployFault("the time of a worker is not limited", breaks: [.ownership]) {
            $0.runs[.web(3)]?.plans = []
        },
        DeployFault("a run without a worker expires", breaks: [.ownership]) {
            $0.runs[.web(4)]?.plans = [.expire]
        },
        DeployFault("a pausing run never waits again", breaks: [.ownership]) {
            $0.runs[.web(2)]?.plans = []
        },
        DeployFault("a running run waits again after a pause", breaks: [.ownership]) {
            $0.runs[.web(3)]?.plans = [.expire, .retry]
        },
        DeployFault("an idle worker is not connected", breaks: [.idleWorkers]) {
            $0.workers?.names = [:]
        },
        DeployFault("an idle worker is listed twice", breaks: [.idleWorkers]) { picture in
            let idle = picture.workers?.idle ?? []
            picture.workers?.idle = idle + idle
        },
    ]

    private static let ends: [DeployFault] = [
        DeployFault("a run goes on after its end", breaks: [.end]) { picture in
            var failed = Run.State()
            failed.phase = .failed
            failed.attempt = 1
            picture.ended[.web(3)] = failed
        },
        DeployFault("a run ends in another phase", breaks: [.end]) {
            $0.ended[.web(1)]?.phase = .failed
        },
        DeployFault("an ended run has another attempt", breaks: [.end]) {
            $0.ended[.web(1)]?.attempt += 1
        },
        DeployFault("the end of a run is not announced", breaks: [.news]) {
            $0.announced = []
        },
    ]
}

extension DeployPicture {
    /// The claims that do not hold.
    fileprivate var broken: Set<DeployInvariants.Claim> {
        Set(DeployInvariants.Claim.allCases.filter { !$0.holds(in: self) })
    }

    /// A picture of a coordinator whose limit is one run: web/1 has succeeded, web/2 has lost its
    /// worker and pauses, bob performs web/3, web/4 waits, and so does the worker ann.
    fileprivate static func sound() throws -> DeployPicture {
        let bench = DeployBench()
        try bench.apply(Settings.Action.runsMax(1), to: "/settings")
        try bench.add("web", runs: 4) { settings in
            settings.deployScript = "ship"
            settings.nightly = TimeOfDay(hour: 1, minute: 0)
        }
        let workers = ["ann", "bob", "cat"].map(bench.worker)
        try workers[1].ask()
        try workers[1].finish()
        try workers[2].ask()
        workers[2].die()
        try workers[1].ask()
        try workers[0].ask()
        var picture = try DeployPicture(bench)
        // A bench shows neither owners nor plans.
        picture.nightlyPlans["web"] = true
        let worker = try #require(picture.runs[.web(3)]?.state.worker)
        picture.runs[.web(3)]?.owners = [worker.connection]
        picture.runs[.web(3)]?.plans = [.expire]
        picture.runs[.web(2)]?.plans = [.retry]
        picture.announced = [.web(1)]
        return picture
    }

    /// The states of a bench; no run has an owner and a plan.
    private init(_ bench: DeployBench) throws {
        self.init()
        let queue = try bench.queue
        self.queue = queue
        for name in queue.names {
            let project = try bench.project(name)
            projects[name] = project
            projectStats[name] = bench.daemon.value(
                of: RunStats.self, at: "/projects/\(name)/stats")
            for environment in Environment.allCases {
                targets[name, default: [:]][environment] = bench.daemon.state(
                    of: Target.self, at: "/projects/\(name)/targets/\(environment)")
            }
            for number in project.numbers {
                let id = RunID(project: name, number: number)
                runs[id] = RunRecord(state: try bench.run(id), owners: [], plans: [])
            }
        }
        stats = bench.daemon.value(of: DeployStats.self, at: "/stats")
        workers = bench.daemon.state(of: Workers.self, at: "/workers")
        ended = runs.mapValues(\.state).filter { $0.value.phase.isEnd }
    }
}
