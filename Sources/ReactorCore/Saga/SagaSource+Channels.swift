import ReactorThreads

// MARK: - Channels of what a reactor does
extension SagaSource {
    /// Opens a channel of what `match` makes of elements, from the saga's last resumption on, until
    /// the saga ends, closes it or lets go of it.
    ///
    /// While it is full, an action that belongs into it is rejected as `BUSY`: in a tree before it is
    /// decided, over a mirror before it is sent. Actions that were under way when it was opened are
    /// kept beyond the capacity. Mutations cannot be refused: one that finds the channel full ends it,
    /// and who has taken what waits is told by ``SagaError/overrun(path:capacity:)``.
    public func channel<Payload: Sendable>(
        of match: @escaping @Sendable (Element) -> Payload?, capacity: Int
    ) async throws -> SagaChannel<Payload> {
        try saga.scope.check()
        let channel = SagaChannel<Payload>(capacity: capacity)
        let id = saga.room.newID()
        let (host, scope, ear, asAction, read) = (saga.host, saga.scope, saga.ear, asAction, read)
        channel.whenEnded {
            host.perform { desk in
                scope.forgetEnding(id)
                desk?.remove(id)
            }
        }
        scope.whenEnding(id) { [weak channel] in channel?.close() }
        let cursor = ear.resumed
        try await saga.waiting(Void.self) { wait in
            host.perform { desk in
                guard let desk else {
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
    /// The channel, while a saga holds it.
    private(set) weak var channel: SagaChannel<Element>?
    private let path: String
    private let isOfActions: Bool
    /// Whether what it hears is not from the log.
    var isLive = false

    init(_ channel: SagaChannel<Element>, _ path: String, isOfActions: Bool) {
        self.channel = channel
        self.path = path
        self.isOfActions = isOfActions
    }

    func admit() throws(Rejection) {
        guard let channel, !channel.reserve() else { return }
        throw Rejection(
            .busy, "\(path): \(channel.capacity) actions wait for a saga, the most: try again")
    }

    /// Hears an element, if it is one that matches; `isAdmitted` says that a place is kept for it.
    func hear(_ element: Element?, isAdmitted: Bool) -> Bool {
        guard let channel, !channel.isClosed else { return false }
        guard let element else { return true }
        if isLive, !isOfActions {
            channel.add(element, orFail: .overrun(path: path, capacity: channel.capacity))
        } else {
            channel.fill(element, isReserved: isAdmitted)
        }
        return true
    }
}
