import ReactorBytes
public import ReactorCore

/// The states of all reactors of a simulated daemon after one transaction, for invariants.
///
///     simulation.invariant("open issues are listed as open") { tree in
///         let lines = tree.state(of: Tracker.self)?.lines ?? [:]
///         return tree.children(of: Issue.self, at: "/issues").allSatisfy { issue in
///             lines[Int(issue.key.text) ?? 0]?.isOpen == issue.state.isOpen
///         }
///     }
///
/// *Owner*: the invariant's closure, for one call.
public struct SimulatedTree {
    /// The revision after the transaction.
    public let revision: Revision
    private let model: TreeModel
    /// The daemon's tree, if it has this revision.
    private let daemon: Tree?

    init(_ model: TreeModel, _ revision: Revision, of daemon: Tree) {
        self.model = model
        self.revision = revision
        self.daemon = daemon.revision == revision ? daemon : nil
    }

    /// The state of the reactor of type `type` at `path`; nil if none is there.
    public func state<R: Reactor>(of type: R.Type, at path: String = "/") -> R.State? {
        (try? SlicePath(path)).flatMap { model[$0]?.state(of: type) }
    }

    /// The derived value at `path`; nil if none of its type is there.
    public func value<Value: WireCodable>(of type: Value.Type, at path: String) -> Value? {
        guard let entry = (try? SlicePath(path)).flatMap({ model[$0] }), entry.node.isDerived
        else { return nil }
        return try? Value(wireBytes: entry.bytes)
    }

    /// The children of type `type` in the collections that match `pattern`, in the order of their
    /// paths. In a pattern such as `/projects/*/runs`, `*` stands for any name.
    public func children<R: Reactor>(
        of type: R.Type, at pattern: String
    ) -> [SimulatedChild<R.State>] {
        guard let pattern = PathPattern(pattern) else { return [] }
        return model.paths(matching: pattern).compactMap { path in
            model[path]?.state(of: type).map { SimulatedChild(path: path, state: $0) }
        }
    }

    /// The owned keys of the reactor at `path`, in the order in which they were taken.
    ///
    /// They are known after the last transaction of a turn; nil after the transactions before it.
    public func owners(at path: String = "/") -> [SimulatedOwner]? { daemon?.owners(at: path) }

    /// The planned actions of the reactor of type `type` at `path`, in the order in which they were
    /// planned.
    ///
    /// They are known after the last transaction of a turn; nil after the transactions before it.
    public func plans<R: Reactor>(
        of type: R.Type, at path: String = "/"
    ) -> [SimulatedPlan<R.Action>]? { daemon?.plans(of: type, at: path) }
}

/// A child of a collection, with its state.
public struct SimulatedChild<State> {
    /// The child's path.
    public let path: SlicePath
    /// The child's state.
    public let state: State

    /// The child's key in its collection.
    public var key: WireKey { path.components.last ?? "" }
}

/// The paths of collections, with `*` for any name.
struct PathPattern {
    private let names: [WireKey]

    /// Reads a pattern; nil if it is no path.
    init?(_ text: String) {
        guard let path = try? SlicePath(text) else { return nil }
        names = path.components
    }

    /// Whether `path` is that of a child of a collection that matches.
    func matchesChild(_ path: SlicePath) -> Bool {
        path.components.count == names.count + 1
            && zip(names, path.components).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// The path up to the first `*`, which the daemon can look up.
    var fixed: SlicePath { SlicePath(Array(names.prefix { $0 != "*" })) }

    /// The children with their composed values, of the collections in `value`, which is that of
    /// ``fixed``; in the order of their paths.
    func children(in value: WireValue) -> [(path: SlicePath, value: WireValue)] {
        var found = [(path: fixed, value: value)]
        for name in names.dropFirst(fixed.components.count) + ["*"] {
            found = found.flatMap { (path, value) in
                Self.entries(of: value, named: name).map { (path.appending($0.key), $0.value) }
            }
        }
        return found
    }

    private static func entries(of value: WireValue, named name: WireKey) -> [WireMap.Pair] {
        guard case .map(let map) = value else { return [] }
        if name == "*" { return map.pairs.sorted { $0.key < $1.key } }
        return map[name].map { [WireMap.Pair(key: name, value: $0)] } ?? []
    }
}

/// The nodes of a tree with their states after the last transaction that was read, by path.
///
/// *Invariants*: a node is in the model exactly while it is in the tree. *Owner*: ``TreeRecord``.
final class TreeModel {
    /// A node and its state; decoded once, when an invariant first reads it.
    final class Entry {
        let node: AnyNode
        let bytes: [UInt8]
        private var decoded: Any?

