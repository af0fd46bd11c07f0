import ReactorThreads
import ReactorWire

// MARK: - Actions that only the daemon sends
extension Node {
    /// Refuses an action with a case that only the daemon sends, if a client has sent it.
    @usableFromInline
    func checkInternal(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        if !turn.isFromDaemon { try internalActions.check(action, at: path) }
    }

    /// The failure of an action that cannot be decoded. If a client's action names a case that only
    /// the daemon sends, the failure says only that.
    @usableFromInline
    func refusal(
        ofUnread bytes: Span<UInt8>, from offset: Int, _ error: WireError, _ turn: Turn
    ) -> StepFailure {
        if turn.isFromDaemon || R.Action.wireInternalCases.isEmpty { return .decode(error) }
        var cursor = WireCursor(action: offset)
        let action = try? WireValue.decode(bytes, &cursor)
        guard let name = InternalActions.name(of: action),
            R.Action.wireInternalCases.contains(name)
        else { return .decode(error) }
        return .rejected(InternalActions.refusal(of: name, at: path))
    }
}

// MARK: - The pipeline
extension Node {
    /// Runs an action through the transforms, middleware and reactions of this node.
    @usableFromInline
    func carryOutLong(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        try turn.attempt { () throws(Rejection) in
            guard let transform = rules?.actions else { return try decide(action, turn) }
            let actions = try process(action, through: transform, turn)
            if transform.isStreamed { turn.accept() }
            try decideAll(actions, turn)
        }
    }

    private func process(
        _ action: R.Action, through transform: TransformRun<R.Action>, from stage: Int = 0,
        _ turn: Turn
    ) throws(Rejection) -> [R.Action] {
        try transform.process(action, from: stage, at: path, turn) { stage, gate in
            openStream(transform, stage, gate, turn) { $0.arrive(action: $1, from: stage + 1, $2) }
        }
    }

    private func process(
        _ mutation: R.Mutation, through transform: TransformRun<R.Mutation>, from stage: Int = 0,
        _ turn: Turn
    ) throws(Rejection) -> [R.Mutation] {
        try transform.process(mutation, from: stage, at: path, turn) { stage, gate in
            openStream(transform, stage, gate, turn) {
                $0.arrive(mutation: $1, from: stage + 1, $2)
            }
        }
    }

    /// Starts the streams of all transforms, so that they can emit from the beginning.
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

    /// The actions that a preview decides; it refuses nodes with streams, which take time.
    func previewed(_ action: R.Action, _ turn: Turn) throws(Rejection) -> [R.Action] {
        guard let rules else { return [action] }
        guard !(rules.actions?.isStreamed ?? false), !(rules.mutations?.isStreamed ?? false)
        else { throw .preview(path) }
        guard let transform = rules.actions else { return [action] }
        return try process(action, through: transform, turn)
    }

    /// Decides several actions in the place of one, all or none.
    private func decideAll(_ actions: [R.Action], _ turn: Turn) throws(Rejection) {
        guard actions.count > 1, !turn.undo.isRecording else {
            for action in actions { try decide(action, turn) }
            return
        }
        try turn.reversibly { () throws(Rejection) in
            for action in actions { try decide(action, turn) }
        }
    }

