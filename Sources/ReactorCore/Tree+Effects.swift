/// An effect under way.
struct RunningEffect {
    var cancelID: String?
    var origin: Origin
    var cancel: @Sendable () -> Void
}

extension Turn {
    /// Lists an effect to start when the transaction at hand is committed.
    func start<R: Reactor>(_ effect: Effect<R.Mutation>, on node: Node<R>) {
        let origin = origin
        news.effects.append(
            PendingEffect(sequence: lastSequence &+ 1) { [tree] in
                tree.start(effect, on: node, origin: origin)
            })
    }
}

extension Tree {
    /// Starts effects whose transactions are committed.
    public func start(_ effects: [PendingEffect]) {
        for effect in effects { effect.start() }
    }

    func start<R: Reactor>(_ effect: Effect<R.Mutation>, on node: Node<R>, origin: Origin) {
        guard !node.isGone else { return }
        guard running.count < CoreLimits.effectsMax else {
            turn.news.complaints.append(
                "\(node.path): more than \(CoreLimits.effectsMax) effects run")
            return
        }
        if let cancelID = effect.cancelID { cancelEffects(of: node.number, named: cancelID) }
        effectsStarted += 1
        let id = EffectID(node: node.number, number: effectsStarted)
        let post = environment.post
        let emit = Emit<R.Mutation> { mutation in
            post { tree in tree.apply(mutation, of: R.self, from: id) }
        }
        let run = effect.run
        running[id] = RunningEffect(cancelID: effect.cancelID, origin: origin, cancel: {})
        let cancel = environment.spawn {
            do {
                try await run(emit)
                post { tree in tree.effectEnded(id, nil) }
            } catch {
                let text = error is CancellationError ? nil : "\(error)"
                post { tree in tree.effectEnded(id, text) }
            }
        }
        running[id]?.cancel = cancel
    }

    /// Applies what an effect emitted, unless it was cancelled meanwhile.
    private func apply<R: Reactor>(
        _ mutation: R.Mutation, of type: R.Type, from id: EffectID
    ) {
        guard let effect = running[id], let node = node(id.node) as? Node<R> else { return }
        turn.caller = .daemon
        turn.origin = effect.origin
        node.commit(Mutations(mutation), turn)
        finishEmission()
    }

    private func effectEnded(_ id: EffectID, _ error: String?) {
        guard let effect = running.removeValue(forKey: id), let error else { return }
        turn.news.failures.append(
            LateFailure(
                origin: effect.origin, code: LateFailure.effectFailedCode, message: error))
    }

    /// Cancels the effects of a node, or those of one name; what they still emit is dropped.
    func cancelEffects(of node: UInt32, named cancelID: String? = nil) {
        for (id, effect) in running where id.node == node {
            guard cancelID == nil || effect.cancelID == cancelID else { continue }
            running[id] = nil
            effect.cancel()
        }
    }
}
