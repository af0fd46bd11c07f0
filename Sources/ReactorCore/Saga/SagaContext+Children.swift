import ReactorThreads

// MARK: - Sagas of a saga
extension SagaContext {
    /// Starts a saga that is attached to this one: it is cancelled with this saga, which does not
    /// end before it. Its error ends this saga and all its forks.
    @discardableResult
    public func fork<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        begin(scope.child(.attached), body, nil)
    }

    /// Starts a saga that outlives this one and ends with its reactor. Its error goes to the
    /// reactor's error hook.
    @discardableResult
    public func spawn<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let child = SagaScope.top(in: room)
        let (context, handle) = prepare(child, Value.self)
        host.adopt(child) { [result = handle.result] in
            child.start {
                let value = try await body(context)
                result.withLock { $0 = value }
            }
        }
        return handle
    }

    /// Starts a saga and returns its result, or throws its error. It takes actions in place of this
    /// saga, which continues after them.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) async throws -> Value {
        let child = scope.child(.joined)
        let wasReading = ear.hold()
        let childEar = ear.twin(isReading: wasReading)
        child.adopt(childEar)
        defer { ear.release(wasReading, to: [childEar], besides: []) }
        let handle = begin(child, body, childEar)
        return try await withTaskCancellationHandler {
            try await join(handle)
        } onCancel: {
            handle.cancel()
        }
    }

    /// Waits for the result of a saga.
    ///
    /// *Throws*: its error; `CancellationError` if one of the two was cancelled.
    public func join<Value: Sendable>(_ handle: SagaHandle<Value>) async throws -> Value {
        try await pausing { try await handle.value }
    }

    /// Starts `body` as `child`, which reads through `childEar`, or through a copy of this saga's
    /// reader.
    func begin<Value: Sendable>(
        _ child: SagaScope, _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value,
        _ childEar: SagaEar<R>?
    ) -> SagaHandle<Value> {
        let (context, handle) = prepare(child, Value.self, childEar)
        child.start { [result = handle.result] in
            let value = try await body(context)
            result.withLock { $0 = value }
        }
        return handle
    }

    private func prepare<Value: Sendable>(
        _ child: SagaScope, _ type: Value.Type, _ childEar: SagaEar<R>? = nil
    ) -> (SagaContext<R>, SagaHandle<Value>) {
        // The child sees everything since its parent went on.
        let ear = childEar ?? ear.copy()
        if childEar == nil { child.adopt(ear) }
        let result = Guarded<Value?>(nil, by: room.lock)
        return (
            SagaContext(host: host, scope: child, ear: ear),
            SagaHandle(scope: child, result: result)
        )
    }
}
