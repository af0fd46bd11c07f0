public import Observation
public import ReactorCore
import ReactorThreads

/// A part of a mirrored state that notifies observers only when its value differs from before.
///
///     let total = mirror.slice(\.cart).slice(\.total)
///     for await value in total.values() { ... }
///
/// *Owner*: any thread. *Cost*: compares the part after each update of the mirror.
@dynamicMemberLookup
public final class MirrorSlice<R: Reactor, Value: Equatable & Sendable>: Observable, Sendable {
    /// The mirror of the whole state.
    public let mirror: Mirror<R>
    private let read: @Sendable (R.State) -> Value
    private let state: SliceState<Value>
    private let watcher: UInt64

    init(_ mirror: Mirror<R>, _ read: @escaping @Sendable (R.State) -> Value) {
        self.mirror = mirror
        self.read = read
        let state = SliceState(mirror.replica.withLock { read($0.shown) })
        self.state = state
        watcher = mirror.notices.watch { [replica = mirror.replica] _, isLast in
            state.take(isLast: isLast) { replica.withLock { read($0.shown) } }
        }
        // The mirror may have changed, or ended, before the slice began to watch it.
        state.take(isLast: mirror.changed.isEnded) {
            mirror.replica.withLock { read($0.shown) }
        }
    }

    deinit { mirror.notices.unwatch(watcher) }

    /// The value; its observers are woken when it differs.
    public var value: Value {
        state.changed.access()
        return state.value.withLock { $0 }
    }

    /// A part of the value.
    public subscript<Part>(dynamicMember field: KeyPath<Value, Part>) -> Part {
        value[keyPath: field]
    }

    /// A part of this part, which notifies only when its own value differs.
    public func slice<Part: Equatable & Sendable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> MirrorSlice<R, Part> {
        let read = read
        return MirrorSlice<R, Part>(mirror) { read($0)[keyPath: part] }
    }

    /// The values over time: first the current one, then each that differs from the one before.
    public func values() -> Values { Values(slice: self) }

    /// The values of a slice over time.
    public struct Values: AsyncSequence, Sendable {
        let slice: MirrorSlice

        public func makeAsyncIterator() -> Iterator { Iterator(slice: slice) }

        /// One reader's position in the sequence.
        public struct Iterator: AsyncIteratorProtocol {
            let slice: MirrorSlice
            private var last: Value?

            init(slice: MirrorSlice) { self.slice = slice }

            /// The next value; `nil` at the end, or if the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async -> Value? {
                while !Task.isCancelled {
                    let version = slice.state.changed.version
                    let isEnded = slice.state.changed.isEnded
                    let value = slice.state.value.withLock { $0 }
                    if value != last {
                        last = value
                        return value
                    }
                    if isEnded { return nil }
                    await slice.state.changed.change(after: version)
                }
                return nil
            }
        }
    }
}

/// The last value of a slice.
private final class SliceState<Value: Equatable & Sendable>: Sendable {
    let value: Guarded<Value>
    let changed = ChangeSignal()

    init(_ value: Value) { self.value = Guarded(value) }

    /// Takes the value that `read` returns, and publishes it if it differs.
    func take(isLast: Bool, _ read: () -> Value) {
        let isNews = value.withLock { value in
            // A value read outside the lock might be older than the one another thread has stored.
            let next = read()
            guard value != next else { return false }
            value = next
            return true
        }
        if isNews || isLast { changed.publish(isLast: isLast) }
    }
}
