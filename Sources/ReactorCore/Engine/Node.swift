public import ReactorBytes
import ReactorWire

/// A mounted reactor and its state.
public final class Node<R: Reactor>: AnyNode {
    @usableFromInline package let reactor: R
    // `reduce` receives nothing through which it could reach the node, so accesses cannot overlap.
    @usableFromInline let cell: Cell<R.State>
    /// The transforms, middleware and taps of the node, if it has any.
    @usableFromInline private(set) var rules: NodeRules<R>?
    /// Whether the reactor is known to have no ``Reactor/shouldCancel(current:upcoming:)``.
    private var neverCancels = false
    let internalActions = InternalActions(of: R.Action.self)
    /// Whether a payload may have a case that only the daemon sends.
    @usableFromInline let checksPayloads: Bool
    /// The state after the last mutation.
    @usableFromInline package var state: R.State {
        @inlinable _read { yield cell.value }
    }

    init(_ reactor: R, number: UInt32, path: SlicePath, parent: AnyNode?) {
        self.reactor = reactor
        checksPayloads = internalActions.areInPayloads
        cell = Cell(reactor.initialState)
        super.init(number: number, path: path, parent: parent)
        installPipeline()
    }

    /// The state as clients see it, after ``Reactor/transform(state:)``.
    @usableFromInline package var presented: R.State { rules?.presented ?? state }

    package override var reactorType: (any Reactor.Type)? { R.self }
    package override var isShownByValue: Bool { !(rules?.states?.isOneForOne ?? true) }
    override var isReacting: Bool { R.isReacting }
    override var form: ReactorForm { R.form }
    package override func ownSchema(of kind: HistoryKind) -> WireSchema? {
        switch kind {
        case .state: R.State.wireSchema
        case .mutation: R.Mutation.wireSchema
        // With the cases that clients cannot send: a planned action may be one.
        case .action: R.Action.wireSchema
        case .task(let name): R.durableTasks.first { $0.name == name }?.schema
        }
    }
    package override var ownVersion: UInt32 { R.version }
    package override var versionedTypes: VersionedTypes { R.versionedTypes }
    override var formerNames: [String] { R.formerNames }
    package override var documentation: String { R.documentation }
    package override var actionSchema: WireSchema {
        InternalCases.removed(from: R.Action.wireSchema)
    }
    package override var mutationSchema: WireSchema { R.Mutation.wireSchema }
    package override var stateSchema: WireSchema { R.State.wireSchema }
    package override var replySchema: WireSchema? {
        R.Reply.self == NoReply.self ? nil : R.Reply.wireSchema
    }

    @usableFromInline
    override func step(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        try R._step(self, bytes, &cursor, turn)
    }

    package override func encodeState(into writer: inout WireWriter) {
        state.encode(into: &writer)
    }

    package override func replay(
        _ mutations: Span<UInt8>, on state: Span<UInt8>
    ) throws(WireError) -> [UInt8] {
        var copy = try R.State(wireBytes: state)
        var cursor = WireCursor()
        while cursor.offset < mutations.count {
            reactor.reduce(state: &copy, mutation: try R.Mutation.decode(mutations, &cursor))
        }
        return copy.wireBytes()
    }

    override func copyState() -> @Sendable (inout WireWriter) -> Void {
        let state = cell.value
        return { state.encode(into: &$0) }
    }

    override func copyPresented() -> @Sendable (inout WireWriter) -> Void {
        let state = presented
        return { state.encode(into: &$0) }
    }

    override func copyPresented(
        at field: ArraySlice<WireKey>
    ) -> @Sendable (inout WireWriter) -> WireReach {
        let state = presented
        return { state.encode(at: field, into: &$0) }
    }

    override func readState<State>(as type: State.Type) -> State? { state as? State }

    override func restore(_ bytes: Span<UInt8>) throws(WireError) {
        do throws(WireError) {
            cell.value = try R.State(keptBytes: bytes)
        } catch {
            var cursor = WireCursor()
            cell.value = try migrated(bytes, &cursor, of: .state, instead: error)
        }
    }

    override func reset() { cell.value = reactor.initialState }

    override func readKept(_ action: WireEmbedded) throws(WireError) -> WireEmbedded {
        do throws(WireError) {
            // Encoded again, so that the plans of a tree have one form, that of its types.
            return WireEmbedded(try R.Action(keptBytes: action.bytes.span))
        } catch {
            var cursor = WireCursor()
            let read: R.Action = try migrated(
                action.bytes.span, &cursor, of: .action, instead: error)
            return WireEmbedded(read)
        }
    }

