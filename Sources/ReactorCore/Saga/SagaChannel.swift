import ReactorThreads

/// A bounded queue of elements that sagas take.
///
/// Any number of sagas take from one channel; each element goes to one of them, in order. *Owner*:
/// any thread.
public final class SagaChannel<Element: Sendable>: Sendable {
    /// Maximum number of waiting elements.
    public let capacity: Int
    private let state = Guarded(State())
    /// Called once no more elements can be added.
    private let ending = Guarded<(@Sendable () -> Void)?>(nil)

    private struct State {
        /// The waiting elements, from ``next`` on.
        var elements: [Element] = []
        var next = 0
        var takers: [SagaWait<Element?>] = []
        var isClosed = false
        /// Thrown by takes after the channel overflowed.
        var failure: SagaError?
        /// Number of slots reserved for actions in progress.
        var reserved = 0

        var count: Int { elements.count - next }

        mutating func removeFirst() -> Element {
            let first = elements[next]
            next += 1
            // Removing one element at a time would cost O(waiting elements) each time.
            if next > 64, next > elements.count / 2 {
                elements.removeFirst(next)
                next = 0
            }
            return first
        }
    }

    /// Makes a channel that accepts elements from any thread.
    public init(capacity: Int) {
        precondition(capacity > 0, "a channel of capacity \(capacity) passes nothing")
        self.capacity = capacity
    }

    // Without a holder, no saga can take from the channel.
    deinit { end() }

    /// Number of waiting elements.
    public var count: Int { state.withLock { $0.count } }

    /// Whether it was closed.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Adds an element, unless the channel is full or closed. Returns whether it did.
    @discardableResult
    public func offer(_ element: Element) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.count + state.reserved < capacity else { return false }
            enqueue(element, &state)
            return true
        }
    }

    /// Closes the channel: waiting elements can still be taken, then takes return `nil`.
    public func close() {
        state.withLock { state in
            state.isClosed = true
            for taker in state.takers { taker.give(.success(nil)) }
            state.takers = []
        }
        end()
    }

    /// Calls `job` once, when the channel is closed or deallocated.
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

    /// Gives `wait` the next element, or `nil` if there will be none.
    func take(_ wait: SagaWait<Element?>) {
        state.withLock { state in
            if state.count > 0 {
                // The wait of a cancelled or timed-out take accepts no element.
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

    private func enqueue(_ element: Element, _ state: inout State) {
        while !state.takers.isEmpty {
            if state.takers.removeFirst().give(.success(element)) { return }
        }
        state.elements.append(element)
    }

    // MARK: Elements from a reactor

    /// Reserves a slot. Returns false at the capacity.
    func reserve() -> Bool {
        state.withLock { state in
            if state.isClosed { return true }
            guard state.count + state.reserved < capacity else { return false }
            state.reserved += 1
            return true
        }
    }

    /// Releases a reserved slot.
    func cancelReservation() {
        state.withLock { $0.reserved = max(0, $0.reserved - 1) }
    }

    /// Fills a reserved slot, or adds an element that could not be refused beyond the capacity.
    func fill(_ element: Element, isReserved: Bool) {
        state.withLock { state in
            if isReserved { state.reserved = max(0, state.reserved - 1) }
            if !state.isClosed { enqueue(element, &state) }
        }
    }

    /// Adds an element that could not be refused. At the capacity, the channel closes with
    /// `failure`, which takes throw after the waiting elements.
    func fill(_ element: Element, orFail failure: SagaError) {
        let hasFailed = state.withLock { state in
            guard !state.isClosed else { return false }
            if state.count < capacity {
                enqueue(element, &state)
                return false
            }
            state.isClosed = true
            state.failure = failure
            return true
        }
        if hasFailed { end() }
    }
}
