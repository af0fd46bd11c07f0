import ReactorBytes

/// The authoritative tree of reactors: every change of a root's state happens here, one transaction
/// after another.
///
/// It coordinates its parts: the mounted nodes, the turn, ownerships, effects and durable tasks.
/// *Place*: the server (or an in-process ``Store``) passes actions to it; its ``turn`` collects
/// their results. *Owner*: one thread; nothing here is re-entrant.
public final class Tree {
    /// The node at `/`.
    package let root: AnyNode
    /// The results of this turn's transactions.
    package let turn: Turn
    /// Clock, executor and posting, as the reactors see them.
    package let environment: TreeEnvironment
    /// All mounted nodes.
    let nodes: NodeRegistry
    /// The connections that own keys of reactors.
    private let ownerships = Cell(OwnershipTable())
    /// Effects, sources and streams.
    let effects: EffectRunner
    /// Durable tasks.
    let tasks: TaskRunner
    /// The schemas of the values in the tree's history.
    package let schemas = KeptSchemas()
    /// The sources that are connected to nodes.
    let sources = ConnectedSources()
    /// The parts that layers above the engine have added.
    private var parts: [ObjectIdentifier: any TreePart] = [:]
    /// Whether the reactors have been started.
    private(set) var isOpen = false
    /// Called with every new node, after its insertion into the tree.
    package var onMount: ((AnyNode) -> Void)?
    /// Called with each derived value that a transaction has changed, after its sequence was
    /// assigned.
    package var onDerive: ((AnyNode) -> Void)?
    /// Why a caller may not release what a user owns at a node; nil if it may. Without access rules,
    /// every caller may.
    package var releaseRefusal: (Caller, UInt32, AnyNode) -> Rejection? = { _, _, _ in nil }

    /// Mounts `reactor` as the root, with all its static children.
    ///
    /// `epoch` is a random number; `recordsDeltas` is true if a journal or a client needs the
    /// encoded changes.
    package convenience init(
        _ reactor: some Reactor, epoch: UInt64, recordsDeltas: Bool = true,
        environment: TreeEnvironment = .inert
    ) {
        self.init(
            reactor, epoch: epoch, recordsDeltas: recordsDeltas, environment: environment,
            at: .root)
    }

    /// Mounts `reactor` as the root of a copy of the subtree at `path` of another tree.
    init(
        _ reactor: some Reactor, epoch: UInt64, recordsDeltas: Bool, environment: TreeEnvironment,
        at path: SlicePath
    ) {
        turn = Turn(epoch: epoch, sequence: 0, recordsDeltas: recordsDeltas)
        self.environment = environment
        nodes = NodeRegistry()
        effects = EffectRunner(nodes, turn, environment)
        tasks = TaskRunner(nodes, effects, turn)
        root = Node(reactor, number: 0, path: path, parent: nil)
        turn.settle(in: self)
        nodes.register(root, during: nil)
        root.mountChildren(self)
        precondition(
            nodes.count <= CoreLimits.nodesMax,
            "\(nodes.count) nodes, at most \(CoreLimits.nodesMax) fit a tree")
    }

    deinit {
        effects.abandon()
        tasks.abandon()
        for node in nodes.order {
            node.dropMiddleware()
            node.removeChildren()
        }
    }

    /// Starts every reactor, parents before children, each in a separate transaction.
    ///
    /// The owner of an authoritative tree calls it once; replicas and previews never do.
    package func open() {
        precondition(!isOpen, "a tree is opened once")
        isOpen = true
        var all: [AnyNode] = []
        forEachNode { all.append($0) }
        for node in all where !node.isGone {
            turn.transaction.begin(by: .daemon, .daemon)
            if node.startReactor(turn) { finishEmission() }
        }
    }

    /// The tree's part of type `type`, made at the first use.
    func part<Part: TreePart>(_ type: Part.Type) -> Part {
        let id = ObjectIdentifier(type)
        if let part = parts[id] as? Part { return part }
        let part = Part(self)
        parts[id] = part
        return part
    }

    /// The revision after the last applied transaction.
    package var revision: Revision { Revision(epoch: turn.epoch, sequence: turn.sequence) }
}

