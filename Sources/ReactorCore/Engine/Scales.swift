/// Measures the size of the states that a transaction changes, before and after.
///
/// *Place*: in a ``Turn``, during a transaction that must make the tree smaller. *Cost*: encodes
/// each state twice, so it is used only while the disk is full.
struct Scales {
    private var before: [(node: any MeasuredState, byteCount: Int)] = []
    private var seen: Set<ObjectIdentifier> = []
    /// Number of bytes encoded so far.
    private(set) var workByteCount = 0

    /// Measures a node before its change.
    mutating func weigh(_ node: any MeasuredState) {
        guard seen.insert(ObjectIdentifier(node)).inserted else { return }
        let byteCount = Self.byteCount(of: node)
        workByteCount += byteCount
        before.append((node, byteCount))
    }

    /// Measures a node and all nodes below it before their removal.
    mutating func weighBranch(_ node: any MeasuredState) {
        weigh(node)
        for child in node.measuredParts { weighBranch(child) }
    }

    /// Adds a new node and all nodes below it, with a former size of 0.
    mutating func weighNew(_ node: any MeasuredState) {
        if seen.insert(ObjectIdentifier(node)).inserted { before.append((node, 0)) }
        for child in node.measuredParts { weighNew(child) }
    }

    /// Growth of the states in bytes; negative if they shrank.
    mutating func growth() -> Int {
        before.reduce(0) { sum, entry in
            let after = entry.node.isGone ? 0 : Self.byteCount(of: entry.node)
            workByteCount += after
            return sum + after - entry.byteCount
        }
    }

    private static func byteCount(of node: any MeasuredState) -> Int {
        WireWriter.byteCount { node.encodeState(into: &$0) }
    }
}

/// A part of a tree whose state has a size.
protocol MeasuredState: AnyObject {
    /// Whether it has been removed.
    var isGone: Bool { get }
    /// The parts directly below it.
    var measuredParts: [any MeasuredState] { get }
    /// Writes the state that is measured.
    func encodeState(into writer: inout WireWriter)
}
