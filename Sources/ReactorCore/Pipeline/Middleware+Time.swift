// MARK: - Middleware and time
extension Middleware {
    /// Runs once `quiet` has passed without another action: with the last of them, and once.
    public func debounce(_ quiet: Duration) -> Middleware {
        let timer = MiddlewareTimer()
        return Middleware(call: { call in
            call.whenCommitted {
                timer.jobs = [(call.now() + quiet, { body(call) })]
                timer.arm(call)
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
                timer.jobs.append((call.now() + pause, { body(call) }))
                timer.arm(call)
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

/// Jobs of one piece of middleware that wait for their time: one timer for all of them.
///
/// *Owner*: the tree's isolation.
private final class MiddlewareTimer {
    /// In the order of their times.
    var jobs: [(due: Duration, run: () -> Void)] = []
    private var isArmed = false

    /// Sees to it that a timer runs while jobs wait.
    func arm<R: Reactor>(_ call: MiddlewareCall<R>) {
        guard !isArmed, let first = jobs.first else { return }
        isArmed = call.later(max(first.due - call.now(), .zero)) { [self] in
            isArmed = false
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
