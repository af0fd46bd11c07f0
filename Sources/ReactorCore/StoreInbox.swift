import ReactorThreads

/// Jobs on their way to a store.
final class StoreInbox: Sendable {
    private let mailbox: Mailbox<@Sendable (Tree) -> Void>

    init(wake: @escaping @Sendable () -> Void) { mailbox = Mailbox(ring: wake) }

    func post(_ job: @escaping @Sendable (Tree) -> Void) { mailbox.post(job) }

    func take() -> [@Sendable (Tree) -> Void] { mailbox.drain() }
}
