public import ReactorBytes

/// A node of the tree: a reactor with its state, or a collection of reactors.
///
/// *Owner*: the tree's isolation; never used from another thread.
public class AnyNode {
    /// Unique while the tree lives and in its history; also the id of the node's replica slice.
    package final var number: UInt32 { ownNumber }
    // Stored apart, since a read of a public variable is checked for exclusivity.
    private final var ownNumber: UInt32
    /// The node's path from the root.
    package let path: SlicePath
    // The tree clears its nodes' references when it is deallocated, which breaks the cycle.
    /// The node above; `nil` at the root.
    package final let parent: AnyNode?
    /// The nodes directly below, by name.
    package private(set) final var children: [WireKey: AnyNode] = [:]
    // Other files read and write these without exclusivity checks; no access calls anything.
    @usableFromInline final let marks: Cell<NodeMarks>
    private final var changedSequence: UInt64 = 0
    private final var watched = false
    /// Sequence of the transaction that created the node, 0 for nodes that exist since the start.
    /// It distinguishes the node from an earlier one at the same path.
    package private(set) final var birthSequence: UInt64 = 0
    /// The last error that the reactor did not handle; cleared when the reactor restarts.
    package private(set) final var fault: String?
    /// Index of the node in the registry's order.
    private(set) final var orderIndex = 0
    /// Number of the last snapshot that has saved the node, or does not need it.
    private(set) final var savedIn: UInt64 = 0
    /// Whether the history holds the node's state in its current encoding.
    private(set) final var isKept = false
    /// The derived values that depend on this node; of a collection, on its children.
    private(set) final var feeds: [AnyDerivedNode] = []
    /// Whether the composed value of the node contains a derived value, or has contained one.
    package final var showsDerived: Bool { marks.value.showsDerived }
    /// Whether the node was removed from its tree.
    package final var isGone: Bool { hasLeft }
    private final var hasLeft = false
    /// Whether the parent's reactor reacts to this node's mutations.
    final let isObservedByParent: Bool

    init(number: UInt32, path: SlicePath, parent: AnyNode?) {
        ownNumber = number
        self.path = path
        self.parent = parent
        isObservedByParent = parent?.isReacting ?? false
        marks = Cell(NodeMarks(takesLongWay: isObservedByParent))
    }

    /// Sequence of the last transaction that changed this node or a node below it.
    package final var sequence: UInt64 { changedSequence }
    /// Whether an observer outside the tree wants a notice, once a turn, of changes at or below.
    package final var isWatched: Bool {
        get { watched }
        set { watched = newValue }
    }
    /// Whether an observer outside the tree wants each delta of the node.
    package final var isReplicated: Bool {
        get { marks.value.isReplicated }
        set { marks.value.isReplicated = newValue }
    }

    /// Whether an action takes the slow path here: the parent reacts, or the node has
    /// ``Node/rules``.
    final var takesLongWay: Bool { marks.value.takesLongWay }

    /// Whether derived values depend on the node, or on its children.
    final var isSource: Bool { marks.value.isSource }

    /// The last component of the path.
    package final var name: WireKey { path.components.last ?? "" }

    final var childNames: [WireKey] { Array(children.keys) }

    /// Records that the current transaction changes this node.
    @usableFromInline
    final func touch(_ turn: Turn) { touch(turn.transaction.sequence, turn, from: self) }

    /// Records that the transaction numbered `sequence` changed this node, after its end.
    final func touch(at sequence: UInt64, _ turn: Turn) { touch(sequence, turn, from: self) }

    // A tail call to itself: a loop over the parents would retain and release at every step.
    private final func touch(_ sequence: UInt64, _ turn: Turn, from origin: AnyNode) {
        changedSequence = sequence
        if watched { return touchWatched(sequence, turn, from: origin) }
        parent?.touch(sequence, turn, from: origin)
    }

    private final func touchWatched(_ sequence: UInt64, _ turn: Turn, from origin: AnyNode) {
        // An observer that shows a node's value needs to know which nodes below it changed.
        if origin.marks.value.listedTurn != turn.number { turn.list(touched: origin) }
        parent?.touch(sequence, turn, from: origin)
    }

    // MARK: For the tree

    final func attach(_ child: AnyNode, named name: WireKey) {
        children[name] = child
        if child.isDerived { markShowsDerived() }
    }

    private final func markShowsDerived() {
        if showsDerived { return }
        marks.value.showsDerived = true
        parent?.markShowsDerived()
    }

    final func removeChild(_ name: WireKey) { children[name] = nil }

    // Children hold their parent, and derived values their sources; this breaks the cycles.
    final func removeChildren() {
        children.removeAll()
        feeds.removeAll()
    }

