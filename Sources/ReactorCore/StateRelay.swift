import ReactorThreads

/// A value that is set from anywhere and followed by anybody: a reader gets the current value, then
/// each that is set, equal ones too; it never ends.
///
/// A reader of a relay that is gone waits until its task is cancelled.
///
///     let theme = StateRelay("light")
///     for await name in theme.values { … }
public final class StateRelay<Value: Sendable>: Sendable {
    /// Most values that wait for a slow reader; beyond them it misses the oldest.
    public static var waitingMax: Int { 1_024 }

    private let state: Guarded<State>

    private struct State {
        var value: Value
        var readers: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    /// Starts with `value`.
    public init(_ value: Value) { state = Guarded(State(value: value)) }

    /// The value that was set last.
    public var value: Value { state.withLock { $0.value } }

    /// Sets the value; every reader gets it.
    public func accept(_ value: Value) {
        state.withLock { state in
            state.value = value
            for reader in state.readers.values { reader.yield(value) }
        }
    }

    /// Sets the value to what `change` makes of it.
    public func update(_ change: (inout Value) -> Void) {
        state.withLock { state in
            change(&state.value)
            for reader in state.readers.values { reader.yield(state.value) }
        }
    }

    /// The current value, then each that is set.
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

    /// How many follow it.
    var readerCount: Int { state.withLock { $0.readers.count } }
}
