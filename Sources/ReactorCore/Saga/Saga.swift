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
/// actions after their commit, in order; it changes nothing itself, it puts actions like anybody
/// else. Cancelling it cancels what it forked; an error of a fork is its own; one that nobody
/// catches ends the saga and goes to ``Reactor/error(_:action:state:)``.
public struct Saga<R: Reactor>: Sendable {
    let body: @Sendable (SagaContext<R>) async throws -> Void

    /// Makes a saga of its function.
    public init(_ body: @escaping @Sendable (SagaContext<R>) async throws -> Void) {
        self.body = body
    }
}
