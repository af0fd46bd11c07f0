import ReactorCore
import ReactorThreads

/// The sagas of one mirror: the events that they receive, and which of them run.
///
/// *Owner*: the client's thread delivers events; any thread may start a saga.
final class MirrorSagas<R: Reactor>: Sendable {
    /// The clock and the executor of the client's sagas.
    let runtime: SagaRuntime
    /// Raised with the first saga: a mirror without sagas checks only this flag.
    private let hasSagas = Flag()
    private let state = Guarded(State())

    private struct State {
        var broker: SagaBroker<R>?
        /// True once the mirror has ended.
        var isEnded = false
        /// Mutations that take effect with the present commit.
        var staged: [R.Mutation] = []
        var top: [ObjectIdentifier: SagaScope] = [:]
    }

    init(_ runtime: SagaRuntime) { self.runtime = runtime }

    var isHeard: Bool { hasSagas.isUp }

    /// The broker through which sagas receive the mirror's events. The first call makes it; `nil`
    /// once the mirror has ended.
    func broker(_ make: () -> SagaBroker<R>) -> SagaBroker<R>? {
        let broker = state.withLock { state in
            if state.isEnded { return Confined<SagaBroker<R>?>(nil) }
            let broker = state.broker ?? make()
            state.broker = broker
            return Confined(broker)
        }
        hasSagas.raise()
        return broker.open()
    }

    /// Adds a top-level saga, to be cancelled when the mirror ends.
    func adopt(_ scope: SagaScope) {
        let id = ObjectIdentifier(scope)
        let isEnded = state.withLock { state in
            if !state.isEnded { state.top[id] = scope }
            return state.isEnded
        }
        if isEnded { return scope.fail(Self.ended) }
        scope.whenOver { [weak self] in
            self?.state.withLock { state in _ = state.top.removeValue(forKey: id) }
        }
    }

    // MARK: On the client's thread

    /// Records the mutations that the replica is about to apply.
    func stage(_ replica: Replica<R>) {
        guard isHeard else { return }
        state.withLock { $0.staged += replica.stagedMutations }
    }

    /// Reports to the sagas the mutations that the replica has applied.
    func reportMutations() {
        guard isHeard else { return }
        let staged = state.withLock { state in
            defer { state.staged = [] }
            return state.staged
        }
        guard let broker = heard else { return }
        for mutation in staged { broker.deliver(.mutation(mutation)) }
    }

    /// Sends an action of this process through `submit`, unless a saga's channel has no room for
    /// it. `submit` receives the function that reports the outcome to the sagas, and ends the
    /// preview. Without room, `refused` receives the rejection, and this function ends the preview.
    func pass(
        _ action: R.Action, preview ticket: PreviewTicket? = nil,
        orElse refused: (ActionOutcome) -> Void,
        _ submit: (_ report: @escaping (ActionOutcome) -> Void) throws(ClientError) -> Void
    ) throws(ClientError) {
        var admission: UInt64?
        if isHeard {
            do throws(Rejection) {
                admission = try heard?.admit(action)
            } catch {
                ticket?.settle()
                return refused(.rejected(error))
            }
        }
        do throws(ClientError) {
            try submit { [admission] outcome in self.conclude(action, outcome, admission) }
        } catch {
            if let admission { heard?.withdraw(action, admittedAs: admission) }
            throw error
        }
    }

    private func conclude(_ action: R.Action, _ outcome: ActionOutcome, _ admission: UInt64?) {
        guard isHeard else { return }
        switch outcome {
        case .applied, .ownerEnded: heard?.deliver(.action(action), admittedAs: admission)
        // An action that went into a stream is not applied yet.
        case .accepted, .rejected, .failed, .unknown:
            if let admission { heard?.withdraw(action, admittedAs: admission) }
        }
    }

    /// Ends the sagas: the mirror gets no more updates.
    func end() {
        let top = state.withLock { state in
            state.isEnded = true
            return Array(state.top.values)
        }
        guard isHeard else { return }
        heard?.close()
        for scope in top { scope.fail(Self.ended) }
    }

    private static var ended: SagaError { .failed(message: "the mirror has ended") }

    private var heard: SagaBroker<R>? { state.withLock { Confined($0.broker) }.open() }
}