    /// Makes changes of this node reach a derived value.
    final func feed(_ value: AnyDerivedNode) {
        feeds.append(value)
        marks.value.isSource = true
        setLongWay(true)
    }

    /// Sets the number that the node has in its history.
    final func renumber(_ number: UInt32) { ownNumber = number }

    /// Sets the sequence of the transaction that creates the node.
    final func setBirth(_ sequence: UInt64) { birthSequence = sequence }

    /// Sets the sequence of the last change to an earlier or a recorded one.
    final func restore(sequence: UInt64) { changedSequence = sequence }

    final func setGone(_ isGone: Bool) { hasLeft = isGone }

    final func setFault(_ fault: String?) { self.fault = fault }

    /// Records that the turn numbered `number` lists the node as touched.
    final func list(inTurn number: UInt64) { marks.value.listedTurn = number }

    /// Moves the node in the registry's order.
    final func move(to index: Int) { orderIndex = index }

    /// Records that the snapshot numbered `number` has saved the node, or does not need it.
    final func markSaved(in number: UInt64) { savedIn = number }

    /// Records whether the history holds the node's state in its current encoding.
    final func keep(_ isKept: Bool = true) { self.isKept = isKept }

    final func setLongWay(_ takesLongWay: Bool) { marks.value.takesLongWay = takesLongWay }

    // MARK: For subclasses

    /// Whether the node's reactor reacts to mutations of its children.
    var isReacting: Bool { false }
    /// Whether the node's children have keys and are created and removed at run time.
    package var isCollection: Bool { false }
    /// Whether the node shows a derived value, which no history contains.
    package var isDerived: Bool { false }
    /// The type of the node's reactor, or of the children of a collection; `nil` for a derived value.
    package var reactorType: (any Reactor.Type)? { nil }
    /// Shape of the own states of a collection's children; `nil` in other nodes.
    package var childSchema: WireSchema? { nil }
    /// Whether the keys of a collection are integers.
    package var hasIntegerKeys: Bool { false }
    /// Name of the reactor's type.
    package final var reactorName: String { form.name }
    /// The name that clients receive: ``reactorName``, or for a collection also that of its
    /// children's type.
    package var describedName: String { reactorName }
    /// Name and fingerprint of the reactor.
    var form: ReactorForm { ReactorForm(name: "collection", fingerprint: 0) }
    /// The schema of the reactor's stored values of a kind; `nil` for a collection, which has none.
    package func ownSchema(of kind: HistoryKind) -> WireSchema? { nil }
    /// The author's version of the reactor's types.
    package var ownVersion: UInt32 { 0 }
    /// The types in the values of the node's reactor; for a collection, of its children.
    package var versionedTypes: VersionedTypes { VersionedTypes(in: []) }
    /// Earlier names of the reactor's type.
    var formerNames: [String] { [] }
    /// The reactor's documentation, for clients that list it.
    package var documentation: String { "" }
    /// Fingerprint of the reactor's types: see ``Reactor/fingerprint``.
    package final var fingerprint: UInt64 { form.fingerprint }
    /// Shape of the actions that clients can send to it.
    package var actionSchema: WireSchema { NoReply.wireSchema }
    /// Shape of the mutations that its mirrors receive.
    package var mutationSchema: WireSchema { NoReply.wireSchema }
    /// Shape of its state.
    package var stateSchema: WireSchema {
        .record(WireSchema.Record(name: "Collection", fields: []))
    }
    /// What a mirror of it compares with its own types.
    package var mirroredTypes: NodeTypes {
        NodeTypes(
            reactor: describedName, formerNames: formerNames, fingerprint: fingerprint,
            state: stateSchema, byValue: isShownByValue)
    }
    /// Shape of its replies beyond "applied", if it replies.
    package var replySchema: WireSchema? { nil }

    /// Whether only the daemon can compute the value that the node shows: a stage of its state
    /// transform takes time, drops or multiplies values, or merges a source. A mirror then receives
    /// the value instead of the mutations.
    package var isShownByValue: Bool { false }

    /// Decodes one action and applies it, without its followers.
    @usableFromInline
    func step(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        throw .rejected(
            Rejection(.notFound, "\(path) takes no actions: address one of its children"))
    }

    /// Appends the node's own state, without its children.
    package func encodeState(into writer: inout WireWriter) { writer.map(count: 0) }

    /// Appends the shown state, for clients that do not reduce it themselves.
    func encodePresented(into writer: inout WireWriter) { encodeState(into: &writer) }

    /// Shows the state that recovery restored.
    func presentRestored(_ turn: Turn) {}

    /// Shows the state after mutations of another process were reduced.
    func presentRedone(_ turn: Turn) {}

    /// Appends the start value of a replica: the node's own state, or for a collection the keys of
    /// its children, to which its structural deltas then apply.
    package func encodeReplica(into writer: inout WireWriter) { encodeState(into: &writer) }

