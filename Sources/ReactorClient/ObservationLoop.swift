import Observation

/// Runs `body` now, and again whenever something observable that it read has changed, until the
/// task is cancelled.
///
///     await rerunningOnChange { label.text = "\(visits.count) visits, \(settings.theme)" }
///
/// What changes while `body` runs, or faster than it, makes one run more, never none: the last run
/// saw the last change.
public func rerunningOnChange(
    isolation: isolated (any Actor)? = #isolation, _ body: () -> Void
) async {
    while !Task.isCancelled {
        let (changes, change) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        withObservationTracking(body) { change.yield() }
        for await _ in changes { break }
    }
}
