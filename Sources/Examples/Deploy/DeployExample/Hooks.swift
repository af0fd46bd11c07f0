/// A deployment, for the hook that performs it.
public struct Deployment: Equatable, Sendable {
    /// The run.
    public var run: RunID
    /// The script.
    public var script: String
    /// Where it deploys.
    public var environment: Environment
    /// The same number at every attempt, also after a restart of the daemon.
    public var task: UInt64
}

/// What the coordinator does outside its process: the daemon passes programs of the host, a test
/// passes closures.
public struct Hooks: Sendable {
    /// Deploys a run whose script has succeeded; returns a line for the run's log.
    public var deploy: @Sendable (Deployment) async throws -> String
    /// Tells the outside that a run has ended.
    public var announce: @Sendable (Announcement) async throws -> Void

    /// Deploys by `deploy`, and announces by `announce`.
    public init(
        deploy: @escaping @Sendable (Deployment) async throws -> String,
        announce: @escaping @Sendable (Announcement) async throws -> Void
    ) {
        self.deploy = deploy
        self.announce = announce
    }

    /// Does nothing: for mirrors, which perform no effects.
    public static let none = Hooks(deploy: { _ in "" }, announce: { _ in })
}
