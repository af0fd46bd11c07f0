import Observation

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
        withObservationTracking({ reads.keep(body) }, onChange: { change.yield() })
        // because a change on the client's thread may be older than the observers of it
        if reads.haveMoved {
            // because what moves all the time must not keep everything else off this isolation
            await Task.yield()
            continue
        }
        for await _ in changes { break }
    }
}
