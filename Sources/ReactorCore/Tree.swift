import DequeModule
import ReactorBytes

/// The authoritative tree of reactors: every change of state in a root happens here, one
/// transaction after another.
///
/// *Place*: the server (or an in-process ``Store``) hands it actions; its ``turn`` collects what
/// they did. *Owner*: one thread; nothing here is re-entrant.
public final class Tree {
    /// The node at `/`.
    public private(set) var root: AnyNode
    /// What the transactions of this turn did.
    public let turn: Turn
    /// The world that the reactors live in.
    public let environment: TreeEnvironment
    // because children come and go: an array by number would keep a place for each there ever was
    /// All mounted nodes by ``AnyNode/number``.
    var nodes: [UInt32: AnyNode] = [:]
    var lastNumber: UInt32 = 0
    // because a snapshot goes from node to node while others come and go
    /// All mounted nodes, each at its ``AnyNode/orderIndex``.
    var order: [AnyNode] = []
    /// How many snapshots were begun.
    var snapshotsBegun: UInt64 = 0
    var ownership = OwnershipTable()
    /// What the reactors have promised beyond the life of the process.
    var tasks = TaskTable()
    /// How to end the waits for planned times.
    var waitingTasks: [TaskKey: @Sendable () -> Void] = [:]
    /// Durable effects that are to be performed as soon as there is room, those promised first in front.
    var postponed = Deque<TaskFact>()
    /// The effects that perform durable tasks.
    var performing: [TaskKey: EffectID] = [:]
    var running = EffectTable()
    /// Most effects at a time, cancelled ones that have not ended included; an action that asks for
    /// more is rejected as `BUSY`, what cannot be refused waits.
    public var effectsMax = CoreLimits.effectsMax {
        didSet { weighRoom() }
    }
    /// Effects that wait until others have ended.
    var waiting = EffectQueue()
    var effectsStarted: UInt64 = 0
    /// Effects that were cancelled and whose work has not ended yet.
    var orphans: Set<EffectID> = []
    /// What cancelled effects emitted all the same; it was dropped.
    public internal(set) var lateEmissions: UInt64 = 0
    /// Who waits for the effects of a transaction to end.
    var waiters: [UInt64: [() -> Void]] = [:]
    /// What is to be done later on the tree's isolation.
    var jobs: [EffectID: () -> Void] = [:]
    /// What the tree's sagas have in common.
    private(set) lazy var sagaRoom = SagaRoom(environment)
    /// Whether the reactors have begun.
    var isOpen = false
    /// Told of every node that comes into being, after it stands in the tree.
    public var onMount: ((AnyNode) -> Void)?

    /// Mounts `reactor` as the root, with all its static children.
    ///
    /// `epoch` is a random number; `recordsDeltas` says whether anybody outside needs the encoded
    /// changes.
    public convenience init(
        _ reactor: some Reactor, epoch: UInt64, recordsDeltas: Bool = true,
        environment: TreeEnvironment = .inert
    ) {
        self.init(
            reactor, epoch: epoch, recordsDeltas: recordsDeltas, environment: environment,
            at: .root)
    }

    /// Mounts `reactor` as the root of a copy of what stands at `path` elsewhere.
    init(
        _ reactor: some Reactor, epoch: UInt64, recordsDeltas: Bool, environment: TreeEnvironment,
        at path: SlicePath
    ) {
        turn = Turn(epoch: epoch, sequence: 0, recordsDeltas: recordsDeltas)
        self.environment = environment
        root = Node(reactor, number: 0, path: path, parent: nil)
        turn.home = self
        list(root)
        root.mountChildren(self)
        precondition(
            nodes.count <= CoreLimits.nodesMax,
            "\(nodes.count) nodes, at most \(CoreLimits.nodesMax) fit a tree")
    }

    deinit {
        for effect in running.values { effect.cancel?() }
        for cancel in waitingTasks.values { cancel() }
        for node in nodes.values {
            node.dropMiddleware()
            node.children.removeAll()
        }
    }

    /// The revision after the last applied transaction.
    public var revision: Revision { Revision(epoch: turn.epoch, sequence: turn.sequence) }

