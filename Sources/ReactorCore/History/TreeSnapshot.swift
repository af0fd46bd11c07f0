/// All nodes of a tree as they stood at one revision, gathered bit by bit while the tree goes on.
///
///     let snapshot = tree.beginSnapshot()
///     while !snapshot.isComplete {
///         snapshot.gather(1_024)          // between turns
///         write(snapshot.take())
///     }
///
/// A node that changes, or goes, before its turn comes is saved as it was; meanwhile, every action
/// takes the long way. *Place*: ``Turn/snapshot``. *Owner*: the tree's isolation.
///
/// *Cost*: a copy of each state, which shares what is not changed afterwards.
public final class TreeSnapshot {
    /// The sequence that the snapshot is of.
    public let sequence: UInt64
    private let tree: Tree
    private let number: UInt64
    /// Where in the tree's order the next node stands.
    private var next = 0
    private var saved: [SavedNode] = []

    init(of tree: Tree) {
        self.tree = tree
        sequence = tree.turn.sequence
        tree.snapshotsBegun += 1
        number = tree.snapshotsBegun
    }

    /// Whether all nodes were gathered.
    public private(set) var isComplete = false

    /// Nodes that were gathered and not taken.
    public var waitingCount: Int { saved.count }

    /// Looks at no more than `count` nodes.
    public func gather(_ count: Int) {
        guard !isComplete else { return }
        let end = min(next + count, tree.order.count)
        while next < end {
            let node = tree.order[next]
            next += 1
            save(node)
        }
        guard next >= tree.order.count else { return }
        finish()
    }

    /// Gives the nodes that were gathered since the last call.
    public func take() -> [SavedNode] {
        defer { saved = [] }
        return saved
    }

    /// Ends it before it is complete.
    public func cancel() { finish() }

    private func finish() {
        isComplete = true
        if tree.turn.snapshot === self { tree.turn.snapshot = nil }
    }

    /// Saves a node as it stands, if that was not done before.
    func save(_ node: AnyNode) {
        guard node.savedIn != number else { return }
        node.savedIn = number
        saved.append(SavedNode(node))
    }

    /// A node moves to another place of the order.
    func noteMove(of node: AnyNode, to index: Int) { if index < next { save(node) } }
}

extension SavedNode {
    init(_ node: AnyNode) {
        let form = node.form
        head = NodeHead(
            number: node.number, parent: node.parent?.number ?? node.number, name: node.name,
            birth: node.birthSequence, sequence: node.sequence, fingerprint: form.fingerprint,
            reactor: form.name)
        encodeState = node.copyState()
    }
}

extension Tree {
    /// Whether a snapshot is being taken.
    public var isSnapshotted: Bool { turn.snapshot != nil }

    /// Begins a snapshot of the revision at hand; between two transactions, and only one at a time.
    public func beginSnapshot() -> TreeSnapshot {
        precondition(turn.snapshot == nil, "a snapshot is being taken")
        let snapshot = TreeSnapshot(of: self)
        turn.snapshot = snapshot
        return snapshot
    }
}
