/// The actions of a session whose client waits for the end of their effects.
///
/// *Place*: in a ``Session``, which outlives the connection; after a reconnect, the client asks
/// again. *Shape*: an action is in at most one of the two lists. ``invariants()`` checks that.
struct AwaitedEffects {
    /// Actions whose effects run; true if the current connection waits for their end.
    private var running: [UInt64: Bool] = [:]
    /// Actions whose effects ended before their deferred answer, which is sent first.
    private var endedEarly: Set<UInt64> = []

    /// Actions whose effects run.
    var count: Int { running.count }

    /// Whether the current connection waits for the end of effects.
    var isAsked: Bool { running.values.contains(true) || !endedEarly.isEmpty }

    /// The actions for the end of whose effects the current connection waits, in ascending order.
    var asked: [UInt64] { (running.filter(\.value).map(\.key) + endedEarly).sorted() }

    /// Whether the effects of an action run, as far as is known.
    func isRunning(_ ordinal: UInt64) -> Bool { running[ordinal] != nil }

    /// Records that the effects of an action may run now. With `isAsked`, the current connection
    /// waits for their end.
    mutating func start(_ ordinal: UInt64, isAsked: Bool = true) {
        running[ordinal] = isAsked
        invariants()
    }

    /// Forgets all effects that run. Returns the actions for which the current connection waits, in
    /// ascending order.
    mutating func takeRunning() -> [UInt64] {
        defer { running = [:] }
        return running.filter(\.value).keys.sorted()
    }

    /// Records that a new connection waits for an action of the former one; returns whether the
    /// action's effects run.
    mutating func askAgain(for ordinal: UInt64) -> Bool {
        guard running[ordinal] != nil else { return false }
        running[ordinal] = true
        return true
    }

    /// Records that the effects of an action have ended; returns whether the client gets the report
    /// now.
    mutating func stop(_ ordinal: UInt64, isAnswerOwed: Bool) -> Bool {
        guard running.removeValue(forKey: ordinal) ?? false else { return false }
        if isAnswerOwed { endedEarly.insert(ordinal) }
        invariants()
        return !isAnswerOwed
    }

    /// Records that the answer of an action was sent; returns whether the report of its ended
    /// effects follows.
    mutating func takeEarlyEnd(of ordinal: UInt64) -> Bool { endedEarly.remove(ordinal) != nil }

    /// Records that the connection ended: nothing is reported until the next connection asks again,
    /// and that gets the outcome first.
    mutating func endConnection() {
        for ordinal in running.keys { running[ordinal] = false }
        endedEarly = []
        invariants()
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            endedEarly.count > 32 || endedEarly.allSatisfy { running[$0] == nil },
            "the effects of an action run and have ended")
    }
}
