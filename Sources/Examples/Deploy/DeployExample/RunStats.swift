public import ReactorCore

/// How many runs there are, by what they do.
@WireCodable
public struct RunStats: DerivedTotal {
    /// Runs that wait for a worker.
    public var waiting = 0
    /// Runs that a worker performs, or the daemon deploys.
    public var running = 0
    /// Runs that lost their worker, and wait again soon.
    public var pausing = 0
    /// Runs that were built, and deployed if their project has a deployment.
    public var succeeded = 0
    /// Runs that failed.
    public var failed = 0
    /// Runs that a client ended.
    public var cancelled = 0

    /// Counts no run.
    public init() {}

    public mutating func add(_ phase: RunPhase) { self[phase] += 1 }

    public mutating func remove(_ phase: RunPhase) { self[phase] -= 1 }

    /// The count to which a run in the phase belongs.
    subscript(_ phase: RunPhase) -> Int {
        get { self[keyPath: Self.count(of: phase)] }
        set { self[keyPath: Self.count(of: phase)] = newValue }
    }

    private static func count(of phase: RunPhase) -> WritableKeyPath<RunStats, Int> {
        switch phase {
        case .waiting: \.waiting
        case .running, .deploying: \.running
        case .pausing: \.pausing
        case .succeeded: \.succeeded
        case .failed: \.failed
        case .cancelled: \.cancelled
        }
    }
}

/// How many projects there are, and the runs of all of them together.
@WireCodable
public struct DeployStats: DerivedTotal {
    /// The number of projects.
    public var projects = 0
    /// The kept runs of all projects.
    public var runs = RunStats()

    /// Counts no project.
    public init() {}

    public mutating func add(_ project: RunStats) {
        projects += 1
        for phase in Self.counted { runs[phase] += project[phase] }
    }

    public mutating func remove(_ project: RunStats) {
        projects -= 1
        for phase in Self.counted { runs[phase] -= project[phase] }
    }

    /// One phase for each count of ``RunStats``.
    private static let counted = RunPhase.allCases.filter { $0 != .deploying }
}
