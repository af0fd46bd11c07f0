/// Measures the size of the states that a transaction changes, before and after.
///
/// *Place*: in a ``Turn``, during a transaction that must make the tree smaller. *Cost*: encodes
/// each state twice, so it is used only while the disk is full.
struct Scales {
    private var before: [(node: AnyNode, byteCount: Int)] = []
    private var seen: Set<ObjectIdentifier> = []
    /// Number of bytes encoded so far.
    private(set) var workByteCount = 0

    /// Measures a node before its change.
    mutating func weigh(_ node: AnyNode) {
        guard seen.insert(ObjectIdentifier(node)).inserted else { return }
        let byteCount = Self.byteCount(of: node)
        workByteCount += byteCount
        before.append((node, byteCount))
    }

    /// Measures a node and all nodes below it before their removal.
    mutating func weighBranch(_ node: AnyNode) {
        weigh(node)
        for child in node.children.values { weighBranch(child) }
    }

    /// Adds a new node and all nodes below it, with a former size of 0.
    mutating func weighNew(_ node: AnyNode) {
        if seen.insert(ObjectIdentifier(node)).inserted { before.append((node, 0)) }
        for child in node.children.values { weighNew(child) }
    }

    /// Growth of the states in bytes; negative if they shrank.
    mutating func growth() -> Int {
        before.reduce(0) { sum, entry in
            let after = entry.node.isGone ? 0 : Self.byteCount(of: entry.node)
            workByteCount += after
            return sum + after - entry.byteCount
        }
    }

    private static func byteCount(of node: AnyNode) -> Int {
        var writer = WireWriter()
        node.encodeState(into: &writer)
        return writer.count
    }
}
