public import ReactorBytes
import ReactorWire

/// A mounted reactor and its state.
public final class Node<R: Reactor>: AnyNode {
    @usableFromInline let reactor: R
    // because `reduce` is handed nothing by which it could come back to the node: no two accesses
    // overlap
    @usableFromInline let place: Place<R.State>
    /// What stands in an action's way, if anything does.
    @usableFromInline var rules: NodeRules<R>?
    /// Whether the reactor is known to end no effects by its actions.
    var neverCancels = false
    /// The state after the last mutation.
    public var state: R.State {
        @inlinable _read { yield place.value }
    }

    init(_ reactor: R, number: UInt32, path: SlicePath, parent: AnyNode?) {
        self.reactor = reactor
        place = Place(reactor.initialState)
        super.init(number: number, path: path, parent: parent)
        installPipeline()
    }

    /// The state as it is shown: what ``Reactor/transform(state:)`` made of it.
    public var presented: R.State { rules?.presented ?? state }

    public override var isShownByValue: Bool { !(rules?.states?.isOneForOne ?? true) }
    override var isReacting: Bool { R.isReacting }
    override var form: ReactorForm { ReactorForm.of(R.self) }
    override var formerNames: [String] { R.formerNames }
    public override var documentation: String { R.documentation }
    public override var actionSchema: WireSchema { R.Action.wireSchema }
    public override var mutationSchema: WireSchema { R.Mutation.wireSchema }
    public override var stateSchema: WireSchema { R.State.wireSchema }
    public override var replySchema: WireSchema? {
        R.Reply.self == NoReply.self ? nil : R.Reply.wireSchema
    }

    @usableFromInline
    override func step(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        try R._step(self, bytes, &cursor, turn)
    }

    public override func encodeState(into writer: inout WireWriter) {
        state.encode(into: &writer)
    }

    public override func replay(
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
        let state = place.value
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

    override func restore(_ bytes: Span<UInt8>) throws(WireError) {
        do throws(WireError) {
            place.value = try R.State(keptBytes: bytes)
        } catch {
            var cursor = WireCursor()
            place.value = try migrated(bytes, &cursor, of: .state, instead: error)
        }
    }

    override func reset() { place.value = reactor.initialState }

    override func readKept(_ action: WireEmbedded) throws(WireError) -> WireEmbedded {
        do throws(WireError) {
            _ = try R.Action(keptBytes: action.bytes.span)
            return action
        } catch {
            var cursor = WireCursor()
            let read: R.Action = try migrated(
                action.bytes.span, &cursor, of: .action, instead: error)
            return WireEmbedded(read)
        }
    }

    override func performs(_ task: DurableTask) -> Bool {
        !reactor.perform(task, state: state).isUnperformed
    }

    override func redo(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) {
        try R._redo(self, bytes, &cursor)
    }

    override func presentRestored(_ turn: Turn) {
        guard let rules, let states = rules.states else { return }
        rules.presented = state
        // because what streams let through is of a time that has passed
        if !states.isStreamed { present(state, turn) }
    }

    override func encodePresented(into writer: inout WireWriter) {
        if rules?.presented == nil { return state.encode(into: &writer) }
        presented.encode(into: &writer)
    }

    public override func drainChanges() -> StateChanges {
        let changes = R._drain(&place.value)
        // because what is shown may differ where the state does not
        return rules?.presented == nil ? changes : .all
    }

    override func encodeState(
        at field: ArraySlice<WireKey>, into writer: inout WireWriter
    ) -> WireReach {
        if rules?.presented == nil { return state.encode(at: field, into: &writer) }
        return presented.encode(at: field, into: &writer)
    }

    override func endConnection(_ owned: Owned, _ turn: Turn) {
        commit(reactor.connectionEnded(owned, state: state, context: Context(turn, self)), turn)
    }

    override func react(to change: ChildChange, _ turn: Turn) {
        guard turn.enterReaction(of: self) else { return }
        defer { turn.reactionDepth -= 1 }
        let mutations = reactor.react(to: change, state: state)
        if mutations.count > 0 || mutations.extras != nil { commit(mutations, turn) }
    }

    override func begin(_ turn: Turn) -> Bool { beginReactor(turn) }

    override func perform(_ task: DurableTask, _ turn: Turn) { performTask(task, turn) }

    override func restart(_ turn: Turn) {
        let before = fault
        if !turn.isPlain { turn.undo.append { [self] in fault = before } }
        fault = nil
        turn.cancel(.all, of: number)
        _ = beginReactor(turn)
    }

    override func childFailed(_ failure: ChildFailure, _ turn: Turn) {
        let mutations = reactor.childFailed(failure, state: state)
        guard mutations.count > 0 || mutations.extras != nil else { return }
        commit(mutations, turn)
        turn.tree.finishEmission()
    }

    override func forgetEffect(_ id: EffectID) {
        guard let rules, rules.isTracking else { return }
        rules.forget(id)
        weighRules()
    }

    override func closeDesk() { rules?.sagas?.close() }

    override func dropMiddleware() { rules?.dropMiddleware() }

    override func mountChildren(_ tree: Tree) {
        var visitor = ChildVisitor(parent: self, tree: tree)
        reactor.children(&visitor)
    }
}

// MARK: - Carrying out
extension Reactor {
    @inlinable
    public static func _step(
        _ node: Node<Self>, _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        let action: Action
        do throws(WireError) {
            action = try Action.decode(bytes, &cursor)
            if cursor.offset != bytes.count {
                throw WireError(.trailingBytes(bytes.count &- cursor.offset), at: cursor.offset)
            }
        } catch {
            throw .decode(error)
        }
        do throws(Rejection) {
            try _carryOut(action, node, turn)
        } catch {
            throw .rejected(error)
        }
    }