    /// The parts of the node's own state that changed since the last call.
    package func drainChanges() -> StateChanges { .all }

    /// Forgets the changes here and below, once every observer has seen them.
    package final func settleChanges() {
        _ = drainChanges()
        for child in children.values { child.settleChanges() }
    }

    /// The encoded state that results from applying `mutations`, encoded one after another, to an
    /// encoded `state`. The node's own state does not change.
    ///
    /// *Place*: audits of reducers in tests. *Cost*: decodes and encodes the whole state.
    package func replay(
        _ mutations: Span<UInt8>, on state: Span<UInt8>
    ) throws(WireError) -> [UInt8] {
        var copy: [UInt8] = []
        copy.append(contentsOf: state, 0..<state.count)
        return copy
    }

    /// Appends the value at `field` of the node's own state.
    func encodeState(at field: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        .impossible
    }

    /// A copy of the state, to be encoded on any thread.
    func copyState() -> @Sendable (inout WireWriter) -> Void { { $0.map(count: 0) } }

    /// A copy of the state as it is shown, to be encoded on any thread.
    func copyPresented() -> @Sendable (inout WireWriter) -> Void { copyState() }

    /// A copy of the value at `field` of the shown state, to be encoded on any thread.
    func copyPresented(
        at field: ArraySlice<WireKey>
    ) -> @Sendable (inout WireWriter) -> WireReach {
        { _ in .impossible }
    }

    /// A copy of a replica's start value, to be encoded on any thread.
    func copyReplica() -> @Sendable (inout WireWriter) -> Void { copyState() }

    /// The state, if it is of type `type`.
    func readState<State>(as type: State.Type) -> State? { nil }

    /// Replaces the node's state with an encoded one.
    func restore(_ bytes: Span<UInt8>) throws(WireError) {}

    /// Replaces the node's state with the reactor's initial one.
    func reset() {}

    /// A planned action from the history, encoded again with today's types.
    func readKept(_ action: WireEmbedded) throws(WireError) -> WireEmbedded { action }

    /// The declared kinds of the reactor's durable tasks.
    var taskKinds: [DurableTaskKind] { [] }

    /// A payload from the history, encoded again with today's type.
    func readKept(
        _ payload: WireEmbedded, of kind: DurableTaskKind
    ) throws(WireError) -> WireEmbedded { payload }

    /// Whether the reactor can perform a task.
    func performs(_ task: DurableTask, _ turn: Turn) -> Bool { true }

    /// Reduces the mutations in `bytes` from the cursor on.
    func redo(_ bytes: Span<UInt8>, _ cursor: inout WireCursor) throws(WireError) {
        throw WireError(.refused("mutations of a node that has no state"), at: cursor.offset)
    }

    /// Reduces mutations that are in an older form, and appends them in today's.
    func redo(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, into writer: inout WireWriter
    ) throws(WireError) {
        try redo(bytes, &cursor)
    }

    /// Which connection holds which child; `nil` unless the children are leased.
    var leaseBook: LeaseBook? { nil }

    /// Applies a change of ownership from the history.
    func redo(_ fact: OwnershipFact) {}

    func endConnection(_ owned: OwnedKeys, _ turn: Turn) {}

    func react(to change: ChildChange, _ turn: Turn) {}

    /// Lets the reactor decide its reaction to a child that was created or removed.
    func childrenChanged(_ change: ChildrenChange, _ turn: Turn) {}

    /// Lets the reactor decide what follows from a follower's refusal. Returns whether it asked for
    /// anything.
    func followerRejected(_ refusal: FollowerRefusal, _ turn: Turn) -> Bool { false }

    /// Lets the reactor decide its start. Returns whether it asked for anything.
    func startReactor(_ turn: Turn) -> Bool { false }

    /// Performs a durable task.
    func perform(_ task: DurableTask, _ turn: Turn) {}

    /// Starts the reactor again, from its current state.
    func restart(_ turn: Turn) {}

    /// Lets the reactor decide its reaction to an error of a child.
    func childFailed(_ failure: ChildFailure, _ turn: Turn) {}

    /// Forgets an effect of the node that has ended.
    func forgetEffect(_ id: EffectID) {}

    /// Informs the follower that this node was removed: see ``NodeFollower``.
    func closeFollower() {}

    // Values that wait in middleware retain the node.
    /// Releases the middleware of a removed node.
    func dropMiddleware() {}

    /// Makes the child under `key` of a collection; `nil` in other nodes.
    func makeChild(_ key: WireKey, number: UInt32) -> AnyNode? { nil }

    /// The reason why no child of this collection can have the key `key`; `nil` if one can.
    package func keyProblem(_ key: WireKey) -> String? { nil }

