public import ReactorCore
import ReactorThreads

// MARK: - Actions
extension Mirror {
    /// Sends an action without waiting.
    ///
    /// Returns false, and drops the action, where the waiting bytes have reached
    /// ``ClientOptions/queueBytesMax``, the client has ended, or it has no thread (``LoopClient``).
    /// The client also drops an action that is larger than the daemon's frames, later and without a
    /// report. The result does not tell of a rejection, nor of a saga over this mirror that refuses
    /// the action because its channel is full. ``dispatch(_:if:isPreviewed:)`` reports all of
    /// these.
    ///
    /// With `isPreviewed`, the mirror runs the reactor's `mutate` here and shows its result at
    /// once, until the daemon has answered. A rejection takes that back and wakes observers. An
    /// action whose decision needs the daemon is sent and not shown. With `cancel`, the effects
    /// that earlier actions of that name started are cancelled first: see ``cancel(_:)``.
    @discardableResult
    public func send(
        _ action: R.Action, isPreviewed: Bool = false, cancel: String? = nil
    ) -> Bool {
        guard let port, let hold else { return false }
        var outgoing = OutgoingAction(
            action, to: hold.node, cancel.map { DispatchOptions(cancel: $0) })
        if isPreviewed { outgoing.preview = preview(action) }
        return port.send(outgoing, holding: hold, by: submission(of: action))
    }

    /// Sends an action and waits for its outcome; the mirror shows it when this returns.
    ///
    /// Waits for room while the bytes of actions exceed ``ClientOptions/queueBytesMax``. `expected`
    /// makes it a compare-and-set: it is rejected with `CONFLICT` if the node has changed since
    /// that revision. A cancelled task gets ``DispatchOutcome/unknown``: the action may still be
    /// applied. `isPreviewed` is as in ``send(_:isPreviewed:cancel:)``.
    public func dispatch(
        _ action: R.Action, if expected: Revision? = nil, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        let conditions = expected.map { DispatchOptions(expected: $0) }
        return await dispatch(action, conditions, isPreviewed: isPreviewed)
    }

    /// Sends an action under conditions and waits for its outcome.
    public func dispatch(
        _ action: R.Action, _ conditions: DispatchOptions?, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        await submit(action, conditions, isPreviewed: isPreviewed, awaitsEffects: false)
    }

    private func submit(
        _ action: R.Action, _ conditions: DispatchOptions?, isPreviewed: Bool, awaitsEffects: Bool
    ) async -> DispatchOutcome<R.Reply> {
        guard let port, let hold else { return Self.withoutPort }
        var outgoing = OutgoingAction(action, to: hold.node, conditions)
        outgoing.awaitsEffects = awaitsEffects
        if isPreviewed { outgoing.preview = preview(action) }
        return await port.dispatch(outgoing, holding: hold, by: submission(of: action))
            .typed(as: R.Reply.self)
    }

    private static var withoutPort: DispatchOutcome<R.Reply> {
        .failed(message: "never sent: submit the action to the LoopClient of this mirror")
    }

    /// Submits an action, unless a saga's channel has no room for it, and reports it to the sagas
    /// when its outcome arrives.
    private func submission(of action: R.Action) -> ActionPort.Submission {
        { [sagas] (client, outgoing, then) throws(ClientError) in
            try sagas.pass(action, preview: outgoing.preview, orElse: then) {
                (report) throws(ClientError) in
                try client.submit(outgoing, then: then, whenKnown: report)
            }
        }
    }

    /// Sends an action, and returns its outcome when the effects that it asked for have ended; the
    /// mirror then shows what they changed.
    ///
    /// The call waits for all effects of the action's transaction, and not for sources, streams and
    /// later transactions. If the action is rejected or starts no effect, or its effects are
    /// cancelled, the call returns at once. An effect that fails has ended too; ``Client/notices``
    /// reports it. The call survives a lost connection. If the daemon ends, its effects end, and
    /// the call returns the outcome that had arrived before.
    ///
    /// A cancelled task gets ``DispatchOutcome/unknown``, and the effects continue: cancel them
    /// with ``cancel(_:)``. `expected` and `isPreviewed` are as in ``dispatch(_:if:isPreviewed:)``.
    public func perform(
        _ action: R.Action, if expected: Revision? = nil, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        let conditions = expected.map { DispatchOptions(expected: $0) }
        return await perform(action, conditions, isPreviewed: isPreviewed)
    }

