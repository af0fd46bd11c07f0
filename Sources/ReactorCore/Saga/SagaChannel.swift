import ReactorThreads

/// Elements that wait for sagas to take them, up to a capacity: buffering that somebody asked for.
///
/// Any number of sagas take from one channel; each element goes to one of them, in order.
/// *Owner*: any thread.
public final class SagaChannel<Element: Sendable>: Sendable {
    /// Most elements that wait.
    public let capacity: Int
    private let state = Guarded(State())

    private struct State {
        /// What waits, from ``next`` on.
        var elements: [Element] = []
        var next = 0
        var takers: [SagaWait<Element?>] = []
        var isClosed = false
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
    }

    /// Gives `wait` the next element; nil, if there will be none.
    func take(_ wait: SagaWait<Element?>) {
        state.withLock { state in
            if state.count > 0 {
                // because a taker that gave up takes nothing
                if wait.give(.success(state.elements[state.next])) { _ = state.removeFirst() }
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

    // MARK: For actions

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
            return try await wait.value(within: timeout, in: room) {}
        }
    }
}

// MARK: - Channels of actions
extension SagaSource {
    /// Opens a channel of what `match` makes of elements, from the saga's last resumption on, until
    /// the saga ends or closes it.
    ///
    /// While it is full, an action that belongs into it is rejected as `BUSY` before anything is
    /// decided; mutations, and actions that were under way when it was opened, cannot be refused and
    /// are kept beyond the capacity.
    public func channel<Payload: Sendable>(
        of match: @escaping @Sendable (Element) -> Payload?, capacity: Int
    ) async throws -> SagaChannel<Payload> {
        try saga.scope.check()
        let channel = SagaChannel<Payload>(capacity: capacity)
        let id = saga.room.newID()
        let (host, ear, asAction, read) = (saga.host, saga.ear, asAction, read)
        saga.scope.whenDecided { _ in
            channel.close()
            host.perform { $0?.remove(id) }
        }
        let cursor = ear.cursor
        try await saga.waiting(Void.self) { wait in
            host.perform { desk in
                guard let desk else {
                    wait.give(.failure(SagaError.gone(path: host.path)))
                    return
                }
                let filling = SagaFilling(channel, host.path, underWay: desk.admittedCount)
                let listener = SagaListener<R>(id) { _, note in
                    filling.hear(note, read(note).flatMap(match))
                } lose: { _ in
                    channel.close()
                }
                if let asAction {
                    listener.admit = { (action, _) throws(Rejection) in
                        if match(asAction(action)) != nil { try filling.admit() }
                    }
                    listener.withdraw = { action in
                        if match(asAction(action)) != nil { channel.cancelReservation() }
                    }
                }
                do throws(SagaError) {
                    try desk.listen(listener, from: cursor)
                    filling.isLive = true
                    wait.give(.success(()))
                } catch {
                    wait.give(.failure(error))
                }
            }
        }
        return channel
    }
}

/// Fills a channel with what a reactor does.
///
/// *Owner*: the desk's isolation.
private final class SagaFilling<Element: Sendable> {
    private let channel: SagaChannel<Element>
    private let path: String
    /// Actions that were let in before the channel was there, and that have no place in it.
    private var underWay: Int
    /// Whether what it hears is not from the log.
    var isLive = false

    init(_ channel: SagaChannel<Element>, _ path: String, underWay: Int) {
        self.channel = channel
        self.path = path
        self.underWay = underWay
    }

    func admit() throws(Rejection) {
        guard !channel.reserve() else { return }
        throw Rejection(
            .busy, "\(path): \(channel.capacity) actions wait for a saga, the most: try again")
    }

    func hear<R>(_ note: SagaNote<R>, _ element: Element?) -> Bool {
        var isReserved = false
        if isLive, case .action = note {
            isReserved = underWay == 0
            if underWay > 0 { underWay -= 1 }
        }
        if let element { channel.fill(element, isReserved: isReserved) }
        return !channel.isClosed
    }
}
