import ReactorThreads

/// When a handler begins a saga for an element that matches.
enum SagaPolicy: Sendable {
    case every
    case leading
    case latest
    case debounced(Duration)
    case throttled(Duration)
}

/// Begins sagas for what matches.
///
/// *Owner*: the desk's isolation, where it is called for each element in the order of the commits.
final class SagaHandler<R: Reactor, Payload: Sendable> {
    private let policy: SagaPolicy
    private let scope: SagaScope
    private let host: any SagaHost<R>
    private let log: SagaLog<R>
    private let body: SagaSource<R, Payload>.Handler<Payload>
    /// The saga that was begun last.
    private var latest: SagaScope?
    /// When a throttled element was accepted last.
    private var acceptedAt: Duration?
    private let pending: Guarded<Pending?>

    /// The element that a debounced handler waits with.
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
        pending = Guarded(nil, by: scope.room.lock)
    }

    /// Takes the element that matches in note `number`; `cause` is the action that this is.
    func accept(_ payload: Payload, _ number: UInt64, _ cause: R.Action?) {
        switch policy {
        case .every: begin(payload, number, cause)
        case .leading:
            if latest?.isOver ?? true { latest = begin(payload, number, cause) }
        case .latest:
            latest?.cancel()
            latest = begin(payload, number, cause)
        case .debounced(let quiet): wait(quiet, with: payload, cause)
        case .throttled(let window):
            let now = scope.room.clock.now
            if let acceptedAt, now - acceptedAt < window { return }
            acceptedAt = now
            begin(payload, number, cause)
        }
    }

    // because a saga is to hear what comes after the element that it was begun for
    @discardableResult
    private func begin(_ payload: Payload, _ number: UInt64, _ cause: R.Action?) -> SagaScope {
        let child = scope.child(.handled, for: cause)
        let ear = SagaEar(log, from: number &+ 1)
        child.adopt(ear)
        let context = SagaContext(host: host, scope: child, ear: ear)
        child.start { [body] in try await body(context, payload) }
        return child
    }

    // One task is enough for all of a burst: it looks again when the first is due.
    private func wait(_ quiet: Duration, with payload: Payload, _ cause: R.Action?) {
        let clock = scope.room.clock
        let isWaiting = pending.withLock { pending in
            defer { pending = Pending(payload: payload, cause: cause, due: clock.now + quiet) }
            return pending != nil
        }
        if isWaiting { return }
        let child = scope.child(.handled)
        let ear = SagaEar(log)
        child.adopt(ear)
        let context = SagaContext(host: host, scope: child, ear: ear)
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
                    child.begin(for: last.cause)
                    child.wake()
                    return try await body(context, last.payload)
                }
                due = next
            }
        }
    }
}