    /// Sends an action under conditions, and returns its outcome when its effects have ended.
    public func perform(
        _ action: R.Action, _ conditions: DispatchOptions?, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        await submit(action, conditions, isPreviewed: isPreviewed, awaitsEffects: true)
    }

    /// Cancels the effects that earlier actions of this client to this node started under `name`,
    /// and waits for the outcome. The daemon drops what a cancelled effect still emits.
    @discardableResult
    public func cancel(_ name: String) async -> DispatchOutcome<R.Reply> {
        guard let port, let hold else { return Self.withoutPort }
        let outgoing = OutgoingAction(
            encoded: [], to: hold.node, DispatchOptions(cancel: name))
        return await port.dispatch(outgoing, holding: hold).typed(as: R.Reply.self)
    }

    // MARK: Root reactors

    /// Sends an action of any type to a root reactor and waits for its outcome; see
    /// ``dispatch(_:if:isPreviewed:)``.
    public func dispatch<State>(
        _ action: some WireCodable & Sendable, if expected: Revision? = nil,
        isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> where R == RootReactor<State> {
        await dispatch(ErasedAction(action), if: expected, isPreviewed: isPreviewed)
    }

    /// Sends an action of any type to a root reactor without waiting; see
    /// ``send(_:isPreviewed:cancel:)``.
    @discardableResult
    public func send<State>(
        _ action: some WireCodable & Sendable, isPreviewed: Bool = false, cancel: String? = nil
    ) -> Bool where R == RootReactor<State> {
        send(ErasedAction(action), isPreviewed: isPreviewed, cancel: cancel)
    }

    // MARK: Previews

    /// Starts the preview of an action; `nil` if it cannot be previewed.
    func preview(_ action: R.Action) -> PreviewTicket? {
        guard let (number, changes) = replica.withLock({ $0.tryOut(action) }) else { return nil }
        notices.publish(changes)
        // The outcome may arrive after the last reference to the mirror was released.
        let replica = replica
        let notices = notices
        return PreviewTicket(
            assign: { ordinal in
                replica.withLock { $0.sent(preview: number, as: ordinal) }
            },
            settle: {
                let changes = replica.withLock { replica in
                    replica.settle(preview: number) ? replica.takeOverlayChanges() : .fields([])
                }
                notices.publish(changes)
            })
    }
}

extension OutgoingAction {
    /// An action that `mirror` shows from now until its outcome arrives. The caller must submit it:
    /// without an outcome the mirror never stops showing it.
    package init<R: Reactor>(
        _ action: R.Action, previewedOn mirror: Mirror<R>, to node: NodeID,
        _ conditions: DispatchOptions? = nil
    ) {
        self.init(encoded: action.wireBytes(), to: node, conditions)
        preview = mirror.preview(action)
    }
}

// MARK: - Bindings
extension Mirror {
    /// A binding that reads a field, and sends the action that `action` makes of a written value.
    ///
    /// `isPreviewed` and `cancel` are as in ``send(_:isPreviewed:cancel:)``: a text field that
    /// searches while the user types passes `cancel`, so that each keystroke ends the search before
    /// it.
    public func binding<Value>(
        _ field: any KeyPath<R.State, Value> & Sendable, isPreviewed: Bool = false,
        cancel: String? = nil, action: @escaping @Sendable (Value) -> R.Action
    ) -> ActionBinding<Value> {
        binding(field, map: { $0 }, isPreviewed: isPreviewed, cancel: cancel, action: action)
    }

    /// A binding that reads a field, and sends the same action for every written value.
    public func binding<Value>(
        _ field: any KeyPath<R.State, Value> & Sendable, isPreviewed: Bool = false,
        cancel: String? = nil, sending action: R.Action
    ) -> ActionBinding<Value> {
        binding(field, isPreviewed: isPreviewed, cancel: cancel) { _ in action }
    }

    /// A binding that reads a field through `map`, and sends the action made of a written value.
    public func binding<Value, Shown>(
        _ field: any KeyPath<R.State, Value> & Sendable,
        map: @escaping @Sendable (Value) -> Shown, isPreviewed: Bool = false,
        cancel: String? = nil, action: @escaping @Sendable (Shown) -> R.Action
    ) -> ActionBinding<Shown> {
        ActionBinding(
            get: { map(self[dynamicMember: field]) },
            set: { self.send(action($0), isPreviewed: isPreviewed, cancel: cancel) })
    }

