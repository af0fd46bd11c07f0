/// A long-lived piece of a reactor's behaviour, written as one asynchronous function.
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
/// A reactor's sagas start when it begins, once that is committed, and end with it. A saga sees
/// actions after their commit, in order; it changes nothing itself, it puts actions like any client.
/// Cancelling it cancels what it forked. An error of the saga or of one of its forks ends the saga and
/// goes to ``Reactor/error(_:action:state:)``; an error of what a handler began ends that run alone, and
/// goes there too.
public struct Saga<R: Reactor>: Sendable {
    let body: @Sendable (SagaContext<R>) async throws -> Void

    /// Makes a saga of its function.
    public init(_ body: @escaping @Sendable (SagaContext<R>) async throws -> Void) {
        self.body = body
    }
}
