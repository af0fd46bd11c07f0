/// A wish of a decision for something that outlives the process.
enum TaskWish {
    case timer(name: String, span: Duration, isPeriodic: Bool, CatchUp, WireEmbedded)
    case effect(name: String, WireEmbedded)
    case drop(name: String)

    /// The name under which something is to stand.
    var promised: String? {
        switch self {
        case .timer(let name, _, _, _, _), .effect(let name, _): name
        case .drop: nil
        }
    }
}

// MARK: - Promises
extension Mutations {
    /// Plans an action of this reactor for later, as a part of the transaction: it comes after a
    /// restart as well, at once where its time has passed, unless `catchUp` is ``CatchUp/skip``.
    ///
    ///     Mutations(.reserved(seat)).scheduling("release", after: .seconds(600), Action.release)
    ///
    /// What was planned under the name before is replaced. The action comes from the daemon: its
    /// caller is ``Caller/daemon``. A rejection of it goes to the log.
    public func scheduling(
        _ name: String, after delay: Duration, catchUp: CatchUp = .once,
        _ action: some WireCodable & Sendable
    ) -> Mutations {
        wishing(
            .timer(name: name, span: delay, isPeriodic: false, catchUp, WireEmbedded(action)))
    }

    /// Plans an action of this reactor again and again; the next is planned from the time the last
    /// was planned for, so that it does not drift. `catchUp` says what becomes of times that passed
    /// unused.
    public func scheduling(
        _ name: String, every period: Duration, catchUp: CatchUp = .once,
        _ action: some WireCodable & Sendable
    ) -> Mutations {
        precondition(period >= .milliseconds(1), "a period of \(period) never ends")
        return wishing(
            .timer(name: name, span: period, isPeriodic: true, catchUp, WireEmbedded(action)))
    }

    /// Promises an effect that is performed after a restart as well, until it has ended: see
    /// ``DurableTask``. It waits for room where ``Tree/effectsMax`` run already.
    public func undertaking(
        _ name: String, _ payload: some WireCodable & Sendable = true
    ) -> Mutations {
        wishing(.effect(name: name, WireEmbedded(payload)))
    }

    /// Takes back what was planned or promised under a name; a durable effect that runs is
    /// cancelled.
    public func dropping(_ name: String) -> Mutations { wishing(.drop(name: name)) }

    private func wishing(_ wish: TaskWish) -> Mutations {
        let extras = Extras(copying: extras)
        extras.tasks.append(wish)
        return Mutations(sync, extras: extras)
    }
}