    /// A binding that reads a field, and passes a written value to `set`.
    public func binding<Value>(
        _ field: any KeyPath<R.State, Value> & Sendable,
        set: @escaping @Sendable (Value) -> Void
    ) -> ActionBinding<Value> {
        ActionBinding(get: { self[dynamicMember: field] }, set: set)
    }

    /// A binding that reads a field through `map`, and passes a written value to `set`.
    public func binding<Value, Shown>(
        _ field: any KeyPath<R.State, Value> & Sendable,
        map: @escaping @Sendable (Value) -> Shown, set: @escaping @Sendable (Shown) -> Void
    ) -> ActionBinding<Shown> {
        ActionBinding(get: { map(self[dynamicMember: field]) }, set: set)
    }

    /// A binding that reads and writes a field of a reactor whose actions include changes of
    /// fields. The mirror shows a written value at once, until the reactor's result replaces it.
    public func binding<Value: WireCodable & Sendable>(
        _ field: any WritableKeyPath<R.State, Value> & Sendable, cancel: String? = nil
    ) -> ActionBinding<Value>
    where R.Action: BindableAction, R.Action.Root == R.State {
        ActionBinding(
            get: { self[dynamicMember: field] },
            set: { self.send(.binding(.set(field, $0)), isPreviewed: true, cancel: cancel) })
    }

    // MARK: Inputs

    /// Sends each action of a sequence as it arrives. The end or failure of the sequence ends the
    /// input, and nothing else.
    ///
    /// Dropping the input does not end it; the end of the client does.
    @discardableResult
    public func connect<Source: AsyncSequence & Sendable>(
        _ actions: Source
    ) -> ActionInput where Source.Element == R.Action {
        ActionInput(
            Task(executorPreference: port?.executor) { [weak self] in
                do {
                    for try await action in actions {
                        guard let self, !Task.isCancelled else { return }
                        if case .failed = phase { return }
                        _ = await dispatch(action)
                    }
                } catch {
                    // A failed sequence ends the input, as a finished sequence does.
                }
            })
    }
}

/// A sequence of actions that a mirror sends.
public struct ActionInput: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    /// Stops sending actions of the sequence.
    public func cancel() { task.cancel() }

    /// Waits until the sequence has ended.
    public func ended() async { await task.value }
}

// MARK: - Sagas of a mirror
extension Mirror {
    /// Runs a saga in this process, over the mirror: the same function that runs in the daemon.
    ///
    /// In the daemon, a saga sees the actions of every client. Here, `select` reads the mirror, and
    /// `put` dispatches and returns when the mirror shows the result. `take` and its siblings see
    /// the actions that this process dispatches to the node, once they are applied.
    /// ``SagaContext/mutations`` are those that the mirror applies, of every client, without those
    /// that a snapshot replaces. While a saga's channel is full, this mirror's own actions are
    /// refused before they are sent.
    ///
    /// It waits by ``ClientOptions/clock``, and runs by ``ClientOptions/spawn``.
    ///
    /// The saga ends with an error when the mirror ends, and is cancelled through its handle. The
    /// handle throws an error that the saga does not catch. An error in a handler's run ends that
    /// run alone; the client reports it as ``ClientNotice/sagaFailed(path:message:)``.
    ///
    /// *Throws*: if the client, or the mirror, has ended.
    public func runSaga<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) async throws(ClientError) -> SagaHandle<Value> {
        guard let port, let hold else { throw .ended }
        let host = MirrorSagaHost(mirror: self, port: port, hold: hold)
        return try await port.ask { [self] client, then in
            guard let broker = sagas.broker({ host.makeBroker(client) }) else {
                return then(.failure(failure ?? .gone(path: path)))
            }
            let adopt = { [sagas] (scope: SagaScope) in
                host.watch(scope)
                sagas.adopt(scope)
            }
            then(.success(SagaContext.run(at: broker, on: host, adopt: adopt, body)))
        }
    }

    /// Why the mirror has ended, if it has.
    private var failure: ClientError? {
        if case .failed(let error) = phaseNow.withLock({ $0 }) { error } else { nil }
    }
}
