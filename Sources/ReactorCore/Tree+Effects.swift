import ReactorThreads

// MARK: - What a transaction asks for
extension Turn {
    /// Lists an effect to start when the transaction at hand is committed.
    func start<R: Reactor>(_ effect: Effect<R.Mutation>, on node: Node<R>, cause: R.Action?) {
        // because a preview shows what is decided at once, and nothing of it is ever committed
        guard !isPreview else { return }
        if reactionDepth > 0, !isPlain, !tree.hasRoom(for: 1) {
            refusal = tree.busy(node)
            return
        }
        guard tree.mayWait(effectOf: node) else { return }
        let id = tree.newEffectID(of: node)
        if let cancelID = effect.cancelID {
            cancel(.named(cancelID), of: node.number, upTo: id.number - 1)
        }
        tree.list(
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
            tree.begin(id) { tree.launch(effect, id, of: node, cause) }
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

    func launch<R: Reactor>(
        _ effect: Effect<R.Mutation>, _ id: EffectID, of node: Node<R>, _ cause: R.Action?
    ) {
        let post = environment.post
        let hasReturned = Flag()
        let emit = Emit<R.Mutation>(
            clock: environment.clock,
            deliver: { decide in
                post { tree in tree.apply(decide, of: R.self, from: id, hasReturned) }
            },
            deliverLast: { decide in
                post { tree in
                    tree.apply(decide, of: R.self, from: id, hasReturned, isLast: true)
                }
            })
        let run = effect.run
        launch(id, on: node, cause, deadline: effect.deadline, raising: hasReturned) {
            try await run(emit)
        }
    }

    /// Starts the work of an effect, unless it was cancelled before; `hasReturned` is raised where
    /// it ends by itself.
    func launch<R: Reactor>(
        _ id: EffectID, on node: Node<R>, _ cause: R.Action? = nil, deadline: Duration? = nil,
        raising hasReturned: Flag, _ work: @escaping @Sendable () async throws -> Void
    ) {
        guard running[id] != nil, !node.isGone else { return endEffect(id) }
        let post = environment.post
        var cancel = environment.spawn {
            do {
                try await work()
                post { tree in tree.effectEnded(id, nil, of: R.self, cause, hasReturned) }
            } catch {
                let failure = error is CancellationError ? nil : error
                post { tree in tree.effectEnded(id, failure, of: R.self, cause, hasReturned) }
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
        _ hasReturned: Flag, isLast: Bool = false
    ) {
        guard let effect = running[id], let node = node(id.node) as? Node<R> else {
            return dropLate(of: id, hasReturned)
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

    /// Drops what an effect emitted after its end. Where the reactor did not end it, that is a mistake
    /// of its author, which the log names once.
    func dropLate(of id: EffectID, _ hasReturned: Flag) {
        lateEmissions &+= 1
        guard let node = node(id.node), hasReturned.take() else { return }
        turn.complain(
            "\(node.path): what an effect emitted after it had returned is dropped: have it run until "
                + "all it begins has ended")
    }

    func effectEnded<R: Reactor>(
        _ id: EffectID, _ failure: (any Error)?, of type: R.Type, _ cause: R.Action? = nil,
        _ hasReturned: Flag? = nil
    ) {
        if orphans.remove(id) != nil { weighRoom() }
        if let effect = running[id] {
            hasReturned?.raise()
            finishTask(of: effect, node: id.node)
        }
        if let failure { fail(id, failure, of: type, cause) } else { endEffect(id) }
    }

    private func effectExpired<R: Reactor>(
        _ id: EffectID, after deadline: Duration, of type: R.Type, _ cause: R.Action?
    ) {
        guard let effect = running[id] else { return }
        listOrphan(id)
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
        weighRoom()
        // One that waited is not listed any more: its start does nothing but clean up.
        if effect.cancel == nil, let start = waiting.remove(id) { start() }
    }

    /// Cancels an effect; what it still emits is dropped.
    func cancelEffect(_ id: EffectID) {
        guard let effect = running[id] else { return }
        if effect.cancel != nil { listOrphan(id) }
        endEffect(id)
    }

    func carryOut(_ cancellation: EffectCancellation) { cancel(running.ids(of: cancellation)) }

    /// Cancels the effects of a node.
    func cancelEffects(ofNode node: UInt32) { cancel(running.ids(ofNode: node)) }

    /// Cancels the effects of one transaction.
    func cancelEffects(of sequence: UInt64) { cancel(running.ids(of: sequence)) }

    /// Cancels the effects that are bound to a connection.
    func cancelEffects(ofConnection connection: UInt64) {
        guard !running.isEmpty else { return }
        cancel(running.ids(ofConnection: connection))
    }

    private func cancel(_ ids: [EffectID]) { for id in ids { cancelEffect(id) } }
}

// MARK: - Room for effects
extension Tree {
    /// Room that is left below ``Tree/effectsMax`` when actions begin to be carried out such that they
    /// can be taken back.
    private static let crowdedReserve = 64

    /// Whether an action may ask for so many effects more.
    func hasRoom(for count: Int) -> Bool {
        running.count + orphans.count + count <= effectsMax
    }

    /// Whether an effect that was asked for may begin to work.
    var hasRoomToStart: Bool {
        running.startedCount + orphans.count < effectsMax && waiting.isEmpty
    }

    /// Refuses an action for lack of room.
    func busy(_ node: AnyNode) -> Rejection {
        Rejection(
            .busy,
            "\(node.path): \(running.count) effects run and \(orphans.count) cancelled ones have not "
                + "ended, effectsMax is \(effectsMax): try again later")
    }

    /// Lists an effect that was asked for.
    func list(_ effect: RunningEffect, as id: EffectID) {
        running.add(effect, as: id)
        turn.isCrowded = !hasRoom(for: Self.crowdedReserve)
    }

    /// Lists an effect that was cancelled and has not ended.
    func listOrphan(_ id: EffectID) {
        orphans.insert(id)
        turn.isCrowded = !hasRoom(for: Self.crowdedReserve)
    }

    /// Looks for room, after the end of an effect or a change of the limit.
    func weighRoom() {
        turn.isCrowded = !hasRoom(for: Self.crowdedReserve)
        guard !postponed.isEmpty || !waiting.isEmpty else { return }
        // The transaction in progress may come to nothing, and these starts may not.
        environment.post { tree in
            tree.turn.whenCommitted { [weak tree] in tree?.startWaiting() }
        }
    }

    private func startWaiting() {
        while running.startedCount + orphans.count < effectsMax, let start = waiting.popFirst() {
            start()
        }
        takePostponed()
    }

    /// Starts an effect that is listed, now or when others have ended.
    func begin(_ id: EffectID, _ start: @escaping () -> Void) {
        // One that was cancelled before only cleans up.
        if running[id] == nil || hasRoomToStart { start() } else { waiting.append(id, start) }
    }

    /// A number for another effect of `node`.
    func newEffectID(of node: AnyNode) -> EffectID {
        effectsStarted += 1
        return EffectID(node: node.number, number: effectsStarted)
    }

    /// A number for another effect of `node`, if there is room; complains if there is none.
    func admitEffect(of node: AnyNode) -> EffectID? {
        guard hasRoom(for: 1) else {
            turn.complain("\(busy(node))")
            return nil
        }
        return newEffectID(of: node)
    }

    /// Whether another effect that cannot be refused may wait; complains if it is left out.
    func mayWait(effectOf node: AnyNode) -> Bool {
        if running.count < effectsMax + CoreLimits.effectsWaitingMax { return true }
        turn.complain(
            "\(node.path): an effect is left out, effectsWaitingMax \(CoreLimits.effectsWaitingMax) "
                + "wait for others to end")
        return false
    }
}

extension Turn {
    /// Refuses an action whose effects have no room.
    func checkRoom(for effectCount: Int, of node: AnyNode) throws(Rejection) {
        guard effectCount > 0, !isPreview, !tree.hasRoom(for: effectCount) else { return }
        throw tree.busy(node)
    }
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
