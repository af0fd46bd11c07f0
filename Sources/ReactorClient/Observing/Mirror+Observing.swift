import Observation
public import ReactorCore

extension Mirror {
    /// The values of a field: the current value, then each value that differs from its predecessor.
    /// A slow reader gets the latest value and misses those in between.
    ///
    /// Ends when the mirror fails or its client is closed; ``phase`` says why.
    public func states<Value: Equatable & Sendable>(
        _ field: any KeyPath<R.State, Value> & Sendable
    ) -> MirrorStates<R, Value> {
        MirrorStates(mirror: self, field: field)
    }

    /// The values of the whole state; see ``states(_:)``.
    public func states() -> MirrorStates<R, R.State> where R.State: Equatable {
        states(\.self)
    }

    /// The values of a ``Pulse`` (`\.$alert`) or a ``Stamped`` (`\.report`): one for each
    /// assignment from now on, even of an equal value.
    ///
    /// A reader that starts late, or reconnects, does not get earlier assignments; a slow reader
    /// gets the latest. If the daemon has another history after a reconnect, the reader starts
    /// again from the present value, without a pulse.
    ///
    /// A mirror that follows the value, or whose reactor is a ``HandlingReactor``, receives states
    /// as a whole. A state that replaces another starts its counts again: if it has the same count
    /// as before, the reader gets its value only if that differs.
    public func pulse<Pulsing: Counted & Sendable>(
        _ field: any KeyPath<R.State, Pulsing> & Sendable
    ) -> MirrorPulses<R, Pulsing> {
        MirrorPulses(mirror: self, field: field)
    }

    /// A part of the state that notifies observers only when its value differs.
    public func slice<Value: Equatable & Sendable>(
        _ field: any KeyPath<R.State, Value> & Sendable
    ) -> MirrorSlice<R, Value> {
        MirrorSlice(self) { $0[keyPath: field] }
    }
}

/// Runs `body` now, and again whenever a value that it observed has changed, until the task is
/// cancelled.
///
///     await rerunningOnChange { label.text = "\(visits.count) visits, \(settings.theme)" }
///
/// Several changes of a mirror during one run of `body` cause one more run: the last run sees the
/// last change. For any other `Observable`, this holds if it changes on the isolation of the
/// caller: Swift's observation misses changes by other threads while `body` runs.
public func rerunningOnChange(
    isolation: isolated (any Actor)? = #isolation, _ body: () -> Void
) async {
    while !Task.isCancelled {
        let (changes, change) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reads = ReadLog()
        withObservationTracking({ reads.collect(body) }, onChange: { change.yield() })
        // A change on the client's thread may precede the installation of the observers.
        if reads.haveMoved {
            // A mirror that changes constantly must not keep other work off this isolation.
            await Task.yield()
            continue
        }
        for await _ in changes { break }
    }
}
