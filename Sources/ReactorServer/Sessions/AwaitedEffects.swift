/// The actions of a session whose client waits for the end of their effects.
///
/// *Place*: in a ``Session``, which outlives the connection; the client's next connection asks again.
/// *Shape*: an action is in at most one of the two lists. ``invariants()`` checks that.
struct AwaitedEffects {
    /// Actions whose effects run, and whether the present connection has asked for their end.
    private var running: [UInt64: Bool] = [:]
    /// Actions whose effects ended before their owed answer, which goes first.
    private var endedEarly: Set<UInt64> = []

    /// Actions whose effects run.
    var count: Int { running.count }

    /// Whether the present connection waits for the end of effects.
    var isAsked: Bool { running.values.contains(true) || !endedEarly.isEmpty }

    /// Records that the effects of an action may run from here on.
    mutating func start(_ ordinal: UInt64) {
        running[ordinal] = true
        invariants()
    }

    /// Records that another connection asks for an action of the one before; answers whether its
    /// effects run.
    mutating func askAgain(for ordinal: UInt64) -> Bool {
        guard running[ordinal] != nil else { return false }
        running[ordinal] = true
        return true
    }

    /// Records that the effects of an action have ended; answers whether its client is sent that now.
    mutating func stop(_ ordinal: UInt64, isAnswerOwed: Bool) -> Bool {
        guard running.removeValue(forKey: ordinal) ?? false else { return false }
        if isAnswerOwed { endedEarly.insert(ordinal) }
        invariants()
        return !isAnswerOwed
    }

    /// Records that the answer of an action was sent; answers whether the end of its effects follows.
    mutating func takeEarlyEnd(of ordinal: UInt64) -> Bool { endedEarly.remove(ordinal) != nil }

    /// Records that the connection ended: no client waits until the next connection asks again. The
    /// outcome is sent first then.
    mutating func endConnection() {
        for ordinal in running.keys { running[ordinal] = false }
        endedEarly = []
        invariants()
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            endedEarly.count > 32 || endedEarly.allSatisfy { running[$0] == nil },
            "the effects of an action run and have ended")
    }
}