// MARK: - Finding nodes
extension Tree {
    /// The node with a number, if it exists.
    package func node(_ number: UInt32) -> AnyNode? { nodes[number] }

    /// The deepest node on `path`, and the rest of the path inside its state.
    package func resolve(_ path: SlicePath) -> (node: AnyNode, field: ArraySlice<WireKey>) {
        var node = root
        var rest = path.components[...]
        while let name = rest.first, let child = node.children[name] {
            node = child
            rest.removeFirst()
        }
        return (node, rest)
    }

    /// The node at exactly `path`.
    package func node(at path: SlicePath) -> AnyNode? {
        let (node, field) = resolve(path)
        return field.isEmpty ? node : nil
    }

    /// The mounted nodes, parents before children, siblings in ascending order of their names.
    package func forEachNode(_ body: (AnyNode) -> Void) { root.visit(body) }

    /// Bytes of the largest state at its last measurement: see ``AnyNode/stateByteCount``.
    package var largestStateByteCount: Int {
        nodes.order.reduce(0) { max($0, $1.stateByteCount) }
    }

    /// Number of nodes in the tree.
    package var mountedCount: Int { nodes.count }

    /// The id of the reactor in `node`.
    package func id(of node: AnyNode) -> ReactorID {
        ReactorID(epoch: turn.epoch, node: node.number)
    }

    /// The reactor of type `type` at `path`, for the process that owns the tree.
    ///
    /// *Throws*: ``Rejection`` if there is none of that type.
    public func reactor<R: Reactor>(
        _ type: R.Type, at path: String = "/"
    ) throws(Rejection) -> LiveReactor<R> {
        guard let place = try? SlicePath(path), let found = node(at: place) else {
            throw Rejection(.notFound, "\(path): no such node")
        }
        guard let node = found as? Node<R> else {
            throw Rejection(
                .notFound, "\(path): expected a reactor of type \(R.self), got \(found.reactorName)"
            )
        }
        return LiveReactor(self, node)
    }

    /// The reactor at the path of properties.
    ///
    /// *Throws*: ``Rejection`` if there is none of its type.
    public func reactor<R: Reactor>(
        _ path: ReactorPath<R>
    ) throws(Rejection) -> LiveReactor<R> {
        try reactor(R.self, at: "\(path.path)")
    }

    // MARK: Mounting

    func mount(_ reactor: some Reactor, named name: WireKey, below parent: AnyNode) {
        let path = parent.path.appending(name)
        insert(
            Node(reactor, number: nodes.newNumber(), path: path, parent: parent), named: name)
    }

    func mountCollection<Key: ChildKey, R: Reactor>(
        of make: @escaping (Key) -> R, isLeased: Bool, named name: WireKey,
        below parent: AnyNode
    ) {
        insert(
            CollectionNode(
                make, isLeased: isLeased, number: nodes.newNumber(),
                path: parent.path.appending(name), parent: parent),
            named: name)
    }

    /// Computes all derived values from nothing, each before those that depend on it.
    func rebuildDerived() {
        var values: [AnyDerivedNode] = []
        for case let value as AnyDerivedNode in nodes.order { values.append(value) }
        for value in values.sorted(by: { $0.precedes($1) }) {
            value.rebuild()
            value.restore(sequence: value.parent?.sequence ?? 0)
        }
    }

    func insert(_ node: AnyNode, named name: WireKey) {
        guard let parent = node.parent else { preconditionFailure("a child has a parent") }
        precondition(
            parent.children[name] == nil, "\(parent.path) has two children named \(name)")
        precondition(
            !parent.stateSchema.hasField(name),
            "\(parent.path): child \(name) has the name of a field of the state: rename one")
        parent.attach(node, named: name)
        list(node)
        node.setBirth(max(node.birthSequence, parent.birthSequence))
        node.mountChildren(self)
        if parent.isSource, parent.isCollection {
            for value in parent.feeds { value.adopt(node) }
        }
        onMount?(node)
    }

    /// Removes a node with all nodes below it from the lists; ``forget(_:)`` makes that final.
    func unmount(_ node: AnyNode) {
        for child in node.orderedChildren { unmount(child) }
        node.setGone(true)
        unlist(node)
        turn.transaction.wishes.request(.removal(node))
    }