    /// The node with a number, if it is still there.
    public func node(_ number: UInt32) -> AnyNode? { nodes[number] }

    /// The deepest node that `path` leads to, and the rest of the path inside its state.
    public func resolve(_ path: SlicePath) -> (node: AnyNode, field: ArraySlice<WireKey>) {
        var node = root
        var rest = path.components[...]
        while let name = rest.first, let child = node.children[name] {
            node = child
            rest.removeFirst()
        }
        return (node, rest)
    }

    /// The node at exactly `path`.
    public func node(at path: SlicePath) -> AnyNode? {
        let (node, field) = resolve(path)
        return field.isEmpty ? node : nil
    }

    /// The mounted nodes, parents before children, siblings in ascending order of their names.
    public func forEachNode(_ body: (AnyNode) -> Void) { Self.visit(root, body) }

    static func visit(_ node: AnyNode, _ body: (AnyNode) -> Void) {
        body(node)
        for (_, child) in node.children.sorted(by: { $0.key < $1.key }) { visit(child, body) }
    }
}

// MARK: - Mounting
extension Tree {
    func mount(_ reactor: some Reactor, named name: WireKey, below parent: AnyNode) {
        insert(
            Node(reactor, number: newNumber(), path: parent.path.appending(name), parent: parent),
            named: name)
    }

    func mountCollection<R: Reactor>(
        of make: @escaping (WireKey) -> R, isLeased: Bool, named name: WireKey,
        below parent: AnyNode
    ) {
        insert(
            CollectionNode(
                make, isLeased: isLeased, number: newNumber(),
                path: parent.path.appending(name), parent: parent),
            named: name)
    }

    // because slices of values have their numbers from 2³¹ on, beside those of nodes
    /// A number that no mounted node has; one comes again after two thousand million others.
    func newNumber() -> UInt32 {
        repeat { lastNumber = (lastNumber &+ 1) & 0x7fff_ffff } while nodes[lastNumber] != nil
        return lastNumber
    }

    func insert(_ node: AnyNode, named name: WireKey) {
        guard let parent = node.parent else { preconditionFailure("a child has a parent") }
        precondition(
            parent.children[name] == nil, "\(parent.path) has two children named \(name)")
        precondition(
            !parent.stateSchema.hasField(name),
            "\(parent.path): child \(name) has the name of a field of the state: rename one")
        parent.children[name] = node
        list(node)
        node.birthSequence = max(node.birthSequence, parent.birthSequence)
        node.mountChildren(self)
        onMount?(node)
    }

    /// Takes a node with all below it out of the tree; ``forget(_:)`` makes that final.
    func unmount(_ node: AnyNode) {
        for child in node.orderedChildren { unmount(child) }
        node.hasLeft = true
        unlist(node)
        turn.leaving.append(node)
        turn.isEventful = true
    }

    /// Puts a node with all below it back to where ``unmount(_:)`` took it from.
    func remount(_ node: AnyNode) {
        node.hasLeft = false
        list(node)
        for child in node.children.values { remount(child) }
    }

    /// Takes a node out that never came to be, with all below it.
    func dissolve(_ node: AnyNode) {
        for child in node.children.values { dissolve(child) }
        node.hasLeft = true
        unlist(node)
        forget(node)
    }

    /// Makes a node known by its number.
    func list(_ node: AnyNode) {
        nodes[node.number] = node
        node.orderIndex = order.count
        order.append(node)
        // because a snapshot that is being taken is of a time before
        if turn.snapshot != nil, node.savedIn < snapshotsBegun { node.savedIn = snapshotsBegun }
    }

    /// Takes a node off the lists; one that a snapshot still needs is saved in it.
    func unlist(_ node: AnyNode) {
        turn.snapshot?.save(node)
        nodes[node.number] = nil
        let last = order.removeLast()
        guard last !== node else { return }
        // because what moves to a place that was looked at is not looked at any more
        turn.snapshot?.noteMove(of: last, to: node.orderIndex)
        order[node.orderIndex] = last
        last.orderIndex = node.orderIndex
    }

