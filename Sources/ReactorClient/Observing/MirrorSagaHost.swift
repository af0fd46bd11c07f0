import ReactorCore
import ReactorThreads

/// Runs sagas of one reactor in a client's process, over a mirror.
struct MirrorSagaHost<R: Reactor>: SagaHost {
    let mirror: Mirror<R>
    let port: ActionPort
    let hold: NodeHold

    var runtime: SagaRuntime { mirror.sagas.runtime }
    var path: String { mirror.path }

    func perform(_ job: @escaping @Sendable (SagaBroker<R>?) -> Void) {
        let isPosted = port.post { [self] client in
            job(broker(client))
        }
        if !isPosted { job(nil) }
    }

    private func broker(_ client: ClientMachine) -> SagaBroker<R>? {
        mirror.sagas.broker { makeBroker(client) }
    }

    // The mirror keeps the broker alive; the broker does not keep the mirror alive.
    func makeBroker(_ client: ClientMachine) -> SagaBroker<R> {
        let (replica, sagas, hold, path) = (mirror.replica, mirror.sagas, hold, path)
        let log = SagaLog<R>(runtime)
        return SagaBroker(
            log, path: path, state: { replica.withLock { $0.shown } },
            dispatch: { [unowned client, weak sagas] action, then in
                guard let sagas else { return then(.failure(SagaError.gone(path: path)), 0..<0) }
                let outgoing = OutgoingAction(action, to: hold.node)
                let refused = { (outcome: ActionOutcome) in
                    then(Self.result(of: outcome), 0..<0)
                }
                do throws(ClientError) {
                    try sagas.pass(action, orElse: refused) { (report) throws(ClientError) in
                        try client.submit(outgoing) { outcome in
                            hold.keep()
                            let start = log.end
                            report(outcome)
                            then(Self.result(of: outcome), start..<log.end)
                        }
                    }
                } catch {
                    refused(.failed(message: "never sent: \(error)"))
                }
            })
    }

    /// Reports to the client the failures of a saga's handlers.
    func watch(_ scope: SagaScope) {
        let (news, path) = (mirror.shared.news, path)
        scope.whenRunFails { error, _ in
            news.add(.sagaFailed(path: path, message: "\(error)"))
        }
    }

    func adopt(_ scope: SagaScope, _ start: @escaping @Sendable () -> Void) {
        watch(scope)
        mirror.sagas.adopt(scope)
        start()
    }

    func put(
        _ action: WireEmbedded, to path: String, for scope: SagaScope, then: @escaping SagaPutEnd
    ) {
        let isPosted = port.post { client in
            client.hold(path) { [unowned client] result in
                guard scope.isOpen else { return then(.failure(CancellationError())) }
                switch result {
                case .success(let hold):
                    Self.forward(action.bytes, to: hold, through: client) {
                        then(Self.result(of: $0))
                    }
                case .failure(let error): then(.failure(error))
                }
            }
        }
        if !isPosted { then(.failure(port.refusal)) }
    }

    func find<Other: Reactor>(
        _ type: Other.Type, at path: String, then: @escaping SagaTargetReceiver<Other>
    ) {
        // Only a reactor that can be made without arguments is mirrored by its type.
        guard let mirrored = type as? any MirrorableReactor.Type else {
            return then(.failure(SagaError.gone(path: path)))
        }
        let isPosted = port.post { [port] client in
            Self.find(mirrored, at: path, client, port) { then($0) }
        }
        if !isPosted { then(.failure(port.refusal)) }
    }

    private static func find<Found: MirrorableReactor, Other: Reactor>(
        _ type: Found.Type, at path: String, _ client: ClientMachine, _ port: ActionPort,
        then: @escaping SagaTargetReceiver<Other>
    ) {
        client.hold(path) { [unowned client] result in
            guard case .success(let hold) = result else {
                return then(.failure(SagaError.gone(path: path)))
            }
            client.mirror(Found.makeForMirror(), at: path, port: port, hold) {
                guard case .success(let mirror) = $0, let mirror = mirror as? Mirror<Other> else {
                    return then(.failure(SagaError.gone(path: path)))
                }
                let host = MirrorSagaHost<Other>(mirror: mirror, port: port, hold: hold)
                guard let broker = host.broker(client) else {
                    return then(.failure(SagaError.gone(path: path)))
                }
                then(.success(SagaTarget(host, broker.log)))
            }
        }
    }

    /// Sends an action for a saga; calls `then` on the client's thread.
    private static func forward(
        _ bytes: [UInt8], to hold: NodeHold, through client: ClientMachine,
        then: @escaping (ActionOutcome) -> Void
    ) {
        do throws(ClientError) {
            try client.submit(OutgoingAction(encoded: bytes, to: hold.node)) { outcome in
                hold.keep()
                then(outcome)
            }
        } catch {
            then(.failed(message: "never sent: \(error)"))
        }
    }

    private static func result(of outcome: ActionOutcome) -> Result<Void, any Error> {
        switch outcome {
        case .applied, .ownerEnded, .accepted: .success(())
        case .rejected(let rejection): .failure(rejection)
        case .failed(let message): .failure(SagaError.failed(message: message))
        case .unknown: .failure(SagaError.unknownOutcome)
        }
    }
}
