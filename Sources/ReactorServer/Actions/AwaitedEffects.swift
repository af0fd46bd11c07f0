/// The actions of a session whose client wants to know when their effects have ended.
///
/// *Place*: in ``Session``, for it outlives the connection: who comes back asks again.
struct AwaitedEffects {
    /// Actions whose effects run, and whether the connection at hand has asked for them.
    private var running: [UInt64: Bool] = [:]
    /// Actions whose effects have ended while their answer is owed, which goes first.
    private var endedEarly: Set<UInt64> = []

    /// Actions whose effects run.
    var count: Int { running.count }

    /// Whether the connection at hand waits for the end of effects.
    var isAsked: Bool { running.values.contains(true) || !endedEarly.isEmpty }

    /// The effects of an action may run from here on.
    mutating func begin(_ ordinal: UInt64) { running[ordinal] = true }

    /// Another connection asks for an action of the one before; answers whether its effects run.
    mutating func askAgain(for ordinal: UInt64) -> Bool {
        guard running[ordinal] != nil else { return false }
        running[ordinal] = true
        return true
    }

    /// The effects of an action have ended; answers whether its client is to be told now.
    mutating func end(_ ordinal: UInt64, isAnswerOwed: Bool) -> Bool {
        guard running.removeValue(forKey: ordinal) ?? false else { return false }
        if isAnswerOwed { endedEarly.insert(ordinal) }
        return !isAnswerOwed
    }

    /// The answer of an action has gone; answers whether the end of its effects follows.
    mutating func noteAnswer(of ordinal: UInt64) -> Bool { endedEarly.remove(ordinal) != nil }

    /// Nobody asks any more, until somebody comes back.
    // because the outcome has to be told first, which is done when it is asked for again
    mutating func endConnection() {
        for ordinal in running.keys { running[ordinal] = false }
        endedEarly = []
    }
}
