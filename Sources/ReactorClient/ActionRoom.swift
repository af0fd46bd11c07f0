import ReactorThreads

/// Bounds the bytes of actions that a client's users have handed over and that have no outcome.
final class ActionRoom: Sendable {
    /// Most bytes of actions without an outcome; who wants to add more waits.
    let bytesMax: Int
    private let state = Guarded(State())

    private struct State {
        var usedBytes = 0
        var waiting: [(byteCount: Int, turn: OneAnswer<Bool>)] = []
    }

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// How many wait for room.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Takes room if there is some, and nobody waits for it.
    func tryEnter(_ byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.waiting.isEmpty, fits(byteCount, state) else { return false }
            state.usedBytes += byteCount
            return true
        }
    }

    /// Takes room, first come first served; answers false if the task is cancelled before.
    func enter(_ byteCount: Int) async -> Bool {
        let turn = state.withLock { state -> OneAnswer<Bool>? in
            if state.waiting.isEmpty, fits(byteCount, state) {
                state.usedBytes += byteCount
                return nil
            }
            let turn = OneAnswer<Bool>()
            state.waiting.append((byteCount, turn))
            return turn
        }
        guard let turn else { return true }
        if await turn.wait(cancelled: false) { return true }
        giveUp(turn, byteCount)
        return false
    }

    /// Gives room back, and lets in who waits.
    func leave(_ byteCount: Int) {
        let admitted = state.withLock { state in
            state.usedBytes -= byteCount
            return admit(&state)
        }
        for turn in admitted { turn.give(true) }
    }

    /// Takes a cancelled one out of the line, and lets in who stood behind.
    private func giveUp(_ turn: OneAnswer<Bool>, _ byteCount: Int) {
        let admitted = state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.turn === turn }) {
                state.waiting.remove(at: index)
            } else {
                // because room may have been given in the moment of the cancellation
                state.usedBytes -= byteCount
            }
            return admit(&state)
        }
        for turn in admitted { turn.give(true) }
    }

    private func admit(_ state: inout State) -> [OneAnswer<Bool>] {
        var admitted: [OneAnswer<Bool>] = []
        while let next = state.waiting.first, fits(next.byteCount, state) {
            state.usedBytes += next.byteCount
            state.waiting.removeFirst()
            admitted.append(next.turn)
        }
        return admitted
    }

    // because an action that is larger than all the room must pass some time
    private func fits(_ byteCount: Int, _ state: State) -> Bool {
        state.usedBytes == 0 || state.usedBytes + byteCount <= bytesMax
    }
}
