import ReactorBytes
public import ReactorCore

/// The states of all reactors of a simulated daemon after one transaction, for invariants.
///
///     simulation.invariant(ofTree: "open issues are listed as open") { tree in
///         let lines = tree.state(of: Tracker.self)?.lines ?? [:]
///         return tree.children(of: Issue.self, at: "/issues").allSatisfy { issue in
///             lines[issue.key() ?? 0]?.isOpen == issue.state.isOpen
///         }
///     }
/// The run fails at once if a reactor of another type is where an invariant looks one up, unless
/// the simulation upgrades the daemon. It fails at its end if a look-up has never found anything; a
/// key of a collection counts like every other key of it.
///
/// *Owner*: the invariant's closure, for one call.
public struct SimulatedTree {
    /// The revision after the transaction.
    public let revision: Revision
    private let model: TreeModel
    /// The daemon's tree, if it has this revision.
    private let daemon: Tree?
    private let lookups: SimulatedLookups

    init(
        _ model: TreeModel, _ revision: Revision, of daemon: Tree, _ lookups: SimulatedLookups
    ) {
        self.model = model
        self.revision = revision
        self.daemon = daemon.revision == revision ? daemon : nil
        self.lookups = lookups
    }

    /// The state of the reactor of type `type` at `path`; nil if none is there.
    public func state<R: Reactor>(of type: R.Type, at path: String = "/") -> R.State? {
        guard let place = lookups.path(path) else { return nil }
        let entry = model[place]
        let state = entry?.state(of: type)
        lookups.record(
            .state(of: type), at: place.components, in: model, isFound: state != nil,
            other: state == nil ? entry?.node : nil)
        return state
    }

    /// The derived value at `path`; nil if none is there.
    public func value<Value: WireCodable>(of type: Value.Type, at path: String) -> Value? {
        guard let place = lookups.path(path) else { return nil }
        let entry = model[place]
        let value = entry.flatMap { entry in
            entry.node.isDerived ? try? Value(wireBytes: entry.bytes) : nil
        }
        lookups.record(
            .value(of: type), at: place.components, in: model, isFound: value != nil,
            other: value == nil ? entry?.node : nil)
        return value
    }

    /// The children of type `type` in the collections that match `pattern`, in the order of their
    /// paths. In a pattern such as `/projects/*/runs`, `*` stands for any name.
    public func children<R: Reactor>(
        of type: R.Type, at pattern: String
    ) -> [SimulatedChild<R.State>] {
        guard let names = lookups.path(pattern)?.components else { return [] }
        let entries = model.paths(matching: PathPattern(names)).map { ($0, model[$0]) }
        let children = entries.compactMap { path, entry in
            entry?.state(of: type).map { SimulatedChild(path: path, state: $0, pattern: names) }
        }
        let other = entries.lazy.compactMap { $0.1?.node }
            .first { $0.parent?.isCollection == true && !($0 is Node<R>) }
        lookups.record(
            .state(of: type), at: names + ["*"], in: model, isFound: !children.isEmpty,
            other: children.isEmpty ? other : nil)
        return children
    }

    /// The owned keys of the reactor at `path`, in the order in which they were taken.
    ///
    /// They are known after the last transaction of a turn; nil after the transactions before it.
    public func owners(at path: String = "/") -> [SimulatedOwner]? {
        guard let daemon, let place = lookups.path(path) else { return nil }
        lookups.record(
            .owners, at: place.components, in: model, isFound: daemon.node(at: place) != nil)
        return daemon.owners(at: path)
    }

    /// The planned actions of the reactor of type `type` at `path`, in the order in which they were
    /// planned.
    ///
    /// They are known after the last transaction of a turn; nil after the transactions before it.
    public func plans<R: Reactor>(
        of type: R.Type, at path: String = "/"
    ) -> [SimulatedPlan<R.Action>]? {
        guard let daemon, let place = lookups.path(path) else { return nil }
        let node = daemon.node(at: place)
        lookups.record(
            .plans(of: type), at: place.components, in: model, isFound: node is Node<R>,
            other: node is Node<R> ? nil : node)
        return daemon.plans(of: type, at: path)
    }
}

/// A child of a collection, with its state.
public struct SimulatedChild<State> {
    /// The child's path.
    public let path: SlicePath
    /// The child's state.
    public let state: State
    /// The components of the pattern that matches the path of its collection.
    let pattern: [WireKey]

    /// The child's key in its collection.
    public var key: WireKey { path.components.last ?? "" }

    /// The child's key as the type of its collection's keys; `nil` if its text is no such key.
    public func key<Key: ChildKey>(as type: Key.Type = Key.self) -> Key? {
        Key(wireKeyText: key.text)
    }

    /// The key in place of a `*` of the pattern, the first of which has the index 0; `nil` if there
    /// is no such `*`, or its text is no such key.
    ///
    ///     let project = run.key(at: 0, as: String.self)  // "web", of /projects/*/runs
    public func key<Key: ChildKey>(at star: Int, as type: Key.Type = Key.self) -> Key? {
        let names = zip(pattern, path.components).filter { $0.0 == "*" }.map { $0.1 }
        return names.indices.contains(star) ? Key(wireKeyText: names[star].text) : nil
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

extension SimulatedLookups.Subject {
    /// The owned keys of any reactor.
    static let owners = Self(
        type: ObjectIdentifier(SimulatedOwner.self), text: "owned keys of the reactor")

    /// The planned actions of a reactor.
    static func plans<R: Reactor>(of type: R.Type) -> Self {
        Self(type: ObjectIdentifier(SimulatedPlan<R.Action>.self), text: "plans of \(type)")
    }
}
