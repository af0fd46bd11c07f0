import ReactorBytes

/// A node that shows a derived value, without the type of the value.
///
/// No delta, snapshot or layout contains it, and no action reaches it. *Owner*: the tree's
/// isolation.
class AnyDerivedNode: AnyNode {
    /// The position among the derived values of the same reactor.
    private let index: Int
    /// Whether the update in progress lists the value.
    private(set) final var isStale = false
    private let doc: String

    init(_ index: Int, _ doc: String, number: UInt32, path: SlicePath, parent: AnyNode) {
        self.index = index
        self.doc = doc
        super.init(number: number, path: path, parent: parent)
    }

    package final override var isDerived: Bool { true }
    package final override var isShownByValue: Bool { true }
    package final override var documentation: String { doc }

    @usableFromInline
    final override func step(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        throw .rejected(
            Rejection(
                .notFound,
                "\(path) is a derived value and takes no actions: send one to a reactor that it is "
                    + "computed from"))
    }

    /// Whether this value is brought up to date before `other`, which may depend on it.
    final func precedes(_ other: AnyDerivedNode) -> Bool {
        let (own, others) = (path.components.count, other.path.components.count)
        return own == others ? index < other.index : own > others
    }

    /// Records whether the update in progress lists the value.
    final func setStale(_ isStale: Bool) { self.isStale = isStale }

    // MARK: For the subclass

    /// Makes changes of a new child of the collection reach this node.
    func adopt(_ child: AnyNode) {}

    /// Records that a node has changed that the value depends on.
    func take(_ changed: AnyNode) {}

    /// Brings the value up to date. Returns whether it differs from before.
    func refresh(_ undo: UndoLog) -> Bool { false }

    /// Ends the transaction. Returns whether the value differs from that after the last one.
    func settle() -> Bool { false }

    /// Computes the value from nothing.
    func rebuild() {}
}

/// A node that shows a derived value.
final class DerivedNode<Value: WireCodable & Equatable & Sendable>: AnyDerivedNode {
    private let run: DerivationRun<Value>
    private let ownForm: ReactorForm
    /// The value, with the changes of the current transaction that ``refresh(_:)`` has seen.
    private(set) var value: Value
    /// The value after the last transaction.
    private var settled: Value
    /// Changed nodes that the value does not include, each once, in the order of their changes.
    private var changed: [AnyNode] = []
    private var seen: Set<ObjectIdentifier> = []

    init(
        _ run: DerivationRun<Value>, of form: ReactorForm, at index: Int, _ doc: String,
        number: UInt32, path: SlicePath, parent: AnyNode
    ) {
        self.run = run
        ownForm = form
        value = run.begin()
        settled = value
        super.init(index, doc, number: number, path: path, parent: parent)
    }

    override var form: ReactorForm { ownForm }
    package override var stateSchema: WireSchema { Value.wireSchema }

    package override func encodeState(into writer: inout WireWriter) {
        settled.encode(into: &writer)
    }

    override func encodeState(
        at field: ArraySlice<WireKey>, into writer: inout WireWriter
    ) -> WireReach {
        settled.encode(at: field, into: &writer)
    }

    override func copyState() -> @Sendable (inout WireWriter) -> Void {
        let value = settled
        return { value.encode(into: &$0) }
    }

    override func copyPresented(
        at field: ArraySlice<WireKey>
    ) -> @Sendable (inout WireWriter) -> WireReach {
        let value = settled
        return { value.encode(at: field, into: &$0) }
    }

    // The derived value is mounted after its sources, whose changes reach it from then on.
    override func mountChildren(_ tree: Tree) {
        for source in run.sources { source.feed(self) }
    }

    override func adopt(_ child: AnyNode) { run.source(of: child)?.feed(self) }

    override func take(_ node: AnyNode) {
        // A child's own derived value stands for the child.
        let node = run.isPart(node) ? node : node.parent ?? node
        if seen.insert(ObjectIdentifier(node)).inserted { changed.append(node) }
    }

    override func refresh(_ undo: UndoLog) -> Bool {
        let before = value
        if undo.isRecording { undo.add { [self] in value = before } }
        run.update(&value, changed, undo)
        changed = []
        seen = []
        return value != before
    }

    override func settle() -> Bool {
        guard value != settled else { return false }
        settled = value
        return true
    }

    override func rebuild() {
        value = run.begin()
        settled = value
    }
}

// MARK: - Computing
/// The computation of one derived value in a mounted tree.
class DerivationRun<Value> {
    /// The nodes whose changes change the value.
    let sources: [AnyNode]

    init(of sources: [AnyNode]) { self.sources = sources }

    /// The node of a collection's child whose changes change the value.
    func source(of child: AnyNode) -> AnyNode? { nil }

    /// Whether a changed node is one of those that ``update(_:_:_:)`` expects.
    func isPart(_ node: AnyNode) -> Bool { true }

    /// Computes the value from nothing.
    func begin() -> Value { preconditionFailure("a run has a rule") }

    /// Updates the value after the nodes in `changed` have changed.
    func update(_ value: inout Value, _ changed: [AnyNode], _ undo: UndoLog) { value = begin() }
}

