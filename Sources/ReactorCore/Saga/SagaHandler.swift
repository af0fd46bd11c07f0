import ReactorThreads

/// How a handler treats a matching element while earlier runs continue.
enum SagaPolicy: Sendable {
    case every
    case leading
    case latest
    case debounced(Duration)
    case throttled(Duration)
}

/// Starts sagas for matching elements.
///
/// *Owner*: the broker's isolation, which calls it for each element in the order of the commits.
final class SagaHandler<R: Reactor, Payload: Sendable> {
    private let policy: SagaPolicy
    private let scope: SagaScope
    private let host: any SagaHost<R>
    private let log: SagaLog<R>
    private let body: SagaSource<R, Payload>.Handler<Payload>
    /// The saga started last.
    private var latest: SagaScope?
    /// The time of the last accepted element of a throttled handler.
    private var acceptedAt: Duration?
    private let pending: Guarded<Pending?>

    /// The waiting element of a debounced handler.
    private struct Pending {
        var payload: Payload
        var cause: R.Action?
        var due: Duration
    }

    init(
        _ policy: SagaPolicy, _ scope: SagaScope, _ host: any SagaHost<R>, _ log: SagaLog<R>,
        _ body: @escaping SagaSource<R, Payload>.Handler<Payload>
    ) {
        self.policy = policy
        self.scope = scope
        self.host = host
        self.log = log
        self.body = body
        pending = Guarded(nil, by: scope.runtime.lock)
    }

    /// Handles the matching element of note `number`; `cause` is its action, if it is one.
    func accept(_ payload: Payload, _ number: UInt64, _ cause: R.Action?) {
        switch policy {
        case .every: startRun(payload, number, cause)
        case .leading:
            if latest?.isOver ?? true { latest = startRun(payload, number, cause) }
        case .latest:
            latest?.cancel()
            latest = startRun(payload, number, cause)
        case .debounced(let quiet): wait(quiet, with: payload, cause)
        case .throttled(let window):
            let now = scope.runtime.clock.now
            if let acceptedAt, now - acceptedAt < window { return }
            acceptedAt = now
            startRun(payload, number, cause)
        }
    }

    // The saga sees the notes after the element for which it was started.
    @discardableResult
    private func startRun(_ payload: Payload, _ number: UInt64, _ cause: R.Action?) -> SagaScope {
        let child = scope.child(.handled, for: cause)
        let position = SagaPosition(log, from: number &+ 1)
        child.adopt(position)
        let context = SagaContext(host: host, scope: child, position: position)
        child.start { [body] in try await body(context, payload) }
        return child
    }

    // One task serves a whole burst: when its time comes, it checks for a later element.
    private func wait(_ quiet: Duration, with payload: Payload, _ cause: R.Action?) {
        let clock = scope.runtime.clock
        let isWaiting = pending.withLock { pending in
            defer { pending = Pending(payload: payload, cause: cause, due: clock.now + quiet) }
            return pending != nil
        }
        if isWaiting { return }
        let child = scope.child(.handled)
        let position = SagaPosition(log)
        child.adopt(position)
        let context = SagaContext(host: host, scope: child, position: position)
        child.start { [pending, body] in
            try child.pause()
            var due = pending.withLock { $0?.due ?? .zero }
            while true {
                try await clock.sleep(until: due)
                let (last, next) = pending.withLock { pending -> (Pending?, Duration) in
                    guard let last = pending, last.due > due else {
                        defer { pending = nil }
                        return (pending, due)
                    }
                    return (nil, last.due)
                }
                if let last {
                    child.setCause(last.cause)
                    child.wake()
                    return try await body(context, last.payload)
                }
                due = next
            }
        }
    }
}
