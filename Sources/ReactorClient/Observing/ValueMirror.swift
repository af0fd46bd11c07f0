public import Observation
public import ReactorCore
import ReactorThreads

/// A typed copy of the value of any slice, kept up to date by the daemon: for a program that has a
/// type of the value's shape, and not the reactor.
///
///     let settings = try await client.mirror(value: Settings.self, at: "/settings")
///     print(settings.value.theme)
///
/// A value has exactly the fields of the type: an unknown or a missing field ends the mirror with
/// ``ClientError/incompatible(path:_:)``, which names it. A slice without a value counts as null,
/// so an optional type shows it as `nil`.
///
/// It runs no `reduce`, sends nothing, and moves together with all mirrors of its client.
///
/// *Owner*: any thread. The client follows the slice until the last reference to the mirror is
/// released.
public final class ValueMirror<Value: WireCodable & Sendable>: Observable, Sendable {
    /// Path of the slice.
    public let path: String
    let cells: ValueCells<Value>
    private let shared: SharedState

    init(_ value: Value, at path: String, on shared: SharedState) {
        self.path = path
        self.shared = shared
        cells = ValueCells(value, by: shared.lock)
    }

    deinit { shared.release() }

    /// The value, as of ``revision``.
    public var value: Value {
        cells.changed.access()
        return cells.shown.withLock { $0.value }
    }

    /// The revision of the value; the same for all mirrors of a client.
    public var revision: Revision {
        shared.moved.access()
        return shared.revision.withLock { $0 }
    }

    /// The state of the mirror's connection, or the error that ended the mirror.
    public var phase: ClientPhase {
        cells.changed.access()
        return cells.phase.withLock { $0 }
    }

    /// The values over time, conflated to the latest: first the current one.
    public func values() -> Values { Values(mirror: self) }

    /// The values of a mirror over time.
    public struct Values: AsyncSequence, Sendable {
        let mirror: ValueMirror

        public func makeAsyncIterator() -> Iterator { Iterator(mirror: mirror) }

        /// One reader's position in the sequence.
        public struct Iterator: AsyncIteratorProtocol {
            let mirror: ValueMirror
            private var seen: UInt64 = 0

            init(mirror: ValueMirror) { self.mirror = mirror }

            /// The next value; `nil` at the end, or if the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async -> Value? {
                let cells = mirror.cells
                while !Task.isCancelled {
                    let version = cells.changed.version
                    let isEnded = cells.changed.isEnded
                    let now = cells.shown.withLock { $0 }
                    if now.count != seen {
                        seen = now.count
                        return now.value
                    }
                    if isEnded { return nil }
                    await cells.changed.change(after: version)
                }
                return nil
            }
        }
    }
}

/// The value and the phase of a mirrored value, which its sink changes.
struct ValueCells<Value: Sendable>: Sendable {
    let shown: Guarded<Shown>
    let phase: Guarded<ClientPhase>
    let changed = ChangeSignal()

    struct Shown: Sendable {
        var value: Value
        /// Number of values so far.
        var count: UInt64 = 1
    }

    init(_ value: Value, by lock: Lock) {
        shown = Guarded(Shown(value: value), by: lock)
        phase = Guarded(.live, by: lock)
    }
}
