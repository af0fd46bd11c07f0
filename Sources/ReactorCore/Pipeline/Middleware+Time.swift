import ReactorThreads

// MARK: - Middleware and time
extension Middleware {
    /// Runs once `quiet` has passed without another action: with the last of them, and once.
    public func debounce(_ quiet: Duration) -> Middleware { waiting(quiet, replacing: true) }

    /// Runs after `pause`, for every action.
    public func delay(_ pause: Duration) -> Middleware { waiting(pause, replacing: false) }

    private func waiting(_ pause: Duration, replacing: Bool) -> Middleware {
        Middleware(install: { life in
            let body = install(life)
            let timer = MiddlewareTimer()
            life.whenOver { [weak timer] in timer?.drop() }
            return { call in
                call.whenCommitted {
                    timer.add({ body(call) }, after: pause, for: call, replacing: replacing)
                }
            }
        })
    }

    /// Runs for an action, and then for none until `pause` has passed since that one.
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

    /// Runs for every action; of what it dispatches later, only that of its newest run is let
    /// through.
    public func takeLatest() -> Middleware {
        Middleware(install: { life in
            let body = install(life)
            let runs = Guarded(LatestRun())
            return { call in
                let (number, last) = runs.withLock { $0.begin() }
                // What comes to nothing replaces nothing.
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

/// Which run of a piece of middleware is the newest.
private struct LatestRun: Sendable {
    /// How many runs there were; each has a number of its own, whatever becomes of it.
    private var count: UInt64 = 0
    /// Number of the newest run that has not come to nothing.
    var newest: UInt64 = 0

    mutating func begin() -> (number: UInt64, last: UInt64) {
        let last = newest
        count += 1
        newest = count
        return (count, last)
    }
}

/// Stands for a timer that runs.
private final class TimerMark {}

/// Jobs of one piece of middleware that wait for their time: one timer for all of them.
///
/// *Owner*: the tree's isolation.
private final class MiddlewareTimer {
    /// In the order of their times.
    private var jobs: [(due: Duration, run: () -> Void)] = []
    /// There as long as the timer runs: it goes with the timer's job, whoever drops that.
    private weak var mark: TimerMark?
    private var cancel: (() -> Void)?
    /// Whether no timer could be had for the jobs that wait.
    private var isRefused = false

    /// Adds a job behind the others, or in their place, and sees to it that a timer runs.
    func add<R: Reactor>(
        _ job: @escaping () -> Void, after pause: Duration, for call: MiddlewareCall<R>,
        replacing: Bool
    ) {
        if call.life.isOver.isUp { return }
        // because jobs that no timer waits for were cancelled with their reactor
        if replacing || (mark == nil && !isRefused) { jobs.removeAll() }
        jobs.append((call.now() + pause, job))
        arm(call)
    }

    /// Forgets what waits.
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
        isRefused = cancel == nil
    }

    private func fire<R: Reactor>(_ call: MiddlewareCall<R>) {
        let now = call.now()
        let due = jobs.prefix { $0.due <= now }
        jobs.removeFirst(due.count)
        for job in due where !call.life.isOver.isUp { job.run() }
        arm(call)
    }
}
