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
/// saga, which starts again as its ``SagaRestart`` says; the reactor learns of it in
/// ``Reactor/sagaFailed(_:state:context:)``. An error of a handler's run ends that run alone, and
/// goes to ``Reactor/error(_:action:state:context:)``.
public struct Saga<R: Reactor>: Sendable {
    /// Starts it at a node of a tree, once the current transaction is committed.
    let begin: @Sendable (Node<R>, Tree) -> Void
}

/// Whether a reactor's saga starts again after it has ended with an error.
///
///     Saga("watch", restart: .backoff(most: .seconds(10), giveUpAfter: 5)) { saga in ... }
///
/// A saga that returns, or that is cancelled, does not start again. The tree's clock measures the
/// pauses.
public struct SagaRestart: Sendable, Hashable {
    /// Pause after the first failure; negative if the saga never starts again.
    let first: Duration
    /// Number by which each pause is multiplied for the next.
    let factor: Double
    /// Longest pause.
    let most: Duration
    /// Number of failures within ``window`` that end the saga for good; `nil` without a limit.
    let failuresMax: Int?
    /// Time after which a failure no longer counts. A run that lasted as long begins again with
    /// the first pause.
    let window: Duration

    /// The saga does not start again.
    public static let never = SagaRestart(
        first: .seconds(-1), factor: 1, most: .zero, failuresMax: nil, window: .zero)

    /// The saga starts again after `first`, which may be zero, and after each further failure
    /// after a pause `factor` times as long, at most `most`. With `giveUpAfter`, it ends for good
    /// at that many failures within the time `window`.
    ///
    /// A run that lasted for `window` without failing begins again with the first pause.
    ///
    /// *Traps*: if `first` is negative, `factor` is below 1 or infinite, or `giveUpAfter` is not
    /// positive.
    public static func backoff(
        first: Duration = .milliseconds(100), factor: Double = 2, most: Duration = .seconds(30),
        giveUpAfter failuresMax: Int? = nil, within window: Duration = .seconds(60)
    ) -> SagaRestart {
        precondition(first >= .zero, "a pause of \(first) is in the past")
        precondition(
            factor >= 1 && factor.isFinite, "with a factor of \(factor), the pauses do not grow")
        precondition(
            failuresMax ?? 1 > 0, "a saga cannot give up after \(failuresMax ?? 0) failures")
        return SagaRestart(
            first: first, factor: factor, most: max(first, most), failuresMax: failuresMax,
            window: window)
    }
}

/// The failure of a reactor's saga, for ``Reactor/sagaFailed(_:state:context:)``.
public struct SagaFailure: Sendable {
    /// The name of the saga; empty if it has none.
    public let name: String
    /// The error with which it ended.
    public let error: any Error
    /// Number of the failure, from 1. It begins again at 1 after a run that lasted for the
    /// `window` of the ``SagaRestart``.
    public let attempt: Int
    /// The pause until the saga starts again; `nil` if it does not.
    public let restartsAfter: Duration?

    /// Makes a failure of its parts.
    public init(name: String, error: any Error, attempt: Int = 1, restartsAfter: Duration? = nil) {
        self.name = name
        self.error = error
        self.attempt = attempt
        self.restartsAfter = restartsAfter
    }
}

/// Counts what became of the failed sagas of a tree's reactors.
package struct SagaCounts: Equatable, Sendable {
    /// Number of times that a failed saga started again.
    package internal(set) var restarts: UInt64 = 0
    /// Number of sagas that ended for good, as they had failed too often.
    package internal(set) var givenUp: UInt64 = 0
}