    override var taskKinds: [DurableTaskKind] { R.durableTasks }

    override func readKept(
        _ payload: WireEmbedded, of kind: DurableTaskKind
    ) throws(WireError) -> WireEmbedded {
        do throws(WireError) {
            return try kind.read(payload.bytes.span)
        } catch {
            var cursor = WireCursor()
            let value: WireValue = try migrated(
                payload.bytes.span, &cursor, of: .task(kind.name), instead: error)
            return try kind.read(value.wireBytes().span)
        }
    }

    override func performs(_ task: DurableTask, _ turn: Turn) -> Bool {
        !effect(of: task, turn).isUnperformed
    }

    override func redo(_ bytes: Span<UInt8>, _ cursor: inout WireCursor) throws(WireError) {
        try R._redo(self, bytes, &cursor)
    }

    override func presentRestored(_ turn: Turn) {
        guard let rules, let states = rules.states else { return }
        rules.show(state)
        // A stream's output depends on time that has passed.
        if !states.isStreamed { present(state, turn) }
    }

    override func redo(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, into writer: inout WireWriter
    ) throws(WireError) {
        try redoOlder(bytes, &cursor, into: &writer)
    }

    override func presentRedone(_ turn: Turn) { showRedone(turn) }

    override func encodePresented(into writer: inout WireWriter) {
        if rules?.presented == nil { return state.encode(into: &writer) }
        presented.encode(into: &writer)
    }

    package override func drainChanges() -> StateChanges {
        let changes = R._drain(&cell.value)
        // A transformed state may change where the state itself does not.
        return rules?.presented == nil ? changes : .all
    }

    override func encodeState(
        at field: ArraySlice<WireKey>, into writer: inout WireWriter
    ) -> WireReach {
        if rules?.presented == nil { return state.encode(at: field, into: &writer) }
        return presented.encode(at: field, into: &writer)
    }

    override func endConnection(_ owned: OwnedKeys, _ turn: Turn) {
        commit(
            reactor.connectionEnded(owned, state: state, context: ReactorContext(turn, self)), turn)
    }

    override func react(to change: ChildChange, _ turn: Turn) {
        guard turn.enterReaction(of: self) else { return }
        defer { turn.leaveReaction() }
        let mutations = reactor.react(
            to: change, state: state, context: ReactorContext(turn, self))
        if mutations.requestsAny { commit(mutations, turn) }
    }

    override func childrenChanged(_ change: ChildrenChange, _ turn: Turn) {
        guard turn.enterReaction(of: self) else { return }
        let mutations = reactor.childrenChanged(
            change, state: state, context: ReactorContext(turn, self))
        let isIdle = !mutations.requestsAny
        if !isIdle { commit(mutations, turn) }
        turn.leaveReaction(wasIdle: isIdle)
    }

    override func followerRejected(_ refusal: FollowerRefusal, _ turn: Turn) -> Bool {
        let mutations = reactor.followerRejected(
            refusal, state: state, context: ReactorContext(turn, self))
        if mutations.requestsAny {
            commit(mutations, turn, isLast: true)
            return true
        }
        return !turn.transaction.wishes.isEmpty
    }

    override func startReactor(_ turn: Turn) -> Bool { beginReactor(turn) }

    override func perform(_ task: DurableTask, _ turn: Turn) {
        turn.tree.tasks.perform(task, by: effect(of: task, turn), on: self)
    }

    override func restart(_ turn: Turn) { restartReactor(turn) }

    override func childFailed(_ failure: ChildFailure, _ turn: Turn) {
        let mutations = reactor.childFailed(
            failure, state: state, context: ReactorContext(turn, self))
        _ = commitReaction(mutations, nil, turn)
    }

    override func forgetEffect(_ id: EffectID) {
        guard let rules, rules.isTracking else { return }
        rules.forget(id)
        weighRules()
    }

    override func closeFollower() { rules?.follower?.close() }

    override func dropMiddleware() { rules?.dropMiddleware() }

    override func mountChildren(_ tree: Tree) {
        var visitor = ChildVisitor(parent: self, tree: tree)
        reactor.children(&visitor)
    }
}

// MARK: - Rules
extension Node {
    /// The node's rules, created if needed.
    func orderedRules() -> NodeRules<R> {
        if let rules { return rules }
        let made = NodeRules<R>()
        rules = made
        return made
    }

    /// Sets the node's first rules.
    func setRules(_ rules: NodeRules<R>) {
        self.rules = rules
        weighRules()
    }

