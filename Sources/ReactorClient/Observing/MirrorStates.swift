public import ReactorCore
import ReactorThreads

/// The values of a mirrored field over time, without consecutive duplicates.
public struct MirrorStates<R: Reactor, Value: Equatable & Sendable>: AsyncSequence, Sendable {
    let mirror: Mirror<R>
    let field: any KeyPath<R.State, Value> & Sendable

    /// Starts again with the current value.
    public func makeAsyncIterator() -> Iterator { Iterator(mirror: mirror, field: field) }

    /// One reader's position in the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let mirror: Mirror<R>
        let field: any KeyPath<R.State, Value> & Sendable
        private var last: Value?

        init(mirror: Mirror<R>, field: any KeyPath<R.State, Value> & Sendable) {
            self.mirror = mirror
            self.field = field
        }

        /// The next value; `nil` at the end, or if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Value? {
            while !Task.isCancelled {
                let version = mirror.changed.version
                let isEnded = mirror.changed.isEnded
                let value = mirror.replica.withLock { $0.shown[keyPath: field] }
                if value != last {
                    last = value
                    return value
                }
                if isEnded { return nil }
                await mirror.changed.change(after: version)
            }
            return nil
        }
    }
}