    /// Reduces mutations that were decided before; not for authors.
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
            node.reactor.reduce(state: &node.place.value, mutation: mutation)
        }
    }

    /// Decides and applies one action; not for authors.
    @inlinable
    public static func _carryOut(
        _ action: Action, _ node: Node<Self>, _ turn: Turn
    ) throws(Rejection) {
        guard turn.isShort(for: node) else { return try node.carryOutLong(action, turn) }
        let mutations = try node.reactor.mutate(
            action: action, state: node.place.value, context: Context(turn, node))
        if mutations.extras == nil, case .one(let mutation) = mutations.sync {
            if turn.recordsDeltas {
                turn.beginDelta(of: node)
                mutation.encode(into: &turn.deltas.value)
                try turn.endDelta(of: node)
            }
            node.reactor.reduce(state: &node.place.value, mutation: mutation)
            node.touch(turn)
        } else {
            try node.enact(mutations, turn, cause: action)
        }
    }
}

extension Turn {
    func checkSize(_ byteCount: Int, of node: AnyNode) throws(Rejection) {
        guard byteCount <= CoreLimits.deltaBytesMax else {
            throw Rejection(
                .tooLarge,
                "\(node.path): \(byteCount) bytes of mutations, at most "
                    + "\(CoreLimits.deltaBytesMax) fit a transaction")
        }
    }

    func check(_ mutationCount: Int) throws(Rejection) {
        guard mutationCount <= CoreLimits.mutationsMax else {
            throw Rejection(
                .tooLarge,
                "\(mutationCount) mutations, at most \(CoreLimits.mutationsMax) fit a transaction")
        }
    }
}

extension Node {
    /// Applies what an action decided, or refuses it before anything has changed.
    @usableFromInline
    func enact(
        _ mutations: Mutations<R.Mutation>, _ turn: Turn, cause: R.Action
    ) throws(Rejection) {
        try check(mutations, turn)
        if let extras = mutations.extras {
            try turn.checkRoom(for: extras.effects.count, of: self)
            try checkKeys(extras.elsewhere)
        }
        // A reaction decides after the mutation that it reacts to was applied: where its effects may
        // lack room, the transaction must be one that can be taken back.
        guard turn.isCrowded, turn.isPlain,
            isObservedByParent || !(mutations.extras?.elsewhere.isEmpty ?? true)
        else {
            try record(mutations, turn, cause: cause)
            return try turn.checkRefusal()
        }
        try turn.reversibly { () throws(Rejection) in
            try record(mutations, turn, cause: cause)
            try turn.checkRefusal()
        }
    }

    /// Encodes and applies what was decided, in the transaction at hand; refuses what is too large
    /// before anything is applied.
    @usableFromInline
    func record(
        _ mutations: Mutations<R.Mutation>, _ turn: Turn, cause: R.Action? = nil
    ) throws(Rejection) {
        if mutations.count > 0 {
            if turn.recordsDeltas {
                turn.beginDelta(of: self)
                encode(mutations.sync, into: &turn.deltas.value)
                try turn.endDelta(of: self)
            }
            if !turn.isPlain { saveForUndo(turn) }
            turn.snapshot?.save(self)
            apply(mutations.sync, turn)
            touch(turn)
            if let rules { tellOfMutations(mutations.sync, rules, turn) }
        }
        guard let extras = mutations.extras else { return }
        for task in extras.tasks { turn.wish(task, of: self) }
        for change in extras.elsewhere { carryOut(change, turn) }
        for selection in extras.cancelled { turn.cancel(selection, of: number) }
        for effect in extras.effects { turn.start(effect, on: self, cause: cause) }
    }

    /// Refuses what does not fit a transaction, other nodes' part of it included.
    @usableFromInline
    func check(_ mutations: Mutations<R.Mutation>, _ turn: Turn) throws(Rejection) {
        if turn.refusesWaits, turn.isReplyDeferred {
            throw Rejection(.quota, "too many of the session's actions wait for their answers")
        }
        let elsewhere = mutations.extras?.elsewhere ?? []
        try turn.check(mutations.count + elsewhere.count)
        var createdCount = 0
        for change in elsewhere { try check(change, &createdCount, turn) }
        if let tasks = mutations.extras?.tasks { try turn.check(tasks, of: self) }
    }