    /// Removes empty rules, and updates the node's path, after an addition or a removal.
    func weighRules() {
        if let rules, !rules.isNeeded { self.rules = nil }
        setLongWay(isObservedByParent || rules != nil || isSource)
    }

    /// Remembers a running effect if a later action may end it.
    func track(
        _ id: EffectID, cause: R.Action?, until: (@Sendable (any Sendable) -> Bool)?
    ) {
        guard until != nil || (cause != nil && !neverCancels) else { return }
        orderedRules().track(TrackedEffect(id: id, cause: cause, until: until))
        weighRules()
    }

    /// Cancels those of `effects` that `action` ends, by `until` or by the reactor's
    /// `shouldCancel`.
    func endEffects(_ effects: [TrackedEffect<R.Action>], on action: R.Action, _ turn: Turn) {
        for effect in effects {
            let isEnded = effect.until?(action) ?? false
            if isEnded || ends(effect.cause, action) {
                turn.transaction.wishes.request(.end(effect.id))
            }
        }
    }

    private func ends(_ cause: R.Action?, _ action: R.Action) -> Bool {
        guard let cause, !neverCancels else { return false }
        do throws(NeverCancels) {
            return try reactor.shouldCancel(current: cause, upcoming: action)
        } catch {
            // Remembering this spares later actions the slow path.
            neverCancels = true
            rules?.forgetCauses()
            weighRules()
            return false
        }
    }
}

// MARK: - Deciding and applying
extension Reactor {
    @inlinable @inline(__always)  // into the conformance, which is called for each action
    public static func _step(
        _ node: Node<Self>, _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        let action: Action
        let start = cursor.offset
        do throws(WireError) {
            action = try Action.decode(bytes, &cursor)
            if cursor.offset != bytes.count {
                throw WireError(.trailingBytes(bytes.count &- cursor.offset), at: cursor.offset)
            }
        } catch {
            throw node.refusal(ofUnread: bytes, from: start, error, turn)
        }
        do throws(Rejection) {
            // The first condition is constant for actions without such cases.
            if action.isWireInternal || node.checksPayloads {
                try node.checkInternal(action, turn)
            }
            try _carryOut(action, node, turn)
        } catch {
            throw .rejected(error)
        }
    }

    /// Reduces mutations from the history; not for authors.
    @inlinable
    public static func _redo(
        _ node: Node<Self>, _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) {
        while cursor.offset < bytes.count {
            let mutation: Mutation
            let start = cursor
            do throws(WireError) {
                mutation = try Mutation.decode(bytes, &cursor)
            } catch {
                cursor = start
                mutation = try node.migrated(bytes, &cursor, of: .mutation, instead: error)
            }
            node.reactor.reduce(state: &node.cell.value, mutation: mutation)
        }
    }

    /// Decides and applies one action; not for authors.
    @inlinable
    public static func _carryOut(
        _ action: Action, _ node: Node<Self>, _ turn: Turn
    ) throws(Rejection) {
        guard turn.isShort(for: node) else { return try node.carryOutLong(action, turn) }
        let mutations = try node.reactor.mutate(
            action: action, state: node.cell.value, context: ReactorContext(turn, node))
        if mutations.extras == nil, case .one(let mutation) = mutations.sync {
            if turn.recordsDeltas {
                turn.beginDelta(of: node)
                mutation.encode(into: &turn.deltas.value.writer)
                try turn.endDelta(of: node)
            }
            node.reactor.reduce(state: &node.cell.value, mutation: mutation)
            node.touch(turn)
        } else {
            try node.enact(mutations, turn, cause: action)
        }
    }
}

extension Node {
    /// Applies a decision, or refuses it before anything has changed.
    @usableFromInline
    func enact(
        _ mutations: Mutations<R.Mutation>, _ turn: Turn, cause: R.Action
    ) throws(Rejection) {
        try check(mutations, turn)
        var isSending = false
        if let extras = mutations.extras {
            if !extras.effects.isEmpty {
                try turn.tree.effects.checkRoom(for: extras.effects.count, of: self)
            }
            if extras.elsewhere.contains(where: \.isCreation) {
                try turn.tree.effects.checkWaitingRoom(of: self)
            }
            try ElsewhereWork(of: self, turn).checkKeys(extras.elsewhere[...])
            isSending = extras.isSending
        }
        // A reaction decides after the mutation that it reacts to was applied. Where its effects
        // may lack capacity, the transaction must be reversible; likewise where a sent action may
        // be refused.
        guard isSending || turn.isCrowded, !turn.undo.isRecording,
            isObservedByParent || !(mutations.extras?.elsewhere.isEmpty ?? true)
        else {
            try record(mutations, turn, cause: cause, mayRefuse: isSending)
            return try turn.checkRefusal()
        }
        try turn.reversibly { () throws(Rejection) in
            try record(mutations, turn, cause: cause, mayRefuse: isSending)
            try turn.checkRefusal()
        }
    }