    /// Decides and applies one action, and informs the taps.
    private func decide(_ action: R.Action, _ turn: Turn) throws(Rejection) {
        // Reading an absent property of a generic type costs more than the rest of this path, so
        // each is read only if it is needed.
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
            action: action, state: state, context: ReactorContext(turn, self))
        if let rules, rules.mutations != nil {
            mutations = try passing(mutations, ofAction: true, turn)
        }
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
                action: action, state: state, context: ReactorContext(turn, self))
            let passed = try passing(mutations, ofAction: true, turn)
            let earlier = rules.tracked
            try enact(passed, turn, cause: action)
            endEffects(earlier, on: action, turn)
        } catch {
            for tap in taps[..<admitted] { tap.withdraw?(action) }
            throw error
        }
        if !rules.middleware.isEmpty { runMiddleware(action, rules, turn) }
        notifyOfAction(action, taps, turn)
    }

    /// The mutations that the transform lets through. Those of an action that go into a stream make
    /// it an accepted one.
    func passing(
        _ mutations: Mutations<R.Mutation>, ofAction isOfAction: Bool = false, _ turn: Turn
    ) throws(Rejection) -> Mutations<R.Mutation> {
        guard let transform = rules?.mutations, mutations.count > 0 else { return mutations }
        var passed: [R.Mutation] = []
        for mutation in mutations.sync.all {
            passed += try process(mutation, through: transform, turn)
        }
        if isOfAction, transform.isStreamed { turn.accept() }
        return Mutations(.many(passed), extras: mutations.extras)
    }

    // MARK: Values from streams and sources

    func arrive(action: R.Action, from stage: Int, _ turn: Turn) {
        guard let transform = rules?.actions else { return }
        receive(turn) { () throws(Rejection) in
            let actions = try process(action, through: transform, from: stage, turn)
            try decideAll(actions, turn)
            return !actions.isEmpty
        }
    }

    func arrive(mutation: R.Mutation, from stage: Int, _ turn: Turn) {
        guard let transform = rules?.mutations else { return }
        receive(turn) { () throws(Rejection) in
            let mutations = try process(mutation, through: transform, from: stage, turn)
            let passed = Mutations(sync: mutations)
            try check(passed, turn)
            try record(passed, turn)
            return !mutations.isEmpty
        }
    }

    /// Applies an incoming value as one transaction; none where no value passed the transform.
    private func receive(_ turn: Turn, _ body: () throws(Rejection) -> Bool) {
        do throws(Rejection) {
            var isTransaction = false
            try turn.attempt { () throws(Rejection) in isTransaction = try body() }
            if isTransaction { turn.tree.finishEmission() }
        } catch {
            turn.transaction.wishes.clear()
            turn.complain("\(path): \(error)")
        }
    }

    func arrive(state: R.State, from stage: Int, _ turn: Turn) {
        present(state, from: stage, turn)
        touch(turn)
        turn.tree.finishEmission()
    }

    /// Shows the result of the state transform for a state.
    func present(_ state: R.State, from stage: Int = 0, _ turn: Turn) {
        guard let rules, let transform = rules.states else { return }
        do throws(Rejection) {
            let states = try transform.process(state, from: stage, at: path, turn) { stage, gate in
                openStream(transform, stage, gate, turn) {
                    $0.arrive(state: $1, from: stage + 1, $2)
                }
            }
            if let last = states.last { rules.show(last) }
        } catch {
            turn.complain("\(path): \(error)")
        }
    }

    // MARK: Taps

    /// Adds `tap`; releasing the token removes it.
    func addTap(_ tap: NodeTap<R>) -> StoreToken {
        // Another tap may release the token while all taps are called for the same action.
        let isOver = Flag()
        let id = orderedRules().add(tap.silent(after: isOver))
        weighRules()
        return StoreToken { [weak self] in
            isOver.raise()
            self?.rules?.removeTap(id)
            self?.weighRules()
        }
    }

    func notifyOfMutations(
        _ facts: Mutations<R.Mutation>.Facts, _ rules: NodeRules<R>, _ turn: Turn
    ) {
        if rules.states != nil { present(state, turn) }
        guard !rules.taps.isEmpty else { return }
        let taps = rules.taps.elements.compactMap { $0.mutation }
        guard !taps.isEmpty else { return }
        let origin = turn.transaction.origin
        turn.whenCommitted {
            for mutation in facts.all { for tap in taps { tap(mutation, origin) } }
        }
    }

    private func notifyOfAction(_ action: R.Action, _ taps: [NodeTap<R>], _ turn: Turn) {
        guard !taps.isEmpty else { return }
        let origin = turn.transaction.origin
        turn.whenCommitted {
            for tap in taps { tap.action?(action, origin) }
        } orElse: {
            for tap in taps { tap.withdraw?(action) }
        }
    }

    // MARK: Middleware

    /// Reads the reactor's transforms and middleware; called once, when it is mounted.
    func installPipeline() {
        let actions = reactor.transform(action: Transform())
        let mutations = reactor.transform(mutation: Transform())
        let states = reactor.transform(state: Transform())
        let middleware = reactor.middleware
        guard
            !actions.isIdentity || !mutations.isIdentity || !states.isIdentity
                || !middleware.isEmpty
        else { return }
        let rules = NodeRules<R>(
            actions: actions.isIdentity ? nil : TransformRun(actions),
            mutations: mutations.isIdentity ? nil : TransformRun(mutations),
            states: states.isIdentity ? nil : TransformRun(states))
        // A stream may pass nothing for a while, and clients need a state to show.
        if !states.isIdentity { rules.show(state) }
        for one in middleware { _ = rules.add(InstalledMiddleware(one)) }
        setRules(rules)
    }

    /// Adds middleware; releasing the token removes it. No run of it begins once `isOver` is raised,
    /// which the token does as well.
    func add(_ middleware: Middleware<R>, until isOver: Flag = Flag()) -> StoreToken {
        let installed = InstalledMiddleware(middleware, until: isOver)
        let id = orderedRules().add(installed)
        weighRules()
        return StoreToken { [weak self, life = installed.life] in
            life.end()
            self?.rules?.removeMiddleware(id)
            self?.weighRules()
        }
    }

    /// Runs the middleware for a decided action.
    func runMiddleware(_ action: R.Action, _ rules: NodeRules<R>, _ turn: Turn) {
        let run = MiddlewareRun(self, rules.outlet(of: self, turn), turn)
        defer { run.end(path, turn) }
        for one in rules.middleware.elements where !one.life.isOver.isUp {
            one.body(MiddlewareCall(run, action, one.life))
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
