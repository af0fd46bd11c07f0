import ReactorThreads

/// Elements that wait for sagas to take them, up to a capacity: buffering that somebody asked for.
///
/// Any number of sagas take from one channel; each element goes to one of them, in order.
/// *Owner*: any thread.
public final class SagaChannel<Element: Sendable>: Sendable {
    /// Most elements that wait.
    public let capacity: Int
    private let state = Guarded(State())
    /// What is done when nothing comes into it any more.
    private let ending = Guarded<(@Sendable () -> Void)?>(nil)

    private struct State {
        /// What waits, from ``next`` on.
        var elements: [Element] = []
        var next = 0
        var takers: [SagaWait<Element?>] = []
        var isClosed = false
        /// Why it was closed, if not because somebody wanted it.
        var failure: SagaError?
        /// Places that are kept for actions under way.
        var reserved = 0

        var count: Int { elements.count - next }

        mutating func removeFirst() -> Element {
            let first = elements[next]
            next += 1
            // because moving the rest each time would cost as much as there waits
            if next > 64, next > elements.count / 2 {
                elements.removeFirst(next)
                next = 0
            }
            return first
        }
    }

    /// Makes a channel that anybody can offer elements to.
    public init(capacity: Int) {
        precondition(capacity > 0, "a channel of capacity \(capacity) passes nothing")
        self.capacity = capacity
    }

    // because nobody can take from a channel that nobody holds
    deinit { end() }

    /// How many elements wait.
    public var count: Int { state.withLock { $0.count } }

    /// Whether it was closed.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Adds an element, unless the channel is full or closed; whether it did.
    @discardableResult
    public func offer(_ element: Element) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.count + state.reserved < capacity else { return false }
            add(element, &state)
            return true
        }
    }

    /// Closes the channel: what waits can still be taken, and then takes give nil.
    public func close() {
        state.withLock { state in
            state.isClosed = true
            for taker in state.takers { taker.give(.success(nil)) }
            state.takers = []
        }
        end()
    }

    /// Does `job` once: when the channel is closed, or nobody holds it any more.
    func whenEnded(_ job: @escaping @Sendable () -> Void) {
        ending.withLock { $0 = job }
        if isClosed { end() }
    }

    private func end() {
        let job = ending.withLock { job in
            defer { job = nil }
            return job
        }
        job?()
    }

    /// Gives `wait` the next element; nil, if there will be none.
    func take(_ wait: SagaWait<Element?>) {
        state.withLock { state in
            if state.count > 0 {
                // because a taker that gave up takes nothing
                if wait.give(.success(state.elements[state.next])) { _ = state.removeFirst() }
            } else if let failure = state.failure {
                wait.give(.failure(failure))
            } else if state.isClosed {
                wait.give(.success(nil))
            } else {
                state.takers.removeAll { $0.isGiven }
                state.takers.append(wait)
            }
        }
    }

    private func add(_ element: Element, _ state: inout State) {
        while !state.takers.isEmpty {
            if state.takers.removeFirst().give(.success(element)) { return }
        }
        state.elements.append(element)
    }

    // MARK: For what a reactor does

    /// Keeps a place; answers false where there is none.
    func reserve() -> Bool {
        state.withLock { state in
            if state.isClosed { return true }
            guard state.count + state.reserved < capacity else { return false }
            state.reserved += 1
            return true
        }
    }

    /// Gives a place back.
    func cancelReservation() {
        state.withLock { $0.reserved = max(0, $0.reserved - 1) }
    }

    /// Fills a place that was kept, or one beyond the capacity for what could not be refused.
    func fill(_ element: Element, isReserved: Bool) {
        state.withLock { state in
            if isReserved { state.reserved = max(0, state.reserved - 1) }
            if !state.isClosed { add(element, &state) }
        }
    }

    /// Adds what could not be refused; where there is no room for it, the channel ends with `failure`,
    /// which takes throw once they have taken what waits.
    func add(_ element: Element, orFail failure: SagaError) {
        let hasFailed = state.withLock { state in
            guard !state.isClosed else { return false }
            if state.count < capacity {
                add(element, &state)
                return false
            }
            state.isClosed = true
            state.failure = failure
            return true
        }
        if hasFailed { end() }
    }
}

// MARK: - Taking
extension SagaContext {
    /// Takes the next element of a channel; nil, if it is closed and nothing waits in it.
    public func take<Element: Sendable>(
        from channel: SagaChannel<Element>
    ) async throws -> Element? {
        try await pausing {
            try await waiting { channel.take($0) }
        }
    }

    /// Takes the next element of a channel; nil, if it is closed or none came within `timeout`.
    public func take<Element: Sendable>(
        from channel: SagaChannel<Element>, timeout: Duration
    ) async throws -> Element? {
        try await pausing {
            let wait = SagaWait<Element?>(by: room.lock)
            channel.take(wait)
            return try await wait.value(within: timeout, in: room) { wait.give(.success(nil)) }
        }
    }
}
