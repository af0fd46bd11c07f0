import ReactorCore

/// The change of one node in one transaction.
struct NodeChange {
    var sequence: UInt64
    let node: AnyNode
    /// The mutations, encoded one after another.
    var mutations: [UInt8] = []
    /// The encoded state before and after.
    var before: [UInt8] = []
    var after: [UInt8] = []
    /// Children created and removed, if the node is a collection.
    var structure: [StructuralChange] = []

    /// Merges a later change of the same node into this one.
    func followed(by next: NodeChange) -> NodeChange {
        var both = self
        both.mutations += next.mutations
        both.after = next.after
        both.structure += next.structure
        return both
    }

    /// The change as a short text.
    var text: String {
        if node.isDerived { return "\(node.path): \(WireValue.texts(of: after))" }
        guard structure.isEmpty else {
            return "\(node.path): "
                + structure.map { change in
                    switch change {
                    case .create(let key, _, _): "+ \(key)"
                    case .remove(let key): "- \(key)"
                    }
                }.joined(separator: ", ")
        }
        return "\(node.path): \(WireValue.texts(of: mutations))"
    }
}

/// Tracks the states of all nodes of a tree by its deltas, and checks that `reduce` is
/// deterministic.
///
/// Each mutation is reduced twice on copies of the previous state. A result that differs from the
/// tree's state would make replays and mirrors diverge from the daemon.
///
/// *Owner*: the tree's isolation.
final class StateLedger {
    private let tree: Tree
    /// Nodes and their encoded states after the last delta read.
    private var entries: [UInt32: (node: AnyNode, state: [UInt8])] = [:]
    /// Findings since the last ``takeFindings()``.
    private var findings: [String] = []
    /// Changed derived values that were not taken, in the order of their transactions.
    private var derived: [(sequence: UInt64, node: AnyNode, state: [UInt8])] = []

    /// Tracks `tree` from its current state on.
    init(_ tree: Tree) {
        self.tree = tree
        tree.forEachNode { note($0) }
        let previous = tree.onMount
        tree.onMount = { [weak self] node in
            previous?(node)
            self?.note(node)
        }
        let previousDerive = tree.onDerive
        tree.onDerive = { [weak self] node in
            previousDerive?(node)
            self?.noteDerived(node)
        }
    }

    private func noteDerived(_ node: AnyNode) {
        derived.append((tree.turn.sequence, node, Self.state(of: node)))
    }

    /// Removes and returns the changes of derived values up to the transaction numbered `last`. No
    /// delta contains them.
    func takeDerived(upTo last: UInt64 = .max) -> [NodeChange] {
        let taken = derived.prefix { $0.sequence <= last }
        derived.removeFirst(taken.count)
        return taken.map { sequence, node, state in
            let before = entries[node.number]?.state ?? state
            entries[node.number]?.state = state
            return NodeChange(sequence: sequence, node: node, before: before, after: state)
        }
    }

    private func note(_ node: AnyNode) { entries[node.number] = (node, Self.state(of: node)) }

    static func state(of node: AnyNode) -> [UInt8] {
        var writer = WireWriter()
        node.encodeState(into: &writer)
        return writer.bytes
    }

    /// A node and its encoded state after the last delta read.
    func entry(_ number: UInt32) -> (node: AnyNode, state: [UInt8])? { entries[number] }

    /// The derived values that `node` declares, and their states; also of a node that a later delta
    /// has removed, which has no children any more.
    func derivedValues(of node: AnyNode) -> [(node: AnyNode, state: [UInt8])] {
        entries.values.filter { $0.node.isDerived && $0.node.parent === node }
    }

    /// Returns the findings since the last call.
    func takeFindings() -> [String] {
        defer { findings = [] }
        return findings
    }

    /// Reads delta frames in order and returns the change of each, which it first passes to
    /// `visit`. The tree must be in the state after the last frame.
    @discardableResult
    func read(
        _ deltas: Span<UInt8>, _ visit: (NodeChange) -> Void = { _ in }
    ) -> [NodeChange] {
        var changes: [NodeChange] = []
        var offset = 0
        while offset < deltas.count,
            let header = try? FrameHeader.decode(
                deltas, at: offset, frameBytesMax: Int(UInt32.max))
        {
            let start = offset + FrameHeader.byteCount
            offset = start + Int(header.length)
            guard header.kind == FrameKind.delta.rawValue else { continue }
            if let change = read(header, deltas.extracting(start..<offset)) {
                visit(change)
                changes.append(change)
            }
        }
        compare(changes)
        for (number, entry) in entries where entry.node.isGone { entries[number] = nil }
        return changes
    }

    private func read(_ header: FrameHeader, _ body: Span<UInt8>) -> NodeChange? {
        guard let entry = entries[header.id] else { return nil }
        var change = NodeChange(
            sequence: header.number, node: entry.node, before: entry.state, after: entry.state)
        var cursor = WireCursor()
        guard (try? Origin.decode(body, &cursor)) != nil else { return nil }
        if header.flags.contains(.structural) {
            change.structure = (try? StructuralChange.decode(body, &cursor)).map { [$0] } ?? []
            return change
        }
        change.mutations.append(contentsOf: body, cursor.offset..<body.count)
        do throws(WireError) {
            change.after = try entry.node.replay(change.mutations.span, on: entry.state.span)
            let again = try entry.node.replay(change.mutations.span, on: entry.state.span)
            if again != change.after { find(change, change.after, again) }
        } catch {
            findings.append(
                "\(entry.node.reactorName) at \(entry.node.path): its own state or mutation "
                    + "cannot be read back: \(error)")
        }
        entries[header.id]?.state = change.after
        return change
    }

    /// Compares the changed nodes with the states that their deltas lead to.
    private func compare(_ changes: [NodeChange]) {
        guard let last = changes.last?.sequence else { return }
        var seen: Set<UInt32> = []
        for change in changes.reversed() where seen.insert(change.node.number).inserted {
            // A node changed after these deltas cannot be compared with them.
            guard !change.node.isGone, change.node.sequence <= last else { continue }
            let actual = Self.state(of: change.node)
            if actual == change.after { continue }
            find(change, actual, change.after)
            entries[change.node.number]?.state = actual
        }
    }

    private func find(_ change: NodeChange, _ first: [UInt8], _ second: [UInt8]) {
        findings.append(
            "reduce of \(change.node.reactorName) at \(change.node.path) is not a function of its "
                + "arguments: \(WireValue.texts(of: change.mutations)), reduced again on the same "
                + "state, leads elsewhere; it must use no clock, no chance, and no order of a "
                + "dictionary or set\n" + Difference(expected: first, got: second).text)
    }
}