        init(_ node: AnyNode, _ bytes: [UInt8]) {
            self.node = node
            self.bytes = bytes
        }

        /// The state, if the node is of type `type`.
        func state<R: Reactor>(of type: R.Type) -> R.State? {
            guard node is Node<R> else { return nil }
            if decoded == nil { decoded = try? R.State(wireBytes: bytes) }
            return decoded as? R.State
        }
    }

    private var entries: [SlicePath: Entry] = [:]

    /// The node at `path`.
    subscript(path: SlicePath) -> Entry? { entries[path] }

    /// The paths of the children of collections that match `pattern`, sorted.
    func paths(matching pattern: PathPattern) -> [SlicePath] {
        entries.keys.filter { pattern.matchesChild($0) }
            .sorted { $0.components.lexicographicallyPrecedes($1.components) }
    }

    /// Begins again with the nodes of `tree`.
    func begin(_ tree: Tree) {
        entries = [:]
        tree.forEachNode { set($0, StateLedger.state(of: $0)) }
    }

    /// Applies a change that `ledger` has just read.
    func apply(_ change: NodeChange, _ ledger: StateLedger) {
        if change.structure.isEmpty { return set(change.node, change.after) }
        for structure in change.structure {
            switch structure {
            case .create(let key, let number, let parts):
                removeBranch(at: change.node.path.appending(key))
                for number in [number] + parts.map(\.number) {
                    if let entry = ledger.entry(number) { set(entry.node, entry.state, ledger) }
                }
            case .remove(let key): removeBranch(at: change.node.path.appending(key))
            }
        }
    }

    private func set(_ node: AnyNode, _ bytes: [UInt8]) {
        entries[node.path] = Entry(node, bytes)
    }

    /// Adds a new node with its derived values.
    private func set(_ node: AnyNode, _ bytes: [UInt8], _ ledger: StateLedger) {
        set(node, bytes)
        for (child, state) in ledger.derivedValues(of: node) { set(child, state) }
    }

    /// Removes a node and the nodes below it.
    private func removeBranch(at path: SlicePath) {
        guard entries[path] != nil else { return }
        entries = entries.filter { !$0.key.components.starts(with: path.components) }
    }
}

/// The states that a simulated daemon's tree had, transaction by transaction.
///
/// *Place*: ``SimulationRun`` passes it each batch and compares clients with it.
final class TreeRecord {
    /// The nodes and states after the last transaction that was read.
    let model = TreeModel()
    private var ledger: StateLedger?
    private var history = StateHistory()

    /// A transaction: its changes in order, and the tree after it.
    struct Transaction {
        var sequence: UInt64
        var changes: [NodeChange] = []
    }

    /// Begins with the current state of `tree`: at its start, after a crash, or without a history.
    func begin(_ tree: Tree) {
        ledger = StateLedger(tree)
        model.begin(tree)
        // The end of the history, which no client has seen, may be lost.
        history.cut(to: tree.revision)
        history.begin(tree)
    }

    /// Returns the encoded state at `path` as of `revision`, or nil if it is unknown.
    func state(at path: String, _ revision: Revision) -> [UInt8]? {
        history.state(at: path, revision)
    }

    /// Reads a batch, and calls `visit` after each transaction in it. Returns findings about
    /// `reduce`.
    func read(_ batch: Batch, _ visit: (Transaction) -> Void) -> [String] {
        guard let ledger else { return [] }
        var current: Transaction?
        let bytes = batch.deltas.storage.span.extracting(batch.deltas.range)
        // Derived values change with their transaction, and no delta contains them.
        func end(_ transaction: Transaction) {
            for change in ledger.takeDerived(upTo: transaction.sequence) {
                model.apply(change, ledger)
                history.add(change, epoch: batch.epoch)
            }
            visit(transaction)
        }
        ledger.read(bytes) { change in
            if let done = current, done.sequence != change.sequence {
                end(done)
                current = nil
            }
            model.apply(change, ledger)
            history.add(change, epoch: batch.epoch)
            current = current ?? Transaction(sequence: change.sequence)
            current?.changes.append(change)
        }
        if let current { end(current) }
        return ledger.takeFindings()
    }
}
