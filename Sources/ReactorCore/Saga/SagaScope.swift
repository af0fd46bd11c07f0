import ReactorThreads

/// How a saga ended.
package enum SagaEnd: Sendable {
    case completed
    case cancelled
    case failed(any Error)
}

/// Receives an error that ends only a handler's run, and the action for which the run started.
package typealias SagaReport =
    @Sendable (_ error: any Error, _ cause: (any Sendable)?) -> Void

/// One saga, fork or handler with everything that it has started: errors move up, cancellation
/// moves down.
///
/// *Place*: behind a ``SagaContext`` and a ``SagaHandle``. It is *decided* when it was cancelled,
/// has failed, or has completed; it is *over* when its body and all its children have ended as
/// well.
/// *Owner*: any thread.
package final class SagaScope: Sendable {
    let runtime: SagaRuntime
    private let parent: SagaScope?
    private let tie: Tie
    private let depth: Int
    private let id: UInt64
    private let state: Guarded<State>

    /// How the error of a saga affects its parent.
    enum Tie {
        /// The parent fails with the error.
        case attached
        /// The error goes to the saga that waits for this one.
        case joined
        /// The error is reported, and ends nothing else.
        case handled
    }

    private typealias Endings = [UInt64: @Sendable () -> Void]

    private struct State {
        var decision: SagaEnd?
        var hasBodyEnded = false
        var isOver = false
        var children: [UInt64: SagaScope] = [:]
        var cancelTask: (@Sendable () -> Void)?
        var positions: [any SagaPositioning] = []
        /// The action for which a handler started it.
        var cause: (any Sendable)?
        /// Receives the errors of handler runs; set in a top-level saga.
        var report: SagaReport?
        var whenDecided: [@Sendable (SagaEnd) -> Void] = []
        /// Functions to call at the decision, unless removed before.
        var endings: Endings = [:]
        var whenOver: [@Sendable () -> Void] = []
    }

    private init(_ runtime: SagaRuntime, parent: SagaScope?, _ tie: Tie, depth: Int) {
        self.runtime = runtime
        self.parent = parent
        self.tie = tie
        self.depth = depth
        id = runtime.newID()
        state = Guarded(State(), by: runtime.lock)
    }

    /// Makes a top-level saga.
    static func top(in runtime: SagaRuntime) -> SagaScope {
        let scope = SagaScope(runtime, parent: nil, .joined, depth: 0)
        if !runtime.enter() { scope.fail(SagaError.tooMany) }
        return scope
    }

    /// Makes a top-level saga; `nil` if there is no room for it.
    static func topIfRoom(in runtime: SagaRuntime) -> SagaScope? {
        guard runtime.enter() else {
            runtime.leave()
            return nil
        }
        return SagaScope(runtime, parent: nil, .joined, depth: 0)
    }

    /// Makes a child of this saga; `cause` is the action for which a handler starts it.
    func child(_ tie: Tie, for cause: (any Sendable)? = nil) -> SagaScope {
        let child = SagaScope(runtime, parent: self, tie, depth: depth + 1)
        if cause != nil { child.setCause(cause) }
        let hasRoom = runtime.enter()
        let isOpen = state.withLock { state in
            guard !state.isOver else { return false }
            state.children[child.id] = child
            return state.decision == nil
        }
        if !isOpen {
            child.cancel()
        } else if !hasRoom {
            child.fail(SagaError.tooMany)
        } else if child.depth > CoreLimits.sagaDepthMax {
            child.fail(SagaError.tooDeep)
        }
        return child
    }

    // MARK: State

    /// Whether it is undecided.
    package var isOpen: Bool { state.withLock { $0.decision == nil && !$0.isOver } }

    /// Whether it and all its children have ended.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// *Throws*: `CancellationError` if it is decided.
    func check() throws {
        if !isOpen { throw CancellationError() }
    }

    /// Calls `job` with the decision; at once, if there is one.
    package func whenDecided(_ job: @escaping @Sendable (SagaEnd) -> Void) {
        let decision = state.withLock { state in
            if state.decision == nil { state.whenDecided.append(job) }
            return state.decision
        }
        if let decision { job(decision) }
    }

    /// Calls `job` at the decision, unless it is removed before; at once, if there is one.
    func whenEnding(_ id: UInt64, _ job: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if state.decision == nil { state.endings[id] = job }
            return state.decision == nil
        }
        if !isOpen { job() }
    }

    /// Removes a function that was to be called at the decision.
    func forgetEnding(_ id: UInt64) { state.withLock { _ = $0.endings.removeValue(forKey: id) } }

    /// Number of registered endings and positions; both are removed with their owners.
    var keptCount: Int { state.withLock { $0.endings.count + $0.positions.count } }

    /// Calls `job` when it is over; at once, if it is.
    package func whenOver(_ job: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.whenOver.append(job) }
            return state.isOver
        }
        if isOver { job() }
    }

    // MARK: Running

    /// Starts its body.
    func start(_ work: @escaping @Sendable () async throws -> Void) {
        guard isOpen else { return bodyEnded(nil) }
        let cancel = runtime.spawn { [self] in
            // It may have been cancelled before its task started.
            guard isOpen else { return bodyEnded(nil) }
            do {
                try await work()
                bodyEnded(nil)
            } catch {
                bodyEnded(error)
            }
        }
        let isLate = state.withLock { state in
            if state.hasBodyEnded { return false }
            if state.decision != nil { return true }
            state.cancelTask = cancel
            return false
        }
        if isLate { cancel() }
    }

    /// Ends the body, with or without an error.
    package func bodyEnded(_ error: (any Error)?) {
        if error is CancellationError { cancel() } else if let error { fail(error) }
        state.withLock { state in
            state.hasBodyEnded = true
            state.cancelTask = nil
            // Its handlers and forks have positions of their own.
            for position in state.positions { position.pauseWhileLocked() }
        }
        settle()
    }

    /// Cancels it and all its children.
    package func cancel() { stop(.cancelled) }

    /// Fails it: cancels all its children, and fails the parent to which it is attached.
    package func fail(_ error: any Error) {
        guard stop(.failed(error)) else { return }
        switch tie {
        case .attached: parent?.fail(error)
        case .handled: report(error)
        case .joined: break
        }
    }

    private func report(_ error: any Error) {
        var top = self
        while let parent = top.parent { top = parent }
        let cause = state.withLock { $0.cause }
        top.state.withLock { $0.report }?(error, cause)
    }

    /// Stores the action for which a handler starts it.
    func setCause(_ cause: (any Sendable)?) { state.withLock { $0.cause = cause } }

    /// Sets the receiver of errors of handler runs, for this saga and those below it.
    package func whenRunFails(_ report: @escaping SagaReport) {
        state.withLock { $0.report = report }
    }

    @discardableResult
    private func stop(_ end: SagaEnd) -> Bool {
        guard decide(end) else { return false }
        let (cancelTask, children) = state.withLock { ($0.cancelTask, $0.children) }
        cancelTask?()
        for (_, child) in children.sorted(by: { $0.key < $1.key }) { child.cancel() }
        return true
    }

    private func decide(_ end: SagaEnd) -> Bool {
        let waiting = state.withLock { state -> ([@Sendable (SagaEnd) -> Void], Endings)? in
            guard state.decision == nil else { return nil }
            state.decision = end
            defer { (state.whenDecided, state.endings) = ([], [:]) }
            return (state.whenDecided, state.endings)
        }
        guard let (waiting, endings) = waiting else { return false }
        for (_, job) in endings.sorted(by: { $0.key < $1.key }) { job() }
        for notify in waiting { notify(end) }
        return true
    }

    private func settle() {
        let isReady = state.withLock { state in
            guard state.hasBodyEnded, state.children.isEmpty, !state.isOver else { return false }
            state.isOver = true
            for position in state.positions { position.closeWhileLocked() }
            state.positions = []
            return true
        }
        guard isReady else { return }
        _ = decide(.completed)
        runtime.leave()
        let waiting = state.withLock { state in
            defer { state.whenOver = [] }
            return state.whenOver
        }
        for notify in waiting { notify() }
        parent?.childIsOver(id)
    }

    private func childIsOver(_ child: UInt64) {
        state.withLock { _ = $0.children.removeValue(forKey: child) }
        settle()
    }
}

// MARK: - Positions in logs
extension SagaScope {
    /// Makes `position` follow the saga: awake while it runs, asleep while it waits.
    func adopt(_ position: some SagaPositioning) {
        state.withLock { state in
            if state.isOver {
                position.closeWhileLocked()
            } else {
                state.positions.append(position)
            }
        }
    }

    /// Ends `position`, which no longer follows the saga.
    func forget(_ position: some SagaPositioning) {
        state.withLock { state in
            position.closeWhileLocked()
            state.positions.removeAll { $0 === position }
        }
    }

    /// Marks the start of a wait; `busy` is the position of the log that the wait is about.
    /// *Throws*: `CancellationError` if the saga is decided.
    func pause(except busy: (any SagaPositioning)? = nil) throws {
        try check()
        state.withLock { state in
            for position in state.positions where position !== busy { position.pauseWhileLocked() }
        }
    }

    /// Marks the end of a wait.
    func wake() {
        state.withLock { for position in $0.positions { position.wakeWhileLocked(at: nil) } }
    }

    /// Ends all positions of the saga.
    func pauseForGood() {
        state.withLock { state in
            for position in state.positions { position.closeWhileLocked() }
            state.positions = []
        }
    }
}
