/// Requests that one run of a work answers together: those that get the run in progress, and those
/// that get the next.
///
/// *Invariants*: no request gets the run in progress unless one is in progress.
struct RequestQueue<Request> {
    private var current: [Request] = []
    private var later: [Request] = []
    private(set) var isRunning = false

    /// Adds a request for the next run.
    mutating func add(_ request: Request) { later.append(request) }

    /// Whether a request that waits for the next run satisfies a condition.
    func isWaiting(where predicate: (Request) -> Bool) -> Bool { later.contains(where: predicate) }

    /// Begins a run for all waiting requests; returns false if there is none, or one is in progress.
    mutating func begin() -> Bool {
        guard !isRunning, !later.isEmpty else { return false }
        isRunning = true
        swap(&current, &later)
        return true
    }

    /// Whether a request that gets the run in progress satisfies a condition.
    func isServing(where predicate: (Request) -> Bool) -> Bool {
        current.contains(where: predicate)
    }

    /// Ends a run; returns its requests.
    mutating func end() -> [Request] {
        assert(isRunning, "a run ends that was not begun")
        isRunning = false
        defer { current = [] }
        return current
    }
}
