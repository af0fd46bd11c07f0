public import ReactorCore
import ReactorThreads

/// The values of a counted field over time, one for each assignment.
public struct MirrorPulses<R: Reactor, Pulsing: Counted & Sendable>: AsyncSequence, Sendable {
    let mirror: Mirror<R>
    let field: any KeyPath<R.State, Pulsing> & Sendable

    /// Starts now: earlier assignments are left out.
    public func makeAsyncIterator() -> Iterator { Iterator(mirror: mirror, field: field) }

    /// One reader's position in the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let mirror: Mirror<R>
        let field: any KeyPath<R.State, Pulsing> & Sendable
        private var epoch: UInt64
        private var listener: PulseListener<Pulsing>

        init(mirror: Mirror<R>, field: any KeyPath<R.State, Pulsing> & Sendable) {
            self.mirror = mirror
            self.field = field
            let now = Self.read(mirror, field)
            epoch = now.epoch
            listener = PulseListener(now.pulse)
        }

        private static func read(
            _ mirror: Mirror<R>, _ field: any KeyPath<R.State, Pulsing> & Sendable
        ) -> (epoch: UInt64, pulse: Pulsing) {
            mirror.replica.withLock { replica in
                // One lock guards the revision and the state.
                (mirror.shared.revision.whileLocked { $0.epoch }, replica.state[keyPath: field])
            }
        }

        /// The next value, once it is assigned; `nil` at the end, or if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Pulsing.Value? {
            while !Task.isCancelled {
                let version = mirror.changed.version
                let isEnded = mirror.changed.isEnded
                let now = Self.read(mirror, field)
                if now.epoch != epoch {
                    epoch = now.epoch
                    listener = PulseListener(now.pulse)
                }
                if listener.isTold(of: now.pulse) { return now.pulse.value }
                if isEnded { return nil }
                await mirror.changed.change(after: version)
            }
            return nil
        }
    }
}