    /// Refuses a key that equals another one in the author's type and differs in its bytes: that of a
    /// child, unless `decided` has false for it, or one for which `decided` has true.
    ///
    /// *Cost*: O(children) for a key outside ASCII whose type has such keys, as `String` has.
    func checkTwin(of key: WireKey, after decided: [WireKey: Bool]) throws(Rejection) {}

    /// Mounts the static children.
    func mountChildren(_ tree: Tree) {}
}

/// The part of a node that an action's turn reads and writes.
@usableFromInline
struct NodeMarks {
    /// Number of the last turn that listed the node as touched.
    var listedTurn: UInt64 = 0
    var isReplicated = false
    /// Whether an action takes the slow path at this node.
    @usableFromInline var takesLongWay: Bool
    /// Whether derived values depend on the node, or on its children.
    var isSource = false
    /// Whether the node's composed value contains a derived value.
    var showsDerived = false
    var stateByteCount = 0

    init(takesLongWay: Bool) { self.takesLongWay = takesLongWay }
}

// MARK: - Branches
extension AnyNode {
    /// Calls `body` with this node and all below, parents before children, siblings in ascending
    /// order of their names.
    func visit(_ body: (AnyNode) -> Void) {
        body(self)
        for child in orderedChildren { child.visit(body) }
    }

    /// The nodes below this node that a history contains, by their paths from it; parents before
    /// children.
    func parts(below path: SlicePath = .root) -> [NumberedPath] {
        keptChildren.flatMap { child in
            let place = path.appending(child.name)
            return [NumberedPath(number: child.number, path: place)] + child.parts(below: place)
        }
    }

    /// Starts the node's reactor and all below it, in the current transaction.
    func beginAll(_ turn: Turn) {
        _ = startReactor(turn)
        for child in orderedChildren { child.beginAll(turn) }
    }

    // Sorted, so that a run that is repeated from its seed does not depend on the hashing of keys.
    /// The children in ascending order of their names.
    var orderedChildren: [AnyNode] {
        children.isEmpty ? [] : children.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The derived values of the node's reactor, in ascending order of their names. *Cost*:
    /// O(children) if there are any.
    package var derivedValues: [AnyNode] {
        showsDerived && !isCollection
            ? children.values.filter(\.isDerived).sorted { $0.name < $1.name } : []
    }

    /// ``orderedChildren`` without derived values.
    var keptChildren: [AnyNode] { orderedChildren.filter { !$0.isDerived } }

    /// Refuses a child that this collection cannot hold, in a tree of `nodeCount` nodes.
    func checkCreation(of key: WireKey, _ nodeCount: Int) throws(Rejection) {
        guard !key.text.isEmpty else {
            throw Rejection(.path, "\(path): a child needs a key, and this one is empty")
        }
        if let problem = keyProblem(key) { throw Rejection(.path, problem) }
        guard path.components.count < CoreLimits.nodeDepthMax else {
            throw Rejection(
                .tooLarge,
                "\(path): no child fits below, the maximum is \(CoreLimits.nodeDepthMax) levels")
        }
        // A child without a path could never be addressed.
        guard key.text.utf8.count <= CoreLimits.childKeyBytesMax,
            (try? SlicePath(path.appending(key).description)) != nil
        else {
            throw Rejection(
                .path,
                "\(path): a child's key has at most \(CoreLimits.childKeyBytesMax) bytes, and is a "
                    + "part of a path: this one is not")
        }
        guard nodeCount < CoreLimits.nodesMax else {
            throw Rejection(
                .tooLarge,
                "\(path): no child fits beside \(nodeCount) nodes, the maximum: remove some")
        }
    }
}

// MARK: - The history's view
extension AnyNode {
    /// The entries of the node and all nodes below it, by their paths from here.
    func kept(at path: SlicePath = .root) -> [NodeRecord] {
        [NodeRecord(self, path: path, withState: true)]
            + keptChildren.flatMap { $0.kept(at: path.appending($0.name)) }
    }

    /// Records the form in which the history has the node's state.
    func keep(as reactor: String, _ fingerprint: UInt64) {
        keep(form == ReactorForm(name: reactor, fingerprint: fingerprint))
    }

    /// Whether a recorded reactor of the name `reactor` is this node's.
    func isOf(_ reactor: String) -> Bool {
        if isDerived { return false }
        return reactor.isEmpty || reactor == reactorName || formerNames.contains(reactor)
    }

    /// The node at `path` from this one.
    func descendant(_ path: SlicePath) -> AnyNode? {
        var node: AnyNode? = self
        for name in path.components { node = node?.children[name] }
        return node
    }
}

// MARK: - Sizes
extension AnyNode: MeasuredState {
    var measuredParts: [any MeasuredState] { children.values.filter { !$0.isDerived } }
}
