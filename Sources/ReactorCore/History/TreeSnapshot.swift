/// All nodes of a tree at one revision, gathered in steps while the tree continues.
///
///     let snapshot = tree.beginSnapshot()
///     while !snapshot.isComplete {
///         snapshot.gather(1_024)          // between turns
///         write(snapshot.take())
///     }
///
/// A node that changes or is removed before it was gathered is saved first. Until the snapshot is
/// complete, every action takes the slow path. *Place*: ``Turn/snapshot``. *Owner*: the tree's
/// isolation.
///
/// *Cost*: a copy of each state, which shares storage with it.
package final class TreeSnapshot: NodeSaver {
    /// The sequence of the snapshot's revision.
    package let sequence: UInt64
    private let tree: Tree
    private let number: UInt64
    /// Index of the next node in the tree's order.
    private var next = 0
    private var saved: [SavedNode] = []

    init(of tree: Tree) {
        self.tree = tree
        sequence = tree.turn.sequence
        number = tree.nodes.newSnapshotNumber()
    }

    /// Whether all nodes were gathered.
    package private(set) var isComplete = false

    /// Number of gathered nodes that were not taken.
    package var waitingCount: Int { saved.count }

    /// Gathers up to `count` nodes.
    package func gather(_ count: Int) {
        guard !isComplete else { return }
        let end = min(next + count, tree.nodes.order.count)
        while next < end {
            let node = tree.nodes.order[next]
            next += 1
            save(node)
        }
        guard next >= tree.nodes.order.count else { return }
        finish()
    }

    /// Returns the nodes gathered since the last call.
    package func take() -> [SavedNode] {
        defer { saved = [] }
        return saved
    }

    /// Ends the snapshot before it is complete.
    package func cancel() { finish() }

    private func finish() {
        isComplete = true
        tree.turn.endSnapshot(self)
    }

    /// Saves a node, unless it was saved before.
    func save(_ node: AnyNode) {
        guard node.savedIn != number, !node.isDerived else { return }
        node.markSaved(in: number)
        saved.append(SavedNode(node))
    }

    /// Saves a node that moves to an index which the snapshot has passed.
    func saveMoving(_ node: AnyNode, to index: Int) { if index < next { save(node) } }
}

extension SavedNode {
    init(_ node: AnyNode) {
        let form = node.form
        head = NodeHead(
            number: node.number, parent: node.parent?.number ?? node.number, name: node.name,
            birth: node.birthSequence, sequence: node.sequence, fingerprint: form.fingerprint,
            reactor: form.name)
        topName = Self.topName(of: node)
        encodeState = node.copyState()
    }

    // Not through the path, which is an array: a change during a snapshot saves its node first.
    private static func topName(of node: AnyNode) -> WireKey? {
        var node = node
        guard var parent = node.parent else { return nil }
        while let next = parent.parent { (node, parent) = (parent, next) }
        return node.name
    }
}
