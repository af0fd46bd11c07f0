import ReactorThreads

/// What a saga can take: the actions of a reactor, or its mutations.
///
///     let total = try await saga.mutations.take { if case .added(let sum) = $0 { sum } else { nil } }
///
/// Everything that is here for actions stands on ``SagaContext`` as well.
public struct SagaSource<R: Reactor, Element: Sendable>: Sendable {
    let saga: SagaContext<R>
    /// The element that a note holds, if it is one of these.
    let read: @Sendable (SagaNote<R>) -> Element?
    /// The element that an action is, where these are actions: then it can be refused.
    let asAction: (@Sendable (R.Action) -> Element)?
}

extension SagaContext {
    /// The reactor's actions, once they are committed.
    public var actions: SagaSource<R, R.Action> {
        SagaSource(
            saga: self,
            read: { note in if case .action(let action) = note { action } else { nil } },
            asAction: { $0 })
    }

    /// The reactor's mutations, once they are committed: those of effects too, and, over a mirror, of
    /// everybody's actions.
    public var mutations: SagaSource<R, R.Mutation> {
        SagaSource(
            saga: self,
            read: { note in if case .mutation(let mutation) = note { mutation } else { nil } },
            asAction: nil)
    }
}

// MARK: - One
extension SagaSource {
    /// Takes what something can be made of: waits for the first, and gives what `match` makes of it.
    ///
    /// What stood before it is passed over; what came behind it is there for the next take.
    /// *Throws*: ``SagaError/missed(count:)`` where more came since the last take than is kept; the
    /// take after that goes on from there.
    public func take<Payload: Sendable>(
        _ match: @escaping @Sendable (Element) -> Payload?
    ) async throws -> Payload {
        try saga.scope.pause(except: saga.ear)
        let wait = SagaWait<Payload>(by: saga.room.lock)
        let id = listen(wait, match) { $0 }
        do {
            let payload = try await wait.value()
            try saga.scope.check()
            return payload
        } catch {
            leave(id)
            throw error
        }
    }

    /// Ends a take whose task was cancelled.
    private func leave(_ id: UInt64) {
        saga.host.perform { [ear = saga.ear] desk in
            desk?.remove(id)
            if ear.cursor == nil { ear.wakeNow() }
        }
    }

    /// Takes what something can be made of, or gives nil where it has not come within `timeout`.
    public func take<Payload: Sendable>(
        timeout: Duration, _ match: @escaping @Sendable (Element) -> Payload?
    ) async throws -> Payload? {
        try saga.scope.pause(except: saga.ear)
        let wait = SagaWait<Payload?>(by: saga.room.lock)
        let id = listen(wait, match) { .some($0) }
        let (scope, ear, host) = (saga.scope, saga.ear, saga.host)
        // The end of the time has its place among the actions: none is lost between them.
        let payload = try await wait.value(within: timeout, in: saga.room) {
            host.perform { desk in
                guard !wait.isGiven else { return }
                desk?.remove(id)
                ear.wakeNow()
                scope.wake()
                wait.give(.success(nil))
            }
        } leave: {
            leave(id)
        }
        try saga.scope.check()
        return payload
    }

    /// Takes the first that `isWanted` says.
    public func take(
        where isWanted: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element {
        try await take { isWanted($0) ? $0 : nil }
    }

    /// Takes the first that `isWanted` says, or gives nil where it has not come within `timeout`.
    public func take(
        timeout: Duration, where isWanted: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element? {
        try await take(timeout: timeout) { isWanted($0) ? $0 : nil }
    }

    /// Takes the next, whatever it is.
    public func take() async throws -> Element { try await take { $0 } }

    /// Gives `wait` the first that matches.
    private func listen<Payload: Sendable, Answer: Sendable>(
        _ wait: SagaWait<Answer>, _ match: @escaping @Sendable (Element) -> Payload?,
        _ answer: @escaping @Sendable (Payload) -> Answer
    ) -> UInt64 {
        let (scope, ear, host, read) = (saga.scope, saga.ear, saga.host, read)
        let id = saga.room.newID()
        host.perform { desk in
            guard let desk else {
                wait.give(.failure(SagaError.gone(path: host.path)))
                return
            }
            let listener = SagaListener<R>(id) { number, note, _ in
                guard !wait.isGiven, scope.isOpen else { return false }
                guard let element = read(note), let payload = match(element) else {
                    ear.pass(number &+ 1)
                    return true
                }
                ear.take(number)
                scope.wake()
                wait.give(.success(answer(payload)))
                return false
            } lose: { error in
                wait.give(.failure(error))
            }
            do throws(SagaError) {
                guard !wait.isGiven else { return }
                try desk.listen(listener, from: ear.cursor, except: ear.skipped)
                // A saga that gave up meanwhile is awake by its own doing.
                scope.room.lock.withLock {
                    if !wait.isGivenWhileLocked { ear.sleepWhileLocked() }
                }
            } catch {
                ear.wakeNow()
                wait.give(.failure(error))
            }
        }
        return id
    }
}
