// MARK: - Durable tasks
extension Mutations {
    /// Plans an action of this reactor for later, as part of the transaction. The plan survives a
    /// restart; if its time has passed by then, the action comes at once, unless `catchUp` is
    /// ``CatchUp/skip``.
    ///
    ///     Mutations(.reserved(seat)).scheduling("release", after: .seconds(600), Action.release)
    ///
    /// It replaces an earlier plan of this name. The action comes from the daemon: its caller is
    /// ``Caller/daemon``. A rejection of it goes to the log.
    public func scheduling(
        _ name: String, after delay: Duration, catchUp: CatchUp = .once,
        _ action: some WireCodable & Sendable
    ) -> Mutations {
        wishing(
            .timer(name: name, span: delay, period: nil, catchUp, WireEmbedded(action)))
    }

    /// Plans a repeated action of this reactor: for the first time after `first`, by default after
    /// a period, and then every period. Each time is computed from the previous planned time, so
    /// that the timer does not drift. `catchUp` says what happens for missed times.
    ///
    ///     Mutations.none.scheduling(
    ///         "nightly", every: .seconds(86_400), first: midnight.delay(after: context.now),
    ///         Action.nightly)
    public func scheduling(
        _ name: String, every period: Duration, first: Duration? = nil, catchUp: CatchUp = .once,
        _ action: some WireCodable & Sendable
    ) -> Mutations {
        precondition(period >= .milliseconds(1), "a period of \(period) never ends")
        return wishing(
            .timer(
                name: name, span: first ?? period, period: period, catchUp, WireEmbedded(action)))
    }

    /// Promises an effect that is performed again after a restart, until it has ended: see
    /// ``DurableTask``. It waits while ``Tree/effectsMax`` effects run.
    public func undertaking(
        _ name: String, _ payload: some WireCodable & Sendable = true
    ) -> Mutations {
        wishing(.effect(name: name, WireEmbedded(payload)))
    }

    /// Drops the planned action or the durable effect of this name; a running effect is cancelled.
    public func dropping(_ name: String) -> Mutations { wishing(.drop(name: name)) }

    private func wishing(_ wish: TaskWish) -> Mutations {
        Mutations(sync, extras: Extras(after: extras, tasks: [wish]))
    }
}