    /// Ends what was tied to a removed node.
    func forget(_ node: AnyNode) {
        ownership.forget(node: node.number)
        forgetTasks(of: node.number)
        cancelEffects(ofNode: node.number)
        node.closeDesk()
        node.dropMiddleware()
        // because children hold their parent: a removed branch would hold itself for ever
        node.children.removeAll()
    }
}

extension WireSchema {
    /// Whether values of this shape have a field `name`.
    fileprivate func hasField(_ name: WireKey) -> Bool {
        guard case .record(let record) = self else { return false }
        return record.fields.contains { WireKey($0.name) == name }
    }
}

// MARK: - Keyed children in a transaction
extension Turn {
    /// Creates a child in a collection, as part of the transaction at hand.
    func create(_ key: WireKey, in collection: AnyNode) {
        guard collection.children[key] == nil else { return }
        do throws(Rejection) {
            try collection.checkCreation(of: key, tree.nodes.count)
        } catch {
            complain("\(error)")
            return
        }
        guard let child = collection.makeChild(key, number: tree.newNumber()) else { return }
        child.birthSequence = lastSequence &+ 1
        if !isPlain { saveSequences(of: collection) }
        tree.insert(child, named: key)
        scales?.noteNew(child)
        if !isPlain {
            undo.append { [self] in
                collection.children[key] = nil
                news.facts.removeAll { $0.makes(child.number) }
                tree.dissolve(child)
            }
        }
        recordStructure(
            .create(key: key, number: child.number, parts: child.parts()), of: collection)
        if recordsFacts { news.facts.append(.made(child.kept())) }
        child.touch(self)
        child.beginAll(self)
    }

    /// Removes a child of a collection, as part of the transaction at hand.
    func remove(_ key: WireKey, from collection: AnyNode) {
        guard let child = collection.children[key] else { return }
        scales?.weighBranch(child)
        recordStructure(.remove(key: key), of: collection)
        if !isPlain { saveSequences(of: child) }
        child.touch(self)
        collection.children[key] = nil
        tree.unmount(child)
        if !isPlain {
            undo.append { [self] in
                collection.children[key] = child
                tree.remount(child)
            }
        }
    }

    private func recordStructure(_ change: StructuralChange, of collection: AnyNode) {
        guard recordsDeltas else { return }
        let start = deltas.value.beginFrame(
            .delta, flags: .structural, id: collection.number, number: lastSequence &+ 1)
        origin.encode(into: &deltas.value)
        change.encode(into: &deltas.value)
        deltas.value.endFrame(at: start)
        let end = deltas.value.count
        if collection.isReplicated {
            news.changes.append(Change(node: collection, start: start, end: end))
        }
    }
}

extension AnyNode {
    /// The nodes below this one, by their paths from it; parents before children.
    func parts(below path: SlicePath = .root) -> [NodePlace] {
        orderedChildren.flatMap { child in
            let place = path.appending(child.name)
            return [NodePlace(number: child.number, path: place)] + child.parts(below: place)
        }
    }

    /// Lets the node and all below it begin, in the transaction at hand.
    func beginAll(_ turn: Turn) {
        _ = begin(turn)
        for child in orderedChildren { child.beginAll(turn) }
    }

    // because what a run does, and a run that repeats it, may not depend on how keys are hashed
    /// The children in ascending order of their names.
    var orderedChildren: [AnyNode] {
        children.isEmpty ? [] : children.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Refuses a child that cannot stand in this collection, in a tree of `nodeCount` nodes.
    func checkCreation(of key: WireKey, _ nodeCount: Int) throws(Rejection) {
        guard !key.text.isEmpty else {
            throw Rejection(.path, "\(path): a child needs a key, and this one is empty")
        }
        guard path.components.count < CoreLimits.nodeDepthMax else {
            throw Rejection(
                .tooLarge,
                "\(path): no child fits below, \(CoreLimits.nodeDepthMax) levels are the most")
        }
        // because a child that no path leads to could never be asked for again
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
                "\(path): no child fits beside \(nodeCount) nodes, the most of a tree: remove some")
        }
    }
}

extension Tree {
    /// Number of nodes in the tree.
    public var mountedCount: Int { nodes.count }
}
