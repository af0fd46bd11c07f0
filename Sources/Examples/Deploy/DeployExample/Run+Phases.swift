import ReactorCore

extension Run.Mutation {
    /// The phase that the mutation leads to; nil if it changes none.
    var nextPhase: RunPhase? {
        switch self {
        case .opened, .logged: nil
        case .started: .running
        case .paused: .pausing
        case .queued: .waiting
        case .built: .deploying
        case .ended(let phase, _): phase
        }
    }
}

extension Run.State {
    /// Applies a change.
    mutating func apply(_ mutation: Run.Mutation) {
        if let next = mutation.nextPhase {
            phase = next
            worker = nil
        }
        switch mutation {
        case .opened(let order): self.order = order
        case .started(let worker, let limits):
            attempt += 1
            self.worker = worker
            self.limits = limits
        case .logged(let line), .paused(let line), .ended(_, let line):
            log.append(line)
            log.removeFirst(max(0, log.count - Run.logLinesMax))
        case .queued, .built: break
        }
    }

    /// Rejects a caller that is not the worker of the run.
    func check(_ caller: Caller) throws(Rejection) {
        guard phase == .running, worker?.connection == caller.connection else {
            throw Rejection("not_yours", "the run is \(phase), and not yours")
        }
    }

    /// The rejection of an action that does not fit the phase.
    func refusal(of action: String) -> Rejection {
        Rejection("\(phase)", "the run is \(phase): \(action) is not possible")
    }
}

// MARK: - Ends of an attempt
extension Run {
    /// Takes the run from its worker, if it has one.
    func leaving(
        _ state: State, _ context: ReactorContext<Self>, _ mutations: Mutations<Mutation>
    ) -> Mutations<Mutation> {
        guard let worker = state.worker else { return mutations }
        context.disown(Self.ownedKey, connection: worker.connection)
        return mutations.dropping(Self.timeoutPlan)
    }

    func success(_ state: State) -> Mutations<Mutation> {
        guard let script = state.order.deployScript else {
            return [.ended(phase: .succeeded, text: "built")]
        }
        return Mutations(.built).undertaking(Self.deployTask, script)
    }

    func failure(_ text: String) -> Mutations<Mutation> {
        [.ended(phase: .failed, text: text)]
    }

    /// Lets the run wait again after a pause, or fails it after too many attempts.
    ///
    /// The pause is up to half as long again, so that runs that lost the same worker do not all
    /// come back at the same moment.
    func loss(
        of state: State, _ text: String, _ context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        guard state.attempt < state.limits.attemptsMax else { return failure(text) }
        var random = context.random
        let pause = state.limits.retryPause * Double.random(in: 1...1.5, using: &random)
        return Mutations(.paused(text)).scheduling(Self.retryPlan, after: pause, Action.retry)
    }
}
