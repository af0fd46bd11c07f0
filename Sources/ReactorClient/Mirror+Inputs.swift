public import ReactorCore

extension Mirror {
    /// Sends each action of a sequence as it comes. The sequence may end or fail: that ends the
    /// input, and nothing else.
    ///
    /// Dropping the input does not end it; the end of the client does.
    @discardableResult
    public func connect<Source: AsyncSequence & Sendable>(
        _ actions: Source
    ) -> ActionInput where Source.Element == R.Action {
        ActionInput(
            Task(executorPreference: port?.executor) { [weak self] in
                do {
                    for try await action in actions {
                        guard let self, !Task.isCancelled else { return }
                        if case .failed = phase { return }
                        _ = await dispatch(action)
                    }
                } catch {
                    // because a source that fails is a source that has ended
                }
            })
    }
}

/// A sequence of actions that a mirror sends.
public struct ActionInput: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    /// Sends no more of them.
    public func cancel() { task.cancel() }

    /// Waits until the sequence has ended.
    public func ended() async { await task.value }
}
