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
        /// Cancels the task that reads the source.
        var cancel: (@Sendable () -> Void)?
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

    /// Cancels the reading task with `cancel` when the source is ended; at once if it was before.
    func whenOver(cancel: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.cancel = cancel }
            return state.isOver
        }
        if isOver { cancel() }
    }

    /// Ends the source.
    func end() {
        let cancel = state.withLock { state in
            state.isOver = true
            defer { state.cancel = nil }
            return state.cancel
        }
        wakeReader()
        cancel?()
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

/// The sources that are connected to the nodes of a tree, until they end.
///
/// Their readings end with the node, or with the tree, even if their tokens live on.
/// *Owner*: the tree's isolation.
final class ConnectedSources {
    /// By the numbers of the nodes.
    private var sources: [UInt32: [ObjectIdentifier: ConnectedSource]] = [:]

    /// Whether no source is connected.
    var isEmpty: Bool { sources.isEmpty }

    func add(_ source: ConnectedSource, to node: UInt32) {
        sources[node, default: [:]][ObjectIdentifier(source.window)] = source
    }

    /// Removes a source that has ended by itself; what was read of it is still applied.
    func release(_ window: SourceWindow, of node: UInt32) {
        sources[node]?.removeValue(forKey: ObjectIdentifier(window))?.keep()
        if sources[node]?.isEmpty ?? false { sources[node] = nil }
    }

    // The end of a source may call its author's code, so it happens after the removal.
    /// Ends the sources of a removed node.
    func end(of node: UInt32) {
        guard !sources.isEmpty, let ended = sources.removeValue(forKey: node) else { return }
        withExtendedLifetime(ended) {}
    }
}

/// Ends the reading of a source with the last reference to it.
final class ConnectedSource: Sendable {
    let window: SourceWindow
    private let hasEnded = Flag()

    init(_ window: SourceWindow) { self.window = window }

    deinit { if !hasEnded.isUp { window.end() } }

    /// Leaves the window open: the source has ended by itself.
    func keep() { hasEnded.raise() }
}
