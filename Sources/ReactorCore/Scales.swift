/// How large the states are that a transaction changes, before and after.
///
/// *Place*: in a ``Turn``, while a transaction is carried out that must make the tree smaller. *Cost*:
/// encodes each state twice, so it is for the time when a disk is full.
struct Scales {
    private var before: [(node: AnyNode, byteCount: Int)] = []
    private var seen: Set<ObjectIdentifier> = []
    /// Bytes that were encoded.
    private(set) var workByteCount = 0

    /// Takes note of a node that is about to change.
    mutating func weigh(_ node: AnyNode) {
        guard seen.insert(ObjectIdentifier(node)).inserted else { return }
        let byteCount = node.stateByteCount
        workByteCount += byteCount
        before.append((node, byteCount))
    }

    /// Takes note of a node that is about to go, with all below it.
    mutating func weighBranch(_ node: AnyNode) {
        weigh(node)
        for child in node.children.values { weighBranch(child) }
    }

    /// Takes note of a node that has just come, with all below it.
    mutating func noteNew(_ node: AnyNode) {
        if seen.insert(ObjectIdentifier(node)).inserted { before.append((node, 0)) }
        for child in node.children.values { noteNew(child) }
    }

    /// By how many bytes the states have grown.
    mutating func growth() -> Int {
        before.reduce(0) { sum, entry in
            let after = entry.node.isGone ? 0 : entry.node.stateByteCount
            workByteCount += after
            return sum + after - entry.byteCount
        }
    }
}

extension AnyNode {
    fileprivate var stateByteCount: Int {
        var writer = WireWriter()
        encodeState(into: &writer)
        return writer.count
    }
}
