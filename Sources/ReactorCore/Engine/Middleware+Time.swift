import ReactorThreads

// MARK: - Middleware and time
extension Middleware {
    /// Runs once, with the last action, after `quiet` has passed without another.
    public func debounce(_ quiet: Duration) -> Middleware { waiting(quiet, replacing: true) }

    /// Runs for every action, after `pause`.
    public func delay(_ pause: Duration) -> Middleware { waiting(pause, replacing: false) }

    private func waiting(_ pause: Duration, replacing: Bool) -> Middleware {
        Middleware(install: { life in
            let body = install(life)
            let timer = MiddlewareTimer()
            life.whenOver { [weak timer] in timer?.drop() }
            return { call in
                call.whenCommitted {
                    timer.schedule({ body(call) }, after: pause, for: call, replacing: replacing)
                }
            }
        })
    }

    /// Runs for an action, and for no other until `pause` has passed.
    public func throttle(_ pause: Duration) -> Middleware {
        Middleware(install: { life in
            let body = install(life)
            var acceptedAt: Duration?
            return { call in
                let now = call.now()
                let last = acceptedAt
                if let last, now - last < pause { return }
                acceptedAt = now
                call.ifWithdrawn { acceptedAt = last }
                body(call)
            }
        })
    }

    /// Runs for every action. Later dispatches of all runs but the newest are dropped.
    public func takeLatest() -> Middleware {
        Middleware(install: { life in
            let body = install(life)
            let runs = Guarded(LatestRun())
            return { call in
                let (number, last) = runs.withLock { $0.begin() }
                // A refused action does not replace an earlier run.
                call.ifWithdrawn { runs.withLock { $0.newest = last } }
                var guarded = call
                let dispatch = call.dispatch
                guarded.dispatch = { action in
                    if runs.withLock({ $0.newest == number }) { dispatch(action) }
                }
                body(guarded)
            }
        })
    }
}

/// The newest run of a piece of middleware.
private struct LatestRun: Sendable {
    /// Number of runs, including those of refused actions.
    private var count: UInt64 = 0
    /// Number of the newest run whose action was not refused.
    var newest: UInt64 = 0

    mutating func begin() -> (number: UInt64, last: UInt64) {
        let last = newest
        count += 1
        newest = count
        return (count, last)
    }
}

/// Exists as long as a timer runs.
private final class TimerMark {}

/// The waiting jobs of one piece of middleware, with one timer for all of them.
///
/// *Owner*: the tree's isolation.
private final class MiddlewareTimer {
    /// In the order of their times.
    private var jobs: [(due: Duration, run: () -> Void)] = []
    /// Owned by the timer's job, so it is `nil` once the job has run or was dropped.
    private weak var mark: TimerMark?
    private var cancel: (() -> Void)?

    /// Adds a job at the end, or in place of the others, and starts a timer if none runs.
    func schedule<R: Reactor>(
        _ job: @escaping () -> Void, after pause: Duration, for call: MiddlewareCall<R>,
        replacing: Bool
    ) {
        if call.life.isOver.isUp { return }
        // Jobs without a timer were cancelled together with their reactor.
        if replacing || mark == nil { jobs.removeAll() }
        jobs.append((call.now() + pause, job))
        arm(call)
    }

    /// Drops the waiting jobs.
    func drop() {
        jobs.removeAll()
        cancel?()
        cancel = nil
    }

    private func arm<R: Reactor>(_ call: MiddlewareCall<R>) {
        guard mark == nil, let first = jobs.first else { return }
        let mark = TimerMark()
        self.mark = mark
        cancel = call.later(max(first.due - call.now(), .zero)) { [self] in
            withExtendedLifetime(mark) { self.mark = nil }
            fire(call)
        }
    }

    private func fire<R: Reactor>(_ call: MiddlewareCall<R>) {
        let now = call.now()
        let due = jobs.prefix { $0.due <= now }
        jobs.removeFirst(due.count)
        for job in due where !call.life.isOver.isUp { job.run() }
        arm(call)
    }
}
