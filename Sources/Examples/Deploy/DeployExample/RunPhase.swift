public import ReactorCore

/// What a run does.
@WireCodable
public enum RunPhase: String, CaseIterable, Sendable {
    /// It waits for a worker.
    case waiting
    /// A worker performs its script.
    case running
    /// It lost its worker, and waits again soon.
    case pausing
    /// The daemon deploys it.
    case deploying
    /// It was built, and deployed if its project has a deployment.
    case succeeded
    /// Its script or its deployment failed, or all attempts were lost.
    case failed
    /// A client ended it.
    case cancelled

    /// Whether the phase is the last one.
    public var isEnd: Bool { self == .succeeded || self == .failed || self == .cancelled }
}

/// What a run performs.
@WireCodable
public struct RunOrder: Equatable, Sendable {
    /// The worker's script.
    public var script: String
    /// The daemon's script; nil without a deployment.
    public var deployScript: String?
    /// Where the daemon's script deploys.
    public var environment: Environment = .production
}

/// A run in a project's list.
@WireCodable
@MemberwiseInit
public struct RunLine: Equatable, Sendable {
    /// Why it was queued.
    public var because: String
    /// What it does now.
    public var phase: RunPhase = .waiting
    /// When the phase began; nil for a new run.
    public var turned: WallTime?
}