    /// Encodes and applies a decision in the current transaction; refuses one that is too large
    /// before anything is applied. With `mayRefuse`, the transaction is reversible, and a sent
    /// action that is refused refuses it.
    @usableFromInline
    func record(
        _ mutations: Mutations<R.Mutation>, _ turn: Turn, cause: R.Action? = nil,
        mayRefuse: Bool = false
    ) throws(Rejection) {
        if mutations.count > 0 {
            if turn.recordsDeltas {
                turn.beginDelta(of: self)
                encode(mutations.sync, into: &turn.deltas.value.writer)
                try turn.endDelta(of: self)
            }
            if turn.undo.isRecording { saveForUndo(turn) }
            turn.snapshot?.save(self)
            // Before the reactions, which may read derived values.
            if isSource { turn.derive(feeds, from: self) }
            apply(mutations.sync, turn)
            touch(turn)
            if let rules { notifyOfMutations(mutations.sync, rules, turn) }
        }
        guard let extras = mutations.extras else { return }
        for task in extras.tasks { turn.tree.tasks.request(task, of: self) }
        let elsewhere = ElsewhereWork(of: self, turn)
        if mayRefuse {
            try elsewhere.carryOutAll(extras.elsewhere)
        } else {
            for change in extras.elsewhere { elsewhere.carryOut(change) }
        }
        for selection in extras.cancelled { turn.cancel(selection, of: number) }
        for effect in extras.effects {
            turn.tree.effects.request(effect, on: self, cause: cause)
        }
    }

    /// Refuses a decision that exceeds a limit, including its changes of other nodes.
    @usableFromInline
    func check(_ mutations: Mutations<R.Mutation>, _ turn: Turn) throws(Rejection) {
        if turn.transaction.refusesWaits, turn.transaction.wishes.isReplyDeferred {
            throw Rejection(.quota, "too many of the session's actions wait for their answers")
        }
        let elsewhere = mutations.extras?.elsewhere ?? []
        try turn.check(mutations.count + elsewhere.count)
        try ElsewhereWork(of: self, turn).checkLimits(elsewhere)
        if let tasks = mutations.extras?.tasks, !tasks.isEmpty {
            try turn.tree.tasks.check(tasks, of: self)
        }
    }

    /// Applies a decision that cannot be refused: a reaction, the result of an effect, the end of a
    /// connection. Without `isLast`, the reactor may decide what follows if it is left out.
    func commit(
        _ mutations: Mutations<R.Mutation>, _ turn: Turn, cause: R.Action? = nil,
        isLast: Bool = false
    ) {
        do throws(Rejection) {
            let mutations = try passing(mutations, turn)
            try check(mutations, turn)
            try record(mutations, turn, cause: cause)
        } catch {
            let report = "\(path): \(error)"
            if isLast { return turn.complain(report) }
            turn.transaction.wishes.request(
                .refusal(
                    FollowerRefusal(path: path, rejection: error, action: nil), asker: number,
                    report: report))
        }
    }

    private func encode(_ facts: Mutations<R.Mutation>.Facts, into writer: inout WireWriter) {
        switch facts {
        case .none: break
        case .one(let mutation): mutation.encode(into: &writer)
        case .many(let mutations): for mutation in mutations { mutation.encode(into: &writer) }
        }
    }

    private func apply(_ facts: Mutations<R.Mutation>.Facts, _ turn: Turn) {
        switch facts {
        case .none: return
        case .one(let mutation): reactor.reduce(state: &cell.value, mutation: mutation)
        case .many(let mutations):
            for mutation in mutations { reactor.reduce(state: &cell.value, mutation: mutation) }
        }
        guard isObservedByParent, let parent else { return }
        // A reaction may mutate this child again, and a replay reads all of one delta before the
        // next: reactions come after all mutations of this delta.
        for mutation in facts.all {
            parent.react(to: ChildChange(child: self, mutation: mutation), turn)
        }
    }

    private func saveForUndo(_ turn: Turn) {
        turn.undo.weigh(self)
        let saved = state
        let presented = rules?.presented
        turn.undo.add { [self] in
            cell.value = saved
            rules?.show(presented)
        }
        turn.saveSequences(of: self)
    }
}
