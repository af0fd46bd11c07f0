import ReactorThreads

/// The actions of a reactor, or its mutations, for a saga to take.
///
///     let total = try await saga.mutations.take { if case .added(let sum) = $0 { sum } else { nil } }
///
/// ``SagaContext`` has all functions for actions as well.
public struct SagaSource<R: Reactor, Element: Sendable>: Sendable {
    /// The function that runs for an element.
    public typealias Handler<Payload> = @Sendable (SagaContext<R>, Payload) async throws -> Void

    let saga: SagaContext<R>
    /// The element in a note, if the note is of this kind.
    let read: @Sendable (SagaNote<R>) -> Element?
    /// Converts an action to an element; `nil` for mutations, which cannot be refused.
    let asAction: (@Sendable (R.Action) -> Element)?
}

// MARK: - Taking one element
extension SagaSource {
    /// Waits for the first element for which `match` returns a value, and returns that value.
    ///
    /// Elements before it are skipped; elements after it are there for the next take. *Throws*:
    /// ``SagaError/missed(count:)`` if the log has dropped elements since the last take; the take
    /// after that continues from there.
    public func take<Payload: Sendable>(
        _ match: @escaping @Sendable (Element) -> Payload?
    ) async throws -> Payload {
        try saga.scope.pause(except: saga.position)
        let wait = SagaWait<Payload>(by: saga.runtime.lock)
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
        saga.host.perform { [position = saga.position] broker in
            broker?.remove(id)
            if position.cursor == nil { position.wakeNow() }
        }
    }

    /// Waits for the first element for which `match` returns a value; `nil` if none came within
    /// `timeout`.
    public func take<Payload: Sendable>(
        timeout: Duration, _ match: @escaping @Sendable (Element) -> Payload?
    ) async throws -> Payload? {
        try saga.scope.pause(except: saga.position)
        let wait = SagaWait<Payload?>(by: saga.runtime.lock)
        let id = listen(wait, match) { .some($0) }
        let (scope, position, host) = (saga.scope, saga.position, saga.host)
        // The timeout is ordered among the actions, so none is lost between them.
        let payload = try await wait.value(within: timeout, in: saga.runtime) {
            host.perform { broker in
                guard !wait.isGiven else { return }
                broker?.remove(id)
                position.wakeNow()
                scope.wake()
                wait.give(.success(nil))
            }
        } leave: {
            leave(id)
        }
        try saga.scope.check()
        return payload
    }

    /// Takes the first element for which `isWanted` is true.
    public func take(
        where isWanted: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element {
        try await take { isWanted($0) ? $0 : nil }
    }

    /// Takes the first element for which `isWanted` is true; `nil` if none came within `timeout`.
    public func take(
        timeout: Duration, where isWanted: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element? {
        try await take(timeout: timeout) { isWanted($0) ? $0 : nil }
    }

    /// Takes the next element.
    public func take() async throws -> Element { try await take { $0 } }

    /// Gives `wait` the first matching element.
    private func listen<Payload: Sendable, Answer: Sendable>(
        _ wait: SagaWait<Answer>, _ match: @escaping @Sendable (Element) -> Payload?,
        _ answer: @escaping @Sendable (Payload) -> Answer
    ) -> UInt64 {
        let (scope, position, host, read) = (saga.scope, saga.position, saga.host, read)
        let id = saga.runtime.newID()
        host.perform { broker in
            guard let broker else {
                wait.give(.failure(SagaError.gone(path: host.path)))
                return
            }
            let listener = SagaListener<R>(id) { number, note, _ in
                guard !wait.isGiven, scope.isOpen else { return false }
                guard let element = read(note), let payload = match(element) else {
                    position.pass(number &+ 1)
                    return true
                }
                position.take(number)
                scope.wake()
                wait.give(.success(answer(payload)))
                return false
            } lose: { error in
                wait.give(.failure(error))
            }
            do throws(SagaError) {
                guard !wait.isGiven else { return }
                try broker.listen(listener, from: position.cursor, except: position.skipped)
                // A wait that was given up in between has woken the position itself.
                scope.runtime.lock.withLock {
                    if !wait.isGivenWhileLocked { position.sleepWhileLocked() }
                }
            } catch {
                position.wakeNow()
                wait.give(.failure(error))
            }
        }
        return id
    }
}
