public import ReactorCore
import ReactorThreads

// MARK: - Sagas of a mirror
extension Mirror {
    /// Runs a saga in this process, over the mirror: the same function that runs in the daemon.
    ///
    /// There it sees what everybody does. Here `select` reads the mirror, `put` dispatches and returns
    /// when the mirror shows the result, `take` and its siblings see the actions that this process
    /// dispatches to the node, once they are applied, and ``SagaContext/mutations`` is what the
    /// mirror applies, whoever caused it; what it caught up with by a snapshot is not among it.
    /// Where a channel is full, this mirror's own actions are refused before they are sent.
    ///
    /// It waits by ``ClientOptions/clock``, and runs by ``ClientOptions/spawn``.
    ///
    /// The saga ends with an error when the mirror does, and is cancelled through its handle. The
    /// handle throws an error that the saga does not catch. An error in a handler's run ends that run
    /// alone; the client reports it as ``ClientNotice/sagaFailed(path:message:)``.
    ///
    /// *Throws*: where the client, or the mirror, has ended.
    public func runSaga<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) async throws(ClientError) -> SagaHandle<Value> {
        guard let port, let hold else { throw .ended }
        let host = MirrorSagaHost(mirror: self, port: port, hold: hold)
        return try await port.ask { [self] client, then in
            guard let desk = sagas.desk({ host.makeDesk(client) }) else {
                return then(.failure(failure ?? .gone(path: path)))
            }
            let adopt = { [sagas] (scope: SagaScope) in
                host.watch(scope)
                sagas.adopt(scope)
            }
            then(.success(desk.run(on: host, adopt: adopt, body)))
        }
    }

    /// Why the mirror has ended, if it has.
    private var failure: ClientError? {
        if case .failed(let error) = phaseNow.withLock({ $0 }) { error } else { nil }
    }
}