    /// Restores a node with all nodes below it after ``unmount(_:)``.
    func remount(_ node: AnyNode) {
        node.setGone(false)
        list(node)
        for child in node.children.values { remount(child) }
    }

    /// Removes a node of a refused transaction, with all nodes below it.
    func dissolve(_ node: AnyNode) {
        for child in node.children.values { dissolve(child) }
        node.setGone(true)
        unlist(node)
        forget(node)
    }

    private func list(_ node: AnyNode) { nodes.register(node, during: turn.snapshot) }

    /// Removes a node from the registry.
    func unlist(_ node: AnyNode) { nodes.remove(node, during: turn.snapshot) }

    /// Ends a node's ownerships and tasks.
    func forgetWork(of node: AnyNode) {
        ownership.forget(node: node.number)
        tasks.forget(node.number)
    }

    /// Ends everything that was tied to a removed node.
    func forget(_ node: AnyNode) {
        forgetWork(of: node)
        effects.cancel(ofNode: node.number)
        sources.end(of: node.number)
        node.closeFollower()
        node.dropMiddleware()
        node.removeChildren()
    }
}

extension WireSchema {
    /// Whether values of this shape have a field `name`.
    fileprivate func hasField(_ name: WireKey) -> Bool {
        guard case .record(let record) = self else { return false }
        return record.fields.contains { WireKey($0.name) == name }
    }
}

// MARK: - Effects and tasks
extension Tree {
    /// The connections that own keys of reactors.
    var ownership: OwnershipTable {
        _read { yield ownerships.value }
        _modify { yield &ownerships.value }
    }

    /// Maximum effects at a time, including cancelled ones that have not ended. An action that asks
    /// for more is rejected as `BUSY`; an effect that cannot be refused waits.
    package var effectsMax: Int {
        get { effects.countMax }
        set { effects.limit(to: newValue) }
    }

    /// Starts the effects of committed transactions.
    package func start(_ effects: [PendingEffect]) {
        for effect in effects { effect.start() }
    }

    /// Starts effects and tasks that wait for capacity.
    func startWaiting() {
        effects.startWaiting()
        tasks.startWaiting()
    }

    /// Whether effects of the transaction numbered `sequence` run; sources and streams of
    /// transforms do not count.
    package func runsEffects(of sequence: UInt64) -> Bool { effects.runs(of: sequence) }

    /// Calls `job` when no effect of the transaction numbered `sequence` is left, or at once if
    /// there is none: see ``runsEffects(of:)``.
    package func whenEffectsEnd(of sequence: UInt64, _ job: @escaping () -> Void) {
        effects.whenEnded(of: sequence, job)
    }

    /// Cancels all effects. Returns the effects whose end the daemon waits for: these,
    /// and earlier cancelled ones that still run.
    package func dismissEffects() -> DismissedEffects { effects.dismiss() }

    /// The effects that have not ended, in the order of the requests.
    package var effectsUnderWay: [EffectListing] { effects.listings }

    /// Number of effects that have not ended, including cancelled ones.
    package var effectCount: Int { effects.running.count + effects.orphans.count }

    /// Number of dropped emissions of cancelled effects.
    package var lateEmissions: UInt64 { effects.lateEmissions }

    /// What became of the failed sagas of reactors.
    package var sagaCounts: SagaCounts { effects.sagaCounts }

    /// Starts the tasks that were recorded before the tree was opened, once the current turn is
    /// committed.
    package func resumeTasks() { tasks.resume() }

    /// The current tasks, to be collected on any thread.
    package func copyTasks() -> @Sendable () -> [TaskFact] { tasks.copy() }

    /// Adds `tap` to the reactor of `node`; releasing the token removes it.
    package func addTap<R: Reactor>(to node: Node<R>, _ tap: NodeTap<R>) -> StoreToken {
        node.addTap(tap)
    }
}

/// A part of a tree that a layer above the engine adds.
///
/// *Owner*: the tree, which makes it at its first use: see ``Tree/part(_:)``.
protocol TreePart: AnyObject {
    init(_ tree: Tree)
}

extension DismissedEffects {
    /// The effects that have not ended.
    package func missing(in tree: Tree) -> [EffectListing] {
        listings { tree.effects.orphans.contains($0) }
    }
}
