import ReactorThreads

// MARK: - Handlers
extension SagaSource {
    /// Runs `body` for every matching element, each as a separate saga; the runs are concurrent.
    ///
    /// The handler is called on the tree's isolation for each element: none is lost, and none is
    /// buffered. It sees elements from the saga's last resumption on, until its handle or this saga
    /// is cancelled, which cancels its runs as well. An error of a run, such as a rejected put,
    /// ends that run alone: it goes to ``Reactor/error(_:action:state:context:)`` with the action of
    /// the run, and the handler continues. At ``CoreLimits/sagasMax`` sagas, the action is rejected
    /// as `BUSY`.
    @discardableResult
    public func takeEvery<Payload: Sendable>(
        _ match: @escaping @Sendable (Element) -> Payload?, do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        handle(.every, match, body)
    }

    /// Runs `body` for a matching element, and ignores others while it runs.
    @discardableResult
    public func takeLeading<Payload: Sendable>(
        _ match: @escaping @Sendable (Element) -> Payload?, do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        handle(.leading, match, body)
    }

    /// Runs `body` for every matching element, and cancels it at the next; drops the later
    /// dispatches of a cancelled run.
    @discardableResult
    public func takeLatest<Payload: Sendable>(
        _ match: @escaping @Sendable (Element) -> Payload?, do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        handle(.latest, match, body)
    }

    /// Runs `body` with the last matching element, after `quiet` has passed without another.
    ///
    /// Later elements do not cancel a run that has started.
    @discardableResult
    public func debounce<Payload: Sendable>(
        _ quiet: Duration, _ match: @escaping @Sendable (Element) -> Payload?,
        do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        handle(.debounced(quiet), match, body)
    }

    /// Runs `body` for a matching element, and ignores others within `window` of it.
    @discardableResult
    public func throttle<Payload: Sendable>(
        _ window: Duration, _ match: @escaping @Sendable (Element) -> Payload?,
        do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        handle(.throttled(window), match, body)
    }

    private func handle<Payload: Sendable>(
        _ policy: SagaPolicy, _ match: @escaping @Sendable (Element) -> Payload?,
        _ body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        let scope = saga.scope.child(.attached)
        let position = saga.position.copy()
        scope.adopt(position)
        let (host, read, asAction) = (saga.host, read, asAction)
        let id = saga.runtime.newID()
        scope.whenDecided { [unowned scope] _ in
            host.perform { $0?.remove(id) }
            scope.bodyEnded(nil)
        }
        host.perform { broker in
            guard let broker else { return scope.fail(SagaError.gone(path: host.path)) }
            let handler = SagaHandler(policy, scope, host, broker.log, body)
            let listener = SagaListener<R>(id) { number, note, _ in
                guard scope.isOpen else { return false }
                if let element = read(note), let payload = match(element) {
                    handler.accept(payload, number, host.isVisiting ? nil : note.action)
                }
                return true
            } lose: { error in
                scope.fail(error)
            }
            if let asAction {
                listener.admit = { (action, waiting) throws(Rejection) in
                    guard scope.isOpen, !scope.runtime.hasRoom(for: waiting + 1),
                        match(asAction(action)) != nil
                    else { return }
                    throw Rejection(
                        .busy, "\(host.path): \(CoreLimits.sagasMax) sagas run, the maximum")
                }
            }
            do throws(SagaError) {
                guard scope.isOpen else { return }
                try broker.listen(listener, from: position.cursor)
                scope.pauseForGood()
            } catch {
                scope.fail(error)
            }
        }
        return SagaHandle(scope: scope, result: .init((), by: saga.runtime.lock))
    }
}

// MARK: - Handlers with a condition
extension SagaSource {
    /// Runs `body` for every element for which `isWanted` is true: see ``takeEvery(_:do:)``.
    @discardableResult
    public func takeEvery(
        where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true },
        do body: @escaping Handler<Element>
    ) -> SagaHandle<Void> {
        takeEvery({ isWanted($0) ? $0 : nil }, do: body)
    }

    /// Runs `body` for an element for which `isWanted` is true: see ``takeLeading(_:do:)``.
    @discardableResult
    public func takeLeading(
        where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true },
        do body: @escaping Handler<Element>
    ) -> SagaHandle<Void> {
        takeLeading({ isWanted($0) ? $0 : nil }, do: body)
    }

    /// Runs `body` for every element for which `isWanted` is true: see ``takeLatest(_:do:)``.
    @discardableResult
    public func takeLatest(
        where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true },
        do body: @escaping Handler<Element>
    ) -> SagaHandle<Void> {
        takeLatest({ isWanted($0) ? $0 : nil }, do: body)
    }

    /// Runs `body` with the last element for which `isWanted` is true: see ``debounce(_:_:do:)``.
    @discardableResult
    public func debounce(
        _ quiet: Duration, where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true },
        do body: @escaping Handler<Element>
    ) -> SagaHandle<Void> {
        debounce(quiet, { isWanted($0) ? $0 : nil }, do: body)
    }

    /// Runs `body` for an element for which `isWanted` is true: see ``throttle(_:_:do:)``.
    @discardableResult
    public func throttle(
        _ window: Duration, where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true },
        do body: @escaping Handler<Element>
    ) -> SagaHandle<Void> {
        throttle(window, { isWanted($0) ? $0 : nil }, do: body)
    }
}
