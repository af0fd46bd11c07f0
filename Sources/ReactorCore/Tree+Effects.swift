// MARK: - What a transaction asks for
extension Turn {
    /// Lists an effect to start when the transaction at hand is committed.
    func start<R: Reactor>(_ effect: Effect<R.Mutation>, on node: Node<R>, cause: R.Action?) {
        // because a preview shows what is decided at once, and nothing of it is ever committed
        guard !isPreview, let id = tree.admitEffect(of: node) else { return }
        if let cancelID = effect.cancelID {
            cancel(.named(cancelID), of: node.number, upTo: id.number - 1)
        }
        tree.running.add(
            RunningEffect(
                cancelID: effect.cancelID, scope: cancelScope, origin: origin,
                sequence: lastSequence &+ 1,
                connection: effect.lifetime == .connection ? caller.connection : nil,
                isLifecycle: effect.lifetime == .lifecycle), as: id)
        if effect.until != nil || (cause != nil && !node.neverCancels) {
            node.orderedRules().tracked.append(
                TrackedEffect(id: id, cause: cause, until: effect.until))
            node.weighRules()
        }
        whenCommitted { [tree] in
            tree.launch(effect, id, of: node, cause)
        } orElse: { [tree] in
            tree.endEffect(id)
        }
    }

    /// Runs `job` once the transaction at hand is committed, and `withdraw` if it comes to nothing.
    func whenCommitted(
        _ job: @escaping () -> Void, orElse withdraw: (() -> Void)? = nil
    ) {
        news.effects.append(PendingEffect(sequence: lastSequence &+ 1, start: job))
        if let withdraw { ifWithdrawn(withdraw) }
    }

    /// Runs `withdraw` if the transaction at hand comes to nothing; what is taken back last was done
    /// first.
    func ifWithdrawn(_ withdraw: @escaping () -> Void) {
        if !isPlain {
            undo.append(withdraw)
        } else if attemptDepth > 0 {
            withdrawals.append(withdraw)
        }
    }

    /// Does what may be refused; then what it claimed until there is taken back.
    ///
    /// In a batch the roll-back does that.
    func attempt(_ body: () throws(Rejection) -> Void) throws(Rejection) {
        guard isPlain else { return try body() }
        let effectCount = news.effects.count
        let claimCount = withdrawals.count
        attemptDepth += 1
        defer { attemptDepth -= 1 }
        do throws(Rejection) {
            try body()
            withdrawals.removeSubrange(claimCount...)
        } catch {
            news.effects.removeSubrange(effectCount...)
            while withdrawals.count > claimCount { withdrawals.removeLast()() }
            throw error
        }
    }

    /// Cancels effects of a node if the transaction at hand comes to be.
    func cancel(_ selection: EffectSelection, of node: UInt32, upTo last: UInt64? = nil) {
        isEventful = true
        cancellations.append(
            EffectCancellation(
                node: node, selection: selection, last: last ?? tree.effectsStarted))
    }

    /// Cancels one effect if the transaction at hand comes to be.
    func cancel(_ id: EffectID) {
        isEventful = true
        cancelled.append(id)
    }
}

extension Node {
    /// Ends those of `effects` that `action` ends, by their own word or the reactor's.
    func endEffects(_ effects: [TrackedEffect<R.Action>], on action: R.Action, _ turn: Turn) {
        for effect in effects {
            let isEnded = effect.until?(action) ?? false
            if isEnded || ends(effect.cause, action) { turn.cancel(effect.id) }
        }
    }

    private func ends(_ cause: R.Action?, _ action: R.Action) -> Bool {
        guard let cause, !neverCancels else { return false }
        do throws(NeverCancels) {
            return try reactor.shouldCancel(current: cause, upcoming: action)
        } catch {
            // because then no action need be held up for the question
            neverCancels = true
            rules?.tracked.removeAll { $0.until == nil }
            weighRules()
            return false
        }
    }
}

// MARK: - Running
extension Tree {
    /// Starts what waited for its transaction to be committed.
    public func start(_ effects: [PendingEffect]) {
        for effect in effects { effect.start() }
    }

    /// Whether another effect may run.
    var hasRoomForEffect: Bool {
        running.count < CoreLimits.effectsMax && orphans.count < CoreLimits.orphansMax
    }

    /// A number for another effect of `node`, if one may run.
    func admitEffect(of node: AnyNode) -> EffectID? {
        guard hasRoomForEffect else {
            turn.complain(
                "\(node.path): an effect is left out, for \(running.count) run (at most "
                    + "\(CoreLimits.effectsMax)), and \(orphans.count) were cancelled and have not "
                    + "ended (at most \(CoreLimits.orphansMax))")
            return nil
        }
        effectsStarted += 1
        return EffectID(node: node.number, number: effectsStarted)
    }

    func launch<R: Reactor>(
        _ effect: Effect<R.Mutation>, _ id: EffectID, of node: Node<R>, _ cause: R.Action?
    ) {
        let post = environment.post
        let emit = Emit<R.Mutation>(
            clock: environment.clock,
            deliver: { decide in post { tree in tree.apply(decide, of: R.self, from: id) } },
            deliverLast: { decide in
                post { tree in tree.apply(decide, of: R.self, from: id, isLast: true) }
            })
        let run = effect.run
        launch(id, on: node, cause, deadline: effect.deadline) { try await run(emit) }
    }