    private func check(
        _ change: ElsewhereChange, _ createdCount: inout Int, _ turn: Turn
    ) throws(Rejection) {
        switch change {
        case .mutation(_, let mutation), .keyedMutation(_, _, let mutation):
            guard turn.recordsDeltas else { return }
            let start = turn.deltas.value.count
            mutation.encode(into: &turn.deltas.value)
            let byteCount = turn.deltas.value.count - start
            turn.deltas.value.truncate(to: start)
            try turn.checkSize(byteCount, of: self)
        case .create(let slot, let key), .ensure(let slot, let key):
            guard let collection = children[slot.name], collection.children[key] == nil else {
                return
            }
            try collection.checkCreation(of: key, turn.tree.nodes.count + createdCount)
            createdCount += 1
        case .remove, .restart: break
        }
    }

    /// Refuses changes of children that are not there, and the creation of children that are.
    private func checkKeys(_ changes: [ElsewhereChange]) throws(Rejection) {
        guard !changes.isEmpty else { return }
        // What the changes before have made of a key counts, not what stands in the tree.
        var decided: [WireKey: [WireKey: Bool]] = [:]
        for change in changes {
            switch change {
            case .mutation: break
            case .keyedMutation(let slot, let key, _), .restart(let slot, let key):
                guard decided[slot.name]?[key] ?? hasChild(key, in: slot) else {
                    throw noChild(key, in: slot)
                }
            case .create(let slot, let key):
                guard !(decided[slot.name]?[key] ?? hasChild(key, in: slot)) else {
                    throw Rejection(
                        .conflict,
                        "\(path.appending(slot.name)): there is a child \"\(key)\" already")
                }
                decided[slot.name, default: [:]][key] = true
            case .ensure(let slot, let key): decided[slot.name, default: [:]][key] = true
            case .remove(let slot, let key): decided[slot.name, default: [:]][key] = false
            }
        }
    }

    private func hasChild(_ key: WireKey, in slot: ChildSlot) -> Bool {
        children[slot.name]?.children[key] != nil
    }

    private func noChild(_ key: WireKey, in slot: ChildSlot) -> Rejection {
        Rejection(.notFound, "\(path.appending(slot.name)): there is no child \"\(key)\"")
    }

    /// Applies what was decided by a party that cannot be refused: a reaction, an effect, the end
    /// of a connection.
    func commit(_ mutations: Mutations<R.Mutation>, _ turn: Turn, cause: R.Action? = nil) {
        do throws(Rejection) {
            let mutations = try passing(mutations, turn)
            try check(mutations, turn)
            try record(mutations, turn, cause: cause)
        } catch {
            turn.complain("\(path): \(error)")
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
        case .one(let mutation): reactor.reduce(state: &place.value, mutation: mutation)
        case .many(let mutations):
            for mutation in mutations { reactor.reduce(state: &place.value, mutation: mutation) }
        }
        guard isObservedByParent, let parent else { return }
        // because a parent may mutate the child in turn, and whoever replays the deltas has all of
        // one before the next
        for mutation in facts.all {
            parent.react(to: ChildChange(child: self, mutation: mutation), turn)
        }
    }

    private func saveForUndo(_ turn: Turn) {
        turn.scales?.weigh(self)
        let saved = state
        let presented = rules?.presented
        turn.undo.append { [self] in
            place.value = saved
            rules?.presented = presented
        }
        turn.saveSequences(of: self)
    }

    private func carryOut(_ change: ElsewhereChange, _ turn: Turn) {
        switch change {
        case .mutation(let slot, let mutation):
            guard let child = children[slot.name] else { return }
            mutation.apply(to: child, turn)
        case .keyedMutation(let slot, let key, let mutation):
            guard let child = children[slot.name]?.children[key] else {
                return turn.complain("\(noChild(key, in: slot)): a mutation of it is left out")
            }
            mutation.apply(to: child, turn)
        case .create(let slot, let key):
            guard let collection = children[slot.name] else { return }
            if collection.children[key] != nil {
                turn.complain(
                    "\(collection.path): there is a child \"\(key)\" already, and it stays: use "
                        + "`ensuring` where that is right")
            }
            turn.create(key, in: collection)
        case .ensure(let slot, let key):
            guard let collection = children[slot.name] else { return }
            turn.create(key, in: collection)
        case .remove(let slot, let key):
            guard let collection = children[slot.name] else { return }
            turn.remove(key, from: collection)
        case .restart(let slot, let key):
            guard let child = children[slot.name]?.children[key] else {
                return turn.complain("\(noChild(key, in: slot)): it is not restarted")
            }
            child.restart(turn)
        }
    }
}
