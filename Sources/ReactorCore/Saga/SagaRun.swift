/// One run of a reactor's own saga, and the failures of the earlier ones.
struct SagaRun<R: Reactor>: Sendable {
    let name: String
    let restart: SagaRestart
    let body: @Sendable (SagaContext<R>) async throws -> Void
    private var record = RestartRecord()
    /// The time of its start, by the tree's clock.
    private var startedAt: Duration = .zero

    init(
        _ name: String, _ restart: SagaRestart,
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Void
    ) {
        self.name = name
        self.restart = restart
        self.body = body
    }

    /// The name in log lines: `saga "watch"`, or `a saga`.
    var title: String { name.isEmpty ? "a saga" : "saga \"\(name)\"" }

    /// Records the start.
    mutating func begin(at now: Duration) { startedAt = now }

    /// Records the failure of the run.
    mutating func endRun(with error: any Error, at now: Duration) -> SagaFailure {
        let pause = record.countFailure(at: now, after: now - startedAt, restart)
        return SagaFailure(
            name: name, error: error, attempt: record.attempt, restartsAfter: pause)
    }

    /// The log line of a failure.
    func report(_ failure: SagaFailure) -> String {
        "\(title) failed (attempt \(failure.attempt)): \(failure.error); "
            + consequence(failure.restartsAfter)
    }

    private func consequence(_ pause: Duration?) -> String {
        if let pause { return "it starts again after \(pause)" }
        guard restart != .never, let failuresMax = restart.failuresMax else {
            return "it does not start again"
        }
        return "it does not start again: \(failuresMax) failures within \(restart.window)"
    }
}

/// The failures of one saga: decides the pauses before its restarts.
struct RestartRecord: Sendable {
    /// Number of failures since the last long run.
    private(set) var attempt = 0
    /// The last pause.
    private var pause: Duration = .zero
    /// The times of the last failures, at most as many as end the saga.
    private var failedAt: [Duration] = []

    // A pause of zero that is multiplied stays zero, and the saga would occupy a processor.
    /// Shortest pause after the second of several failures.
    private static let repeatedMin = Duration.milliseconds(1)

    /// Records a failure at `now` of a run that lasted for `span`. Returns the pause until the
    /// next run; `nil` if there is none.
    mutating func countFailure(
        at now: Duration, after span: Duration, _ restart: SagaRestart
    ) -> Duration? {
        guard restart != .never else {
            attempt = 1
            return nil
        }
        if span >= restart.window { attempt = 0 }
        attempt += 1
        if let failuresMax = restart.failuresMax {
            failedAt.removeAll { now - $0 >= restart.window }
            failedAt.append(now)
            if failedAt.count >= failuresMax { return nil }
        }
        pause = attempt == 1 ? restart.first : longer(restart)
        return pause
    }

    private func longer(_ restart: SagaRestart) -> Duration {
        let most = max(restart.most, Self.repeatedMin)
        return min(max(pause * restart.factor, Self.repeatedMin), most)
    }
}
