// MARK: - Middleware and time
extension Middleware {
    /// Runs once `quiet` has passed without another action: with the last of them, and once.
    public func debounce(_ quiet: Duration) -> Middleware {
        let timer = MiddlewareTimer()
        return Middleware(call: { call in
            call.whenCommitted {
                timer.add({ body(call) }, after: quiet, for: call, replacing: true)
            }
        })
    }

    /// Runs for an action, and then for none until `pause` has passed since that one.
    public func throttle(_ pause: Duration) -> Middleware {
        let window = MiddlewareWindow()
        return Middleware(call: { call in
            let now = call.now()
            let last = window.acceptedAt
            if let last, now - last < pause { return }
            window.acceptedAt = now
            call.ifWithdrawn { window.acceptedAt = last }
            body(call)
        })
    }

    /// Runs after `pause`, for every action.
    public func delay(_ pause: Duration) -> Middleware {
        let timer = MiddlewareTimer()
        return Middleware(call: { call in
            call.whenCommitted {
                timer.add({ body(call) }, after: pause, for: call, replacing: false)
            }
        })
    }

    /// Runs for every action; of what it dispatches later, only that of its newest run is let
    /// through.
    public func takeLatest() -> Middleware {
        let window = MiddlewareWindow()
        return Middleware(call: { call in
            let last = window.newest
            window.count += 1
            let number = window.count
            window.newest = number
            // because what comes to nothing replaces nothing
            call.ifWithdrawn { window.newest = last }
            var guarded = call
            guarded.dispatch = { action in if window.newest == number { call.dispatch(action) } }
            body(guarded)
        })
    }
}

/// What one piece of middleware remembers of its calls.
///
/// *Owner*: the tree's isolation.
private final class MiddlewareWindow {
    /// How many calls there were; each has a number of its own, whatever becomes of it.
    var count: UInt64 = 0
    /// Number of the newest call that has not come to nothing.
    var newest: UInt64 = 0
    /// When a call was let through last.
    var acceptedAt: Duration?
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
    /// Whether no timer could be had for the jobs that wait.
    private var isRefused = false

    /// Adds a job behind the others, or in their place, and sees to it that a timer runs.
    func add<R: Reactor>(
        _ job: @escaping () -> Void, after pause: Duration, for call: MiddlewareCall<R>,
        replacing: Bool
    ) {
        // because jobs that no timer waits for were cancelled with their reactor
        if replacing || (mark == nil && !isRefused) { jobs.removeAll() }
        jobs.append((call.now() + pause, job))
        arm(call)
    }

    private func arm<R: Reactor>(_ call: MiddlewareCall<R>) {
        guard mark == nil, let first = jobs.first else { return }
        let mark = TimerMark()
        self.mark = mark
        isRefused = !call.later(max(first.due - call.now(), .zero)) { [self] in
            withExtendedLifetime(mark) { self.mark = nil }
            fire(call)
        }
    }

    private func fire<R: Reactor>(_ call: MiddlewareCall<R>) {
        let now = call.now()
        let due = jobs.prefix { $0.due <= now }
        jobs.removeFirst(due.count)
        for job in due { job.run() }
        arm(call)
    }
}