    /// Starts the work of an effect, unless it was cancelled meanwhile.
    func launch<R: Reactor>(
        _ id: EffectID, on node: Node<R>, _ cause: R.Action? = nil, deadline: Duration? = nil,
        _ work: @escaping @Sendable () async throws -> Void
    ) {
        guard running[id] != nil, !node.isGone else { return endEffect(id) }
        let post = environment.post
        var cancel = environment.spawn {
            do {
                try await work()
                post { tree in tree.effectEnded(id, nil, of: R.self, cause) }
            } catch {
                let failure = error is CancellationError ? nil : error
                post { tree in tree.effectEnded(id, failure, of: R.self, cause) }
            }
        }
        if let deadline {
            let cancelWork = cancel
            let clock = environment.clock
            let cancelDeadline = environment.spawn {
                guard (try? await clock.sleep(for: deadline)) != nil else { return }
                post { tree in tree.effectExpired(id, after: deadline, of: R.self, cause) }
            }
            cancel = {
                cancelWork()
                cancelDeadline()
            }
        }
        running.set(cancel: cancel, of: id)
    }

    /// Applies what an effect emitted, unless it was cancelled meanwhile.
    private func apply<R: Reactor>(
        _ decide: @escaping Emit<R.Mutation>.Decide, of type: R.Type, from id: EffectID,
        isLast: Bool = false
    ) {
        guard let effect = running[id], let node = node(id.node) as? Node<R> else {
            lateEmissions &+= 1
            return
        }
        guard let mutation = decide(node.state) else { return }
        turn.caller = .daemon
        turn.origin = effect.origin
        node.commit(Mutations(mutation), turn)
        if isLast {
            finishTask(of: effect, node: id.node)
            endEffect(id)
        }
        finishEmission()
    }

    func effectEnded<R: Reactor>(
        _ id: EffectID, _ failure: (any Error)?, of type: R.Type, _ cause: R.Action? = nil
    ) {
        if orphans.remove(id) != nil { resumePostponed() }
        if let effect = running[id] { finishTask(of: effect, node: id.node) }
        if let failure { fail(id, failure, of: type, cause) } else { endEffect(id) }
    }

    private func effectExpired<R: Reactor>(
        _ id: EffectID, after deadline: Duration, of type: R.Type, _ cause: R.Action?
    ) {
        guard let effect = running[id] else { return }
        orphans.insert(id)
        finishTask(of: effect, node: id.node)
        fail(id, EffectExpired(deadline: deadline), of: type, cause)
    }

    func fail<R: Reactor>(
        _ id: EffectID, _ failure: any Error, of type: R.Type, _ cause: R.Action?
    ) {
        guard let effect = running[id] else { return }
        turn.news.failures.append(
            LateFailure(
                origin: effect.origin, code: LateFailure.effectFailedCode,
                message: "\(failure)"))
        let node = node(id.node) as? Node<R>
        endEffect(id)
        node?.fail(failure, cause, origin: effect.origin, turn)
    }

    /// Forgets an effect and ends its work.
    func endEffect(_ id: EffectID) {
        guard let effect = running.remove(id) else { return }
        effect.cancel?()
        jobs[id] = nil
        node(id.node)?.forgetEffect(id)
        tellWaiters(of: effect.sequence)
        resumePostponed()
    }

    /// Cancels an effect; what it still emits is dropped.
    func cancelEffect(_ id: EffectID) {
        guard let effect = running[id] else { return }
        if effect.cancel != nil { orphans.insert(id) }
        endEffect(id)
    }

    func carryOut(_ cancellation: EffectCancellation) {
        cancel(
            running.ids(ofNode: cancellation.node) { id, effect in
                id.number <= cancellation.last && cancellation.selection.contains(effect)
            })
    }

    /// Cancels the effects of a node.
    func cancelEffects(ofNode node: UInt32) {
        cancel(running.ids(ofNode: node) { _, _ in true })
    }

    /// Cancels the effects of one transaction.
    func cancelEffects(of sequence: UInt64) {
        guard running.isAny(of: sequence) else { return }
        cancel(running.ids { $0.sequence == sequence && !$0.isSource })
    }

    /// Cancels the effects that are bound to a connection.
    func cancelEffects(ofConnection connection: UInt64) {
        guard !running.isEmpty else { return }
        cancel(running.ids { $0.connection == connection })
    }

    private func cancel(_ ids: [EffectID]) { for id in ids { cancelEffect(id) } }
}

/// An effect took longer than its deadline.
public struct EffectExpired: Error, Equatable, CustomStringConvertible {
    /// How long it might have taken.
    public var deadline: Duration

    public var description: String { "the effect has not ended within \(deadline)" }
}

// MARK: - Waiting for effects
extension Tree {
    /// Whether effects of the transaction numbered `sequence` run; what reads a source, or a stream of
    /// a transform, is no such effect.
    public func runsEffects(of sequence: UInt64) -> Bool { running.isAny(of: sequence) }

    /// Tells `job` when no effect of the transaction numbered `sequence` is left; at once, if none
    /// is: see ``runsEffects(of:)``.
    public func whenEffectsEnd(of sequence: UInt64, _ job: @escaping () -> Void) {
        guard running.isAny(of: sequence) else { return job() }
        waiters[sequence, default: []].append(job)
    }

    private func tellWaiters(of sequence: UInt64) {
        guard !waiters.isEmpty, waiters[sequence] != nil, !running.isAny(of: sequence) else {
            return
        }
        for job in waiters.removeValue(forKey: sequence) ?? [] { job() }
    }
}
