import ReactorWire

/// Applies the deltas of another process to a tree that clients follow.
///
///     live.beginRow()
///     live.beginTransaction(header.number)            // before each delta
///     try live.redo(header, origin, mutations, …)     // or a structural change
///     live.endRow(at: row.sequence)
///
/// The turn then holds what it holds in the process that decided: the frames and their positions,
/// touched and removed nodes, and changed derived values. A snapshot in progress saves each node
/// before it changes. No reactor decides, and no effect begins.
///
/// *Place*: inside ``TreeRecovery``, after its replay. *Owner*: the tree's isolation.
final class LiveRedo {
    private let tree: Tree
    private let turn: Turn
    /// Ends the connections of all clients, before a change that no delta describes.
    private let cutConnections: () -> Void

    /// Applies deltas to `tree`, which is recovered.
    init(to tree: Tree, cuttingBy cutConnections: @escaping () -> Void) {
        self.tree = tree
        turn = tree.turn
        self.cutConnections = cutConnections
    }

    // MARK: Transactions

    /// Begins a row of deltas.
    func beginRow() { turn.transaction.begin(by: .daemon, .daemon) }

    /// Continues with a delta of the transaction `sequence`, and ends the one before it.
    func beginTransaction(_ sequence: UInt64) {
        guard sequence != turn.transaction.sequence else { return }
        settle()
        turn.transaction.continueHistory(after: sequence - 1)
    }

    /// Ends a row, whose last transaction is `sequence`.
    func endRow(at sequence: UInt64) {
        settle()
        turn.transaction.continueHistory(after: sequence)
    }

    /// Ends a transaction: removes its removed nodes, and brings derived values up to date.
    private func settle() {
        guard !turn.transaction.wishes.isEmpty else { return }
        _ = turn.transaction.assignSequence()
        turn.settle(depth: 1)
    }

    // MARK: Deltas

    /// Reduces the mutations of `node` from `start` on, and appends their frame to the turn. With
    /// `isOlder`, they are in the form of earlier types, and clients get them in today's.
    func redo(
        _ header: FrameHeader, _ origin: Span<UInt8>, _ mutations: Span<UInt8>,
        from start: WireCursor, of node: AnyNode, isOlder: Bool
    ) throws(WireError) {
        turn.snapshot?.save(node)
        if node.isSource { turn.derive(node.feeds, from: node) }
        var cursor = start
        if isOlder {
            var writer = WireWriter()
            try node.redo(mutations, &cursor, into: &writer)
            writer.withBytes { turn.addFrame(header, origin, $0, of: node) }
        } else {
            try node.redo(mutations, &cursor)
            let bytes = mutations.extracting(start.offset..<mutations.count)
            turn.addFrame(header, origin, bytes, of: node)
        }
        node.touch(turn)
        node.presentRedone(turn)
    }

    /// Appends the frame of a structural change of `collection`.
    func addFrame(_ header: FrameHeader, _ body: Span<UInt8>, of collection: AnyNode) {
        turn.addFrame(header, body.extracting(0..<0), body, of: collection)
    }

    /// Shows a child that was created, with its recorded states.
    func show(_ child: AnyNode, in collection: AnyNode) {
        var values: [AnyDerivedNode] = []
        child.visit { node in
            node.presentRestored(turn)
            if let value = node as? AnyDerivedNode { values.append(value) }
        }
        for value in values.sorted(by: { $0.precedes($1) }) { value.rebuild() }
        if collection.isSource { turn.derive(collection.feeds, from: child) }
    }

    /// Removes a child, which its collection does not hold any more, and all nodes below it.
    func remove(_ child: AnyNode, from collection: AnyNode) {
        tree.unmount(child)
        if collection.isSource { turn.derive(collection.feeds, from: child) }
    }

    // MARK: Numbers

    /// Makes `number` free for a new node.
    func vacate(_ number: UInt32) {
        // A lower one is that of a node which the same row creates, and which no client knows.
        if number >= NodeRegistry.provisionalMin, let node = tree.nodes[number] { prepare(node) }
        tree.nodes.vacate(number)
    }

    /// Gives a node the number that the other process has for it; `isNew` is true for a node that
    /// the row creates.
    func adopt(_ node: AnyNode, as number: UInt32, isNew: Bool) {
        guard node.number != number else { return }
        if !isNew { prepare(node) }
        vacate(number)
        tree.nodes.renumber(mounted: node, as: number)
    }

    /// Restores the state that a layout records for a node. With `isKnown`, the rows so far have led
    /// to its state; otherwise the state is that of this process alone until now.
    ///
    /// *Throws*: if it is known and differs.
    func restore(
        _ node: AnyNode, _ record: NodeRecord, isKnown: Bool,
        by restore: () throws(RecoveryError) -> Void
    ) throws(RecoveryError) {
        guard let state = record.state else { return try restore() }
        let before = node.encodedState
        if !isKnown, before != state { prepare(node) }
        try restore()
        guard before != node.encodedState else { return }
        guard !isKnown else {
            throw .diverged(path: node.path.description, sequence: turn.sequence)
        }
        node.presentRestored(turn)
        tree.rebuildDerived()
    }

    /// Prepares for a change that no delta describes: saves the node and those that name it in a
    /// snapshot in progress, and ends the connections of clients.
    private func prepare(_ node: AnyNode) {
        turn.snapshot?.save(node)
        for child in node.children.values { turn.snapshot?.save(child) }
        cutConnections()
    }
}
