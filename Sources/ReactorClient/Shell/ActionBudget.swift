import ReactorThreads

/// Bounds the bytes of actions that a client's callers have handed over and that have no outcome.
final class ActionBudget: Sendable {
    /// Most bytes of actions without an outcome; a caller that wants to add more waits.
    let bytesMax: Int
    private let state = Guarded(State())

    private struct State {
        var usedBytes = 0
        var waiting: [(byteCount: Int, answer: OneAnswer<Bool>)] = []

        // An action that is larger than the whole budget must pass some time.
        func fits(_ byteCount: Int, _ bytesMax: Int) -> Bool {
            usedBytes == 0 || usedBytes + byteCount <= bytesMax
        }
    }

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// How many callers wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Reserves bytes if they fit, and no caller waits.
    func tryReserve(_ byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.waiting.isEmpty, state.fits(byteCount, bytesMax) else { return false }
            state.usedBytes += byteCount
            return true
        }
    }

    /// Reserves bytes, first come first served; returns false if the task is cancelled before.
    func reserve(_ byteCount: Int) async -> Bool {
        let answer = state.withLock { state -> OneAnswer<Bool>? in
            if state.waiting.isEmpty, state.fits(byteCount, bytesMax) {
                state.usedBytes += byteCount
                return nil
            }
            let answer = OneAnswer<Bool>()
            state.waiting.append((byteCount, answer))
            return answer
        }
        guard let answer else { return true }
        if await answer.wait(cancelled: false) { return true }
        giveUp(answer, byteCount)
        return false
    }

    /// Returns reserved bytes, and admits callers that wait.
    func release(_ byteCount: Int) {
        let admitted = state.withLock { state in
            state.usedBytes -= byteCount
            return admit(&state)
        }
        for answer in admitted { answer.give(true) }
    }

    /// Takes a cancelled caller out of the queue, and admits those behind it.
    private func giveUp(_ answer: OneAnswer<Bool>, _ byteCount: Int) {
        let admitted = state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.answer === answer }) {
                state.waiting.remove(at: index)
            } else {
                // The caller was admitted in the moment of the cancellation.
                state.usedBytes -= byteCount
            }
            return admit(&state)
        }
        for answer in admitted { answer.give(true) }
    }

    private func admit(_ state: inout State) -> [OneAnswer<Bool>] {
        var admitted: [OneAnswer<Bool>] = []
        while let next = state.waiting.first, state.fits(next.byteCount, bytesMax) {
            state.usedBytes += next.byteCount
            state.waiting.removeFirst()
            admitted.append(next.answer)
        }
        assert(state.usedBytes >= 0, "more bytes were released than reserved")
        return admitted
    }
}
