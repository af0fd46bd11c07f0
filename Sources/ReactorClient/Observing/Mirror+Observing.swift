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

    /// The states, as ``states(_:)`` of a field.
    public func states() -> MirrorStates<R, R.State> where R.State: Equatable {
        states(\.self)
    }
}

extension Mirror {
    /// The values of a ``Pulse`` (`\.$alert`) or a ``Stamped`` (`\.report`) each time that they are
    /// assigned from now on, even if to the same.
    ///
    /// A reader that starts late, or comes back after a lost connection, does not get what was before;
    /// a slow reader gets the latest. What a daemon with another history holds is where the reader
    /// starts, and no pulse.
    public func pulse<Pulsing: Counted & Sendable>(
        _ field: any KeyPath<R.State, Pulsing> & Sendable
    ) -> MirrorPulses<R, Pulsing> {
        MirrorPulses(mirror: self, field: field)
    }
}

extension Mirror {
    /// A part of the state that tells of its changes only when its value differs.
    public func slice<Value: Equatable & Sendable>(
        _ field: any KeyPath<R.State, Value> & Sendable
    ) -> MirrorSlice<R, Value> {
        MirrorSlice(self) { $0[keyPath: field] }
    }
}

/// Runs `body` now, and again whenever something observable that it read has changed, until the
/// task is cancelled.
///
///     await rerunningOnChange { label.text = "\(visits.count) visits, \(settings.theme)" }
///
/// What changes of a mirror while `body` runs, or faster than it, makes one run more, never none: the
/// last run saw the last change. Of another `Observable` that holds where it changes on the isolation
/// that this runs on: Swift's observation does not see what others change while `body` runs.
public func rerunningOnChange(
    isolation: isolated (any Actor)? = #isolation, _ body: () -> Void
) async {
    while !Task.isCancelled {
        let (changes, change) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reads = ReadLog()
        withObservationTracking({ reads.collect(body) }, onChange: { change.yield() })
        // A change on the client's thread may be older than the observers of it.
        if reads.haveMoved {
            // A mirror that moves all the time must not keep other work off this isolation.
            await Task.yield()
            continue
        }
        for await _ in changes { break }
    }
}
