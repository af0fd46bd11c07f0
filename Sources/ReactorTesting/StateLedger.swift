import ReactorCore

/// What one transaction did to one node.
struct NodeChange {
    var sequence: UInt64
    let node: AnyNode
    /// Mutations, encoded one behind another.
    var mutations: [UInt8] = []
    /// The encoded state before and after.
    var before: [UInt8] = []
    var after: [UInt8] = []
    /// Children that came or went, if the node is a collection.
    var structure: [StructuralChange] = []

    /// The same change with another of the same node behind it.
    func followed(by next: NodeChange) -> NodeChange {
        var both = self
        both.mutations += next.mutations
        both.after = next.after
        both.structure += next.structure
        return both
    }

    /// The change in a few words.
    var text: String {
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

/// Follows every node of a tree by its deltas, and sees to it that `reduce` is a function.
///
/// Each mutation is reduced again, twice, on copies of the state before it; where that leads to
/// another state than the tree's own, a replay or a mirror would part from the daemon.
///
/// *Owner*: the tree's isolation.
final class StateLedger {
    private let tree: Tree
    /// Nodes and their encoded states, as of the last delta that was read.
    private var entries: [UInt32: (node: AnyNode, state: [UInt8])] = [:]
    /// Reducers that are no functions: told, and then forgotten.
    private var findings: [String] = []

    /// Follows `tree` from where it stands.
    init(_ tree: Tree) {
        self.tree = tree
        tree.forEachNode { note($0) }
        let previous = tree.onMount
        tree.onMount = { [weak self] node in
            previous?(node)
            self?.note(node)
        }
    }

    private func note(_ node: AnyNode) { entries[node.number] = (node, Self.state(of: node)) }

    static func state(of node: AnyNode) -> [UInt8] {
        var writer = WireWriter()
        node.encodeState(into: &writer)
        return writer.bytes
    }

    /// The encoded state of a node as of the last delta that was read.
    func state(of number: UInt32) -> [UInt8]? { entries[number]?.state }

    /// What was found since the last time.
    func takeFindings() -> [String] {
        defer { findings = [] }
        return findings
    }

    /// Reads delta frames, in their order, and says what each did; the tree stands where the last
    /// of them left it.
    func read(_ deltas: Span<UInt8>) -> [NodeChange] {
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

    /// Compares the nodes that were changed with what the deltas made of them.
    private func compare(_ changes: [NodeChange]) {
        guard let last = changes.last?.sequence else { return }
        var seen: Set<UInt32> = []
        for change in changes.reversed() where seen.insert(change.node.number).inserted {
            // because what came after the deltas is none of theirs
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
