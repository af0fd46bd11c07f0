import ReactorThreads

// MARK: - Channels of actions and mutations
extension SagaSource {
    /// Opens a channel of the values that `match` returns for elements, from the saga's last
    /// resumption on, until the saga ends, closes it or releases it.
    ///
    /// While it is full, a matching action is rejected as `BUSY`: in a tree before it is decided,
    /// over a mirror before it is sent. Actions that were in progress when the channel was opened
    /// are kept beyond the capacity. Mutations cannot be refused: a mutation that finds the channel
    /// full closes it, and takes throw ``SagaError/overrun(path:capacity:)`` after the waiting
    /// elements.
    public func channel<Payload: Sendable>(
        of match: @escaping @Sendable (Element) -> Payload?, capacity: Int
    ) async throws -> SagaChannel<Payload> {
        try saga.scope.check()
        let channel = SagaChannel<Payload>(capacity: capacity)
        let id = saga.runtime.newID()
        let (host, scope, position) = (saga.host, saga.scope, saga.position)
        let (asAction, read) = (asAction, read)
        channel.whenEnded {
            host.perform { broker in
                scope.forgetEnding(id)
                broker?.remove(id)
            }
        }
        scope.whenEnding(id) { [weak channel] in channel?.close() }
        let cursor = position.resumed
        try await saga.waiting(Void.self) { wait in
            host.perform { broker in
                guard let broker else {
                    wait.give(.failure(SagaError.gone(path: host.path)))
                    return
                }
                let filling = SagaFilling(channel, host.path, isOfActions: asAction != nil)
                let listener = SagaListener<R>(id) { _, note, isAdmitted in
                    filling.hear(read(note).flatMap(match), isAdmitted: isAdmitted)
                } lose: { _ in
                    filling.channel?.close()
                }
                if let asAction {
                    listener.admit = { (action, _) throws(Rejection) in
                        if match(asAction(action)) != nil { try filling.admit() }
                    }
                    listener.withdraw = { action in
                        if match(asAction(action)) != nil { filling.channel?.cancelReservation() }
                    }
                }
                do throws(SagaError) {
                    try broker.listen(listener, from: cursor)
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

/// Fills a channel with matching elements of a reactor.
///
/// *Owner*: the broker's isolation.
private final class SagaFilling<Element: Sendable> {
    /// The channel; `nil` once no saga holds it.
    private(set) weak var channel: SagaChannel<Element>?
    private let path: String
    private let isOfActions: Bool
    /// Whether elements now come from the reactor and no longer from the log.
    var isLive = false

    init(_ channel: SagaChannel<Element>, _ path: String, isOfActions: Bool) {
        self.channel = channel
        self.path = path
        self.isOfActions = isOfActions
    }

    func admit() throws(Rejection) {
        guard let channel, !channel.reserve() else { return }
        throw Rejection(
            .busy, "\(path): \(channel.capacity) actions wait for a saga, the maximum: try again")
    }

    /// Receives an element, `nil` if it does not match; `isAdmitted` says that a slot is reserved
    /// for it. Returns whether it wants further elements.
    func hear(_ element: Element?, isAdmitted: Bool) -> Bool {
        guard let channel, !channel.isClosed else { return false }
        guard let element else { return true }
        if isLive, !isOfActions {
            channel.fill(element, orFail: .overrun(path: path, capacity: channel.capacity))
        } else {
            channel.fill(element, isReserved: isAdmitted)
        }
        return true
    }
}
