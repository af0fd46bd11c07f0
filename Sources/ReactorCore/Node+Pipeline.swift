import ReactorWire

// MARK: - The long way
extension Node {
    /// Carries out an action with all that stands in its way.
    @usableFromInline
    func carryOutLong(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        try turn.attempt { () throws(Rejection) in
            guard let transform = rules?.actions else { return try decide(action, turn) }
            let actions = try run(action, through: transform, turn)
            if transform.isStreamed { turn.isAccepted = true }
            try decideAll(actions, turn)
        }
    }

    private func run(
        _ action: R.Action, through transform: TransformRun<R.Action>, from stage: Int = 0,
        _ turn: Turn
    ) throws(Rejection) -> [R.Action] {
        try transform.run(action, from: stage, at: path, turn) { stage, gate in
            openStream(transform, stage, gate, turn) { $0.arrive(action: $1, from: stage + 1, $2) }
        }
    }

    private func run(
        _ mutation: R.Mutation, through transform: TransformRun<R.Mutation>, from stage: Int = 0,
        _ turn: Turn
    ) throws(Rejection) -> [R.Mutation] {
        try transform.run(mutation, from: stage, at: path, turn) { stage, gate in
            openStream(transform, stage, gate, turn) {
                $0.arrive(mutation: $1, from: stage + 1, $2)
            }
        }
    }

    /// Begins the streams of all transforms, so that what they say of their own comes from the start.
    func openStreams(_ turn: Turn) {
        guard let rules else { return }
        rules.actions?.beginStreams { stage, gate in
            guard let run = rules.actions else { return false }
            return openStream(run, stage, gate, turn) { $0.arrive(action: $1, from: stage + 1, $2) }
        }
        rules.mutations?.beginStreams { stage, gate in
            guard let run = rules.mutations else { return false }
            return openStream(run, stage, gate, turn) {
                $0.arrive(mutation: $1, from: stage + 1, $2)
            }
        }
        rules.states?.beginStreams { stage, gate in
            guard let run = rules.states else { return false }
            return openStream(run, stage, gate, turn) { $0.arrive(state: $1, from: stage + 1, $2) }
        }
    }

    /// What an action becomes, for a preview: that is of this moment, and has no time for streams.
    func previewed(_ action: R.Action, _ turn: Turn) throws(Rejection) -> [R.Action] {
        guard let rules else { return [action] }
        guard !(rules.actions?.isStreamed ?? false), !(rules.mutations?.isStreamed ?? false)
        else { throw .preview(path) }
        guard let transform = rules.actions else { return [action] }
        return try run(action, through: transform, turn)
    }

    /// Decides several actions in the place of one: all of them, or none.
    private func decideAll(_ actions: [R.Action], _ turn: Turn) throws(Rejection) {
        guard actions.count > 1, turn.isPlain else {
            for action in actions { try decide(action, turn) }
            return
        }
        try turn.reversibly { () throws(Rejection) in
            for action in actions { try decide(action, turn) }
        }
    }

    /// Decides and applies one action, and tells those who want to know.
    private func decide(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        // because whatever of a generic type is not there is not to be asked for: that costs more
        // than all the rest
        if let rules, !rules.taps.isEmpty || rules.isTracking {
            try decideHeard(action, rules, turn)
        } else {
            try decideAlone(action, rules, turn)
        }
    }

    private func decideAlone(
        _ action: R.Action, _ rules: NodeRules<R>?, _ turn: Turn
    ) throws(Rejection) {
        var mutations = try reactor.mutate(
            action: action, state: state, context: Context(turn, self))
        if let rules, rules.mutations != nil { mutations = try passing(mutations, turn) }
        try enact(mutations, turn, cause: action)
        if let rules, !rules.middleware.isEmpty { runMiddleware(action, rules, turn) }
    }

    private func decideHeard(
        _ action: R.Action, _ rules: NodeRules<R>, _ turn: Turn
    ) throws(Rejection) {
        let taps = rules.taps.elements
        var admitted = 0
        do throws(Rejection) {
            for tap in taps {
                try tap.admit?(action)
                admitted += 1
            }
            let mutations = try reactor.mutate(
                action: action, state: state, context: Context(turn, self))
            let passed = try passing(mutations, turn)
            let earlier = rules.tracked
            try enact(passed, turn, cause: action)
            endEffects(earlier, on: action, turn)
        } catch {
            for tap in taps[..<admitted] { tap.withdraw?(action) }
            throw error
        }
        if !rules.middleware.isEmpty { runMiddleware(action, rules, turn) }
        tellOfAction(action, taps, turn)
    }

    /// What is left of `mutations` after the transform.
    func passing(
        _ mutations: Mutations<R.Mutation>, _ turn: Turn
    ) throws(Rejection) -> Mutations<R.Mutation> {
        guard let transform = rules?.mutations, mutations.count > 0 else { return mutations }
        var passed: [R.Mutation] = []
        for mutation in mutations.sync.all {
            passed += try run(mutation, through: transform, turn)
        }
        if transform.isStreamed { turn.isAccepted = true }
        return Mutations(.many(passed), extras: mutations.extras)
    }
}

// MARK: - What came through a stream, or in from a source
extension Node {
    func arrive(action: R.Action, from stage: Int, _ turn: Turn) {
        guard let transform = rules?.actions else { return }
        receive(turn) { () throws(Rejection) in
            let actions = try run(action, through: transform, from: stage, turn)
            try decideAll(actions, turn)
            return !actions.isEmpty
        }
    }

    func arrive(mutation: R.Mutation, from stage: Int, _ turn: Turn) {
        guard let transform = rules?.mutations else { return }
        receive(turn) { () throws(Rejection) in
            let mutations = try run(mutation, through: transform, from: stage, turn)
            let passed = Mutations(sync: mutations)
            try check(passed, turn)
            try record(passed, turn)
            return !mutations.isEmpty
        }
    }

    /// Carries out what came in, as one transaction; there is none where nothing came through.
    private func receive(_ turn: Turn, _ body: () throws(Rejection) -> Bool) {
        do throws(Rejection) {
            var isTransaction = false
            try turn.attempt { () throws(Rejection) in isTransaction = try body() }
            if isTransaction { turn.tree.finishEmission() }
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
            let states = try transform.run(state, from: stage, at: path, turn) { stage, gate in
                openStream(transform, stage, gate, turn) {
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
        guard !rules.taps.isEmpty else { return }
        let taps = rules.taps.elements.compactMap { $0.mutation }
        guard !taps.isEmpty else { return }
        let origin = turn.origin
        turn.whenCommitted {
            for mutation in facts.all { for tap in taps { tap(mutation, origin) } }
        }
    }

    private func tellOfAction(_ action: R.Action, _ taps: [NodeTap<R>], _ turn: Turn) {
        guard !taps.isEmpty else { return }
        let origin = turn.origin
        turn.whenCommitted {
            for tap in taps { tap.action?(action, origin) }
        } orElse: {
            for tap in taps { tap.withdraw?(action) }
        }
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