/// A value that is computed as a whole.
final class ComputedRun<Value>: DerivationRun<Value> {
    private let compute: () -> Value

    init(of sources: [AnyNode], _ compute: @escaping () -> Value) {
        self.compute = compute
        super.init(of: sources)
    }

    override func begin() -> Value { compute() }
}

/// A value to which the children of a collection contribute parts.
///
/// *Invariant*: the value is the initial one with all ``parts`` added.
final class TotalRun<Value, Part: Equatable>: DerivationRun<Value> {
    private let collection: AnyNode
    private let initial: Value
    private let add: (inout Value, Part) -> Void
    private let remove: (inout Value, Part) -> Void
    /// The node whose changes change a child's part.
    private let source: (AnyNode) -> AnyNode?
    private let part: (AnyNode) -> Part?
    /// The parts that the value includes, by child.
    private var parts: [ObjectIdentifier: Part] = [:]

    init(
        over collection: AnyNode, from initial: Value,
        add: @escaping (inout Value, Part) -> Void, remove: @escaping (inout Value, Part) -> Void,
        source: @escaping (AnyNode) -> AnyNode? = { $0 }, part: @escaping (AnyNode) -> Part?
    ) {
        self.collection = collection
        self.initial = initial
        self.add = add
        self.remove = remove
        self.source = source
        self.part = part
        super.init(of: [collection])
    }

    override func source(of child: AnyNode) -> AnyNode? { source(child) }

    override func isPart(_ node: AnyNode) -> Bool { node.parent === collection }

    override func begin() -> Value {
        parts.removeAll()
        var value = initial
        for child in collection.orderedChildren {
            guard let part = part(child) else { continue }
            parts[ObjectIdentifier(child)] = part
            add(&value, part)
        }
        return value
    }

    override func update(_ value: inout Value, _ changed: [AnyNode], _ undo: UndoLog) {
        for child in changed {
            let id = ObjectIdentifier(child)
            let old = parts[id]
            let new = child.isGone ? nil : part(child)
            if old == new { continue }
            if let old { remove(&value, old) }
            if let new { add(&value, new) }
            parts[id] = new
            if undo.isRecording { undo.add { [self] in parts[id] = old } }
        }
    }
}

// MARK: - Within a transaction
/// The part of a transaction's requests that concerns derived values.
struct DerivedWork {
    /// Changed nodes, each with the derived values that depend on it, in order.
    private(set) var changes: [(node: AnyNode, values: [AnyDerivedNode])] = []
    /// Number of `changes` that the derived values include.
    private(set) var doneCount = 0
    /// Derived values that differ from those after the last transaction, or did so in between.
    private(set) var changed: [AnyDerivedNode] = []
    private var seen: Set<ObjectIdentifier> = []

    var isEmpty: Bool { changes.isEmpty }

    /// Adds a changed node.
    mutating func add(_ node: AnyNode, _ values: [AnyDerivedNode]) {
        if doneCount < changes.count, changes[changes.count - 1].node === node { return }
        changes.append((node, values))
    }

    /// Takes the changes that the derived values do not include.
    mutating func takeChanges() -> ArraySlice<(node: AnyNode, values: [AnyDerivedNode])> {
        defer { doneCount = changes.count }
        return changes[doneCount...]
    }

    /// Adds a derived value that changed.
    mutating func add(changed value: AnyDerivedNode) {
        if seen.insert(ObjectIdentifier(value)).inserted { changed.append(value) }
    }
}

/// The derived values that an update has to compute, each once and each before those that depend on
/// it.
private struct StaleValues {
    /// The first to compute is the last element.
    private var values: [AnyDerivedNode] = []

    /// Adds those of `dependents` that exist, and passes them the changed node.
    mutating func include(_ dependents: [AnyDerivedNode], of node: AnyNode) {
        for value in dependents where !value.isGone {
            value.take(node)
            if value.isStale { continue }
            value.setStale(true)
            let place = values.lastIndex { value.precedes($0) }.map { $0 + 1 } ?? 0
            values.insert(value, at: place)
        }
    }

    mutating func popFirst() -> AnyDerivedNode? {
        let value = values.popLast()
        value?.setStale(false)
        return value
    }
}

extension Turn {
    /// Has `values`, which depend on `node`, brought up to date with its changes.
    func derive(_ values: [AnyDerivedNode], from node: AnyNode) {
        transaction.wishes.request(.derivation(node, values))
    }

    /// Brings all derived values up to date with the changes of the transaction so far.
    func refreshDerived() {
        let changes = transaction.wishes.takeChanges()
        if changes.isEmpty { return }
        var stale = StaleValues()
        for change in changes { stale.include(change.values, of: change.node) }
        while let value = stale.popFirst() {
            guard value.refresh(undo) else { continue }
            transaction.wishes.request(.changedValue(value))
            stale.include(value.feeds, of: value)
        }
    }

    /// Ends the transaction for the derived values that it changes, after it got its sequence.
    func settleDerived() {
        refreshDerived()
        for value in transaction.wishes.derived.changed where value.settle() {
            value.touch(at: sequence, self)
            tree.onDerive?(value)
        }
    }
}
