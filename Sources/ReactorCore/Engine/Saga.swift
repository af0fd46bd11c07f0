/// A long-running behaviour of a reactor, written as one asynchronous function.
///
///     static func search(_ saga: SagaContext<Tracker>) async throws {
///         saga.takeLatest {
///             if case .search(let text) = $0 { text } else { nil }
///         } do: { saga, text in
///             try await saga.sleep(for: .milliseconds(300))
///             try await saga.put(.run(text))
///         }
///     }
///
///     var sagas: [Saga<Self>] { [Saga(Self.search)] }
///
/// A reactor's sagas start once its start is committed, and end with the reactor. A saga sees
/// actions after their commit, in order. It changes nothing itself: it dispatches actions, like a
/// client. Cancelling it cancels its forks. An error of the saga or of one of its forks ends the
/// saga and goes to ``Reactor/error(_:action:state:)``; an error of a handler's run ends that run
/// alone, and goes there too.
public struct Saga<R: Reactor>: Sendable {
    /// Starts it at a node of a tree, once the current transaction is committed.
    let begin: @Sendable (Node<R>, Tree) -> Void
}
