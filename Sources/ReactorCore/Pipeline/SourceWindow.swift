import ReactorThreads

/// How many values of one source are on their way to the tree: the source is read no faster than the
/// tree applies what it yields.
///
/// *Place*: between the task that reads a source and the jobs that it posts.
/// *Owner*: any thread; one task waits for room.
final class SourceWindow: Sendable {
    private let state = Guarded(State())

    private struct State: Sendable {
        var count = 0
        var isOver = false
        var reader: CheckedContinuation<Void, Never>?
    }

    /// Whether nothing more of the source is wanted: its token has gone, or its reactor.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Waits for room and takes it; gives nil where nothing more is wanted, or the task is cancelled.
    func place() async -> SourcePlace? {
        while !Task.isCancelled {
            switch take() {
            case .taken: return SourcePlace(self)
            case .isOver: return nil
            case .isFull: await waitForRoom()
            }
        }
        return nil
    }

    private enum Answer { case taken, isFull, isOver }

    private func take() -> Answer {
        state.withLock { state in
            if state.isOver { return .isOver }
            guard state.count < CoreLimits.sourcedValuesMax else { return .isFull }
            state.count += 1
            return .taken
        }
    }

    private func waitForRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.count >= CoreLimits.sourcedValuesMax, !state.isOver,
                        !Task.isCancelled
                    else { return false }
                    state.reader = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            wakeReader()
        }
    }

    /// Nothing more of the source is wanted.
    func end() {
        state.withLock { $0.isOver = true }
        wakeReader()
    }

    fileprivate func leave() {
        state.withLock { $0.count -= 1 }
        wakeReader()
    }

    private func wakeReader() {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }
}

/// The place of one value in a ``SourceWindow``; free again when the job that carries it goes, whether
/// that ran or was dropped.
final class SourcePlace: Sendable {
    let window: SourceWindow
    private let hasArrived = Flag()

    fileprivate init(_ window: SourceWindow) { self.window = window }

    // A job that was dropped reached no tree: neither will those after it.
    deinit {
        if !hasArrived.isUp { window.end() }
        window.leave()
    }

    /// Says whether the value is still wanted; asked once, where it arrives.
    func arrive() -> Bool {
        hasArrived.raise()
        return !window.isOver
    }
}
