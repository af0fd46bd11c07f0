import ReactorThreads

/// Counts the values of one source on their way to the tree, so that the source is read no faster
/// than the tree applies its values.
///
/// *Place*: between the task that reads a source and the jobs that it posts.
/// *Owner*: any thread; one task waits for capacity.
final class SourceWindow: Sendable {
    private let state = Guarded(State())

    private struct State: Sendable {
        var count = 0
        var isOver = false
        var reader: CheckedContinuation<Void, Never>?
    }

    /// Whether the source is no longer read: its token was released, or its reactor removed.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Waits for capacity and takes it. Returns `nil` if the source has ended or the task is
    /// cancelled.
    func ticket() async -> SourceTicket? {
        while !Task.isCancelled {
            switch take() {
            case .taken: return SourceTicket(self)
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

    /// Ends the source.
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

/// The capacity of one value in a ``SourceWindow``; freed when the job that carries the value is
/// released, whether it ran or was dropped.
final class SourceTicket: Sendable {
    let window: SourceWindow
    private let hasArrived = Flag()

    fileprivate init(_ window: SourceWindow) { self.window = window }

    // A dropped job means that its tree is gone: later jobs would not arrive either.
    deinit {
        if !hasArrived.isUp { window.end() }
        window.leave()
    }

    /// Marks the value as arrived. Returns whether it is still wanted. Call it once.
    func arrive() -> Bool {
        hasArrived.raise()
        return !window.isOver
    }
}
