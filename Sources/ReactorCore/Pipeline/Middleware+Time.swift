// MARK: - Middleware and time
extension Middleware {
    /// Runs once `quiet` has passed without another action: with the last of them, and once.
    public func debounce(_ quiet: Duration) -> Middleware {
        let calls = CallCounter()
        return Middleware(call: { call in
            let number = calls.next()
            run(call, after: quiet) { calls.count == number }
        })
    }

    /// Runs for an action, and then for none until `pause` has passed since that one.
    public func throttle(_ pause: Duration) -> Middleware {
        let calls = CallCounter()
        return Middleware(call: { call in
            if let last = calls.acceptedAt, call.now - last < pause { return }
            calls.acceptedAt = call.now
            body(call)
        })
    }

    /// Runs after `pause`, for every action.
    public func delay(_ pause: Duration) -> Middleware {
        Middleware(call: { call in run(call, after: pause) { true } })
    }

    /// Runs for every action; of what it dispatches later, only that of its newest run is let
    /// through.
    public func takeLatest() -> Middleware {
        let calls = CallCounter()
        return Middleware(call: { call in
            let number = calls.next()
            var guarded = call
            guarded.dispatch = { action in if calls.count == number { call.dispatch(action) } }
            body(guarded)
        })
    }

    private func run(
        _ call: MiddlewareCall<R>, after pause: Duration, if isWanted: @escaping () -> Bool
    ) {
        call.later(pause) { if isWanted() { body(call) } }
    }
}

/// What one piece of middleware remembers of its calls.
///
/// *Owner*: the tree's isolation.
private final class CallCounter {
    private(set) var count: UInt64 = 0
    /// When a call was let through last.
    var acceptedAt: Duration?

    func next() -> UInt64 {
        count += 1
        return count
    }
}
