import ReactorThreads

/// A value that any thread can set and follow: a reader receives the current value, then each new
/// one, equal ones too. The stream never ends.
///
/// After the relay is deallocated, a reader waits until its task is cancelled.
///
///     let theme = StateRelay("light")
///     for await name in theme.values { … }
public final class StateRelay<Value: Sendable>: Sendable {
    /// Maximum values that wait for a slow reader; beyond it, the reader misses the oldest.
    package static var waitingMax: Int { 1_024 }

    private let state: Guarded<State>

    private struct State {
        var value: Value
        var readers: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    /// Starts with `value`.
    public init(_ value: Value) { state = Guarded(State(value: value)) }

    /// The last value set.
    public var value: Value { state.withLock { $0.value } }

    /// Sets the value and passes it to every reader.
    public func accept(_ value: Value) {
        state.withLock { state in
            state.value = value
            for reader in state.readers.values { reader.yield(value) }
        }
    }

    /// Changes the value in place and passes it to every reader.
    public func update(_ change: (inout Value) -> Void) {
        state.withLock { state in
            change(&state.value)
            for reader in state.readers.values { reader.yield(state.value) }
        }
    }

    /// The current value, then each new one.
    public var values: AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(Self.waitingMax))
        let id = state.withLock { state in
            state.lastID += 1
            state.readers[state.lastID] = continuation
            continuation.yield(state.value)
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: id) }
        }
        return stream
    }

    /// Number of readers.
    var readerCount: Int { state.withLock { $0.readers.count } }
}
