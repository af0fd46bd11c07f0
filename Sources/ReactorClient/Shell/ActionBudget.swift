import ReactorThreads

/// Bounds the bytes of actions that callers have passed to a client and that have no outcome.
final class ActionBudget: Sendable {
    /// Limit of the bytes of actions without an outcome; callers beyond it wait.
    let bytesMax: Int
    private let state = Guarded(State())

    private struct State {
        var usedBytes = 0
        var waiting: [(byteCount: Int, answer: OneAnswer<Bool>)] = []

        // An action larger than the whole budget is admitted while no other bytes are reserved.
        func fits(_ byteCount: Int, _ bytesMax: Int) -> Bool {
            usedBytes == 0 || usedBytes + byteCount <= bytesMax
        }
    }

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Number of callers that wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Reserves bytes if they fit and no caller waits.
    func tryReserve(_ byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.waiting.isEmpty, state.fits(byteCount, bytesMax) else { return false }
            state.usedBytes += byteCount
            return true
        }
    }

    /// Reserves bytes, first come first served; returns false if the task is cancelled first.
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

    /// Returns reserved bytes, and admits waiting callers.
    func release(_ byteCount: Int) {
        let admitted = state.withLock { state in
            state.usedBytes -= byteCount
            return admit(&state)
        }
        for answer in admitted { answer.give(true) }
    }

    /// Removes a cancelled caller from the queue, and admits those behind it.
    private func giveUp(_ answer: OneAnswer<Bool>, _ byteCount: Int) {
        let admitted = state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.answer === answer }) {
                state.waiting.remove(at: index)
            } else {
                // The cancellation came after the caller was admitted.
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
