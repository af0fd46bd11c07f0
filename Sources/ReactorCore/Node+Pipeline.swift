import ReactorWire

// MARK: - The long way
extension Node {
    /// Carries out an action with all that stands in its way.
    @usableFromInline
    func carryOutLong(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        guard let transform = rules?.actions else { return try decide(action, turn) }
        try checkPreview(transform.isStreamed, turn)
        let actions = try transform.run(action, at: path) { stage, stream in
            openStream(transform, stage, stream, turn) {
                $0.arrive(action: $1, from: stage + 1, $2)
            }
        }
        if transform.isStreamed { turn.isAccepted = true }
        try decideAll(actions, turn)
    }

    /// Decides several actions in the place of one: all of them, or none.
    private func decideAll(_ actions: [R.Action], _ turn: Turn) throws(Rejection) {
        guard actions.count > 1, turn.isPlain else {
            for action in actions { try decide(action, turn) }
            return
        }
        let mark = turn.mark
        turn.isPlain = false
        do throws(Rejection) {
            for action in actions { try decide(action, turn) }
        } catch {
            turn.rollBack(to: mark)
            turn.isPlain = true
            throw error
        }
        turn.undo.removeAll()
        turn.isPlain = true
    }

    /// Decides and applies one action, and tells those who want to know.
    private func decide(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        let taps = rules?.taps.elements ?? []
        var admitted = 0
        do throws(Rejection) {
            for tap in taps {
                try tap.admit?(action)
                admitted += 1
            }
            let mutations = try reactor.mutate(
                action: action, state: state, context: Context(turn, self))
            let passed = try passing(mutations, turn)
            try check(passed, turn)
            let earlier = rules?.tracked ?? []
            try record(passed, turn, cause: action)
            endEffects(earlier, on: action, turn)
        } catch {
            for tap in taps[..<admitted] { tap.withdraw?(action) }
            throw error
        }
        runMiddleware(action, turn)
        tellOfAction(action, taps, turn)
    }

    /// What is left of `mutations` after the transform.
    func passing(
        _ mutations: Mutations<R.Mutation>, _ turn: Turn
    ) throws(Rejection) -> Mutations<R.Mutation> {
        guard let transform = rules?.mutations, mutations.count > 0 else { return mutations }
        try checkPreview(transform.isStreamed, turn)
        var passed: [R.Mutation] = []
        for mutation in mutations.sync.all {
            passed += try transform.run(mutation, at: path) { stage, stream in
                openStream(transform, stage, stream, turn) {
                    $0.arrive(mutation: $1, from: stage + 1, $2)
                }
            }
        }
        if transform.isStreamed { turn.isAccepted = true }
        return Mutations(.many(passed), extras: mutations.extras)
    }

    // because what a stream lets through comes later, and a preview is of this moment
    private func checkPreview(_ isStreamed: Bool, _ turn: Turn) throws(Rejection) {
        if isStreamed, turn.isPreview { throw .noPreview }
    }
}

extension Rejection {
    /// An action that cannot be tried on a mirror.
    static let noPreview = Rejection("noPreview", "this action cannot be tried on a mirror")
}

// MARK: - What came through a stream, or in from a source
extension Node {
    func arrive(action: R.Action, from stage: Int, _ turn: Turn) {
        do throws(Rejection) {
            guard let transform = rules?.actions else { return }
            let actions = try transform.run(action, from: stage, at: path) { stage, stream in
                openStream(transform, stage, stream, turn) {
                    $0.arrive(action: $1, from: stage + 1, $2)
                }
            }
            for action in actions {
                try decide(action, turn)
                turn.tree.finishEmission()
            }
        } catch {
            turn.clearRequests()
            turn.complain("\(path): \(error)")
        }
    }

    func arrive(mutation: R.Mutation, from stage: Int, _ turn: Turn) {
        do throws(Rejection) {
            guard let transform = rules?.mutations else { return }
            let mutations = try transform.run(mutation, from: stage, at: path) { stage, stream in
                openStream(transform, stage, stream, turn) {
                    $0.arrive(mutation: $1, from: stage + 1, $2)
                }
            }
            for mutation in mutations {
                let passed = Mutations(mutation)
                try check(passed, turn)
                try record(passed, turn)
                turn.tree.finishEmission()
            }
        } catch {
            turn.clearRequests()
            turn.complain("\(path): \(error)")
        }
    }

    func arrive(state: R.State, from stage: Int, _ turn: Turn) {
        present(state, from: stage, turn)
        touch(turn)
        turn.tree.finishEmission()
    }

    /// Shows what the transform makes of a state.
    func present(_ state: R.State, from stage: Int = 0, _ turn: Turn) {
        guard let rules, let transform = rules.states else { return }
        do throws(Rejection) {
            let states = try transform.run(state, from: stage, at: path) { stage, stream in
                openStream(transform, stage, stream, turn) {
                    $0.arrive(state: $1, from: stage + 1, $2)
                }
            }
            if let last = states.last { rules.presented = last }
        } catch {
            turn.complain("\(path): \(error)")
        }
    }
}

// MARK: - Who is told
extension Node {
    func tellOfMutations(
        _ facts: Mutations<R.Mutation>.Facts, _ rules: NodeRules<R>, _ turn: Turn
    ) {
        if rules.states != nil { present(state, turn) }
        let taps = rules.taps.elements.compactMap(\.mutation)
        guard !taps.isEmpty else { return }
        let origin = turn.origin
        turn.whenCommitted {
            for mutation in facts.all { for tap in taps { tap(mutation, origin) } }
        }
    }

    private func tellOfAction(_ action: R.Action, _ taps: [NodeTap<R>], _ turn: Turn) {
        guard !taps.isEmpty else { return }
        let origin = turn.origin
        if !turn.isPlain {
            turn.undo.append { for tap in taps { tap.withdraw?(action) } }
        }
        turn.whenCommitted { for tap in taps { tap.action?(action, origin) } }
    }

    private func runMiddleware(_ action: R.Action, _ turn: Turn) {
        guard let rules, !rules.middleware.isEmpty else { return }
        let origin = turn.origin
        let sequence = turn.lastSequence
        let post = turn.tree.environment.post
        let call = MiddlewareCall<R>(
            getState: { [self] in state }, action: action,
            dispatch: { [path] action in
                let action = WireEmbedded(action)
                // because what is dispatched when the transaction is over follows nothing
                if turn.lastSequence == sequence { return turn.follow(path, action) }
                post { tree in tree.dispatch(action, to: path, origin: origin) }
            },
            later: { [weak self] pause, job in
                guard let self else { return }
                turn.home?.run(job, after: pause, for: self, origin: origin)
            },
            now: turn.tree.environment.clock.now)
        for one in rules.middleware.elements { one.body(call) }
    }
}

extension Mutations.Facts {
    /// The mutations, in order.
    var all: [Mutation] {
        switch self {
        case .none: []
        case .one(let mutation): [mutation]
        case .many(let mutations): mutations
        }
    }
}
