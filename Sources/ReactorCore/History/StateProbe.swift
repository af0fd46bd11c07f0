package import ReactorWire

/// Some nodes at one revision, whose checksums can be computed on any thread.
///
///     let probe = tree.probe(changed)
///     let sums = probe.sums()             // elsewhere, later
///
/// *Place*: a daemon that keeps history takes one now and then, and records first the nodes, then
/// their sums. A replay takes the same probe at the first record, and ``TreeRecovery`` compares its
/// sums at the second. So it detects, before any client is served, a `reduce` that changed or
/// depends on more than state and mutation.
///
/// *Cost*: a copy of each state, which shares storage with it until the sums are computed.
package struct StateProbe: Sendable {
    /// The probed nodes, in the order of their sums.
    package let nodes: [ProbedNode]
    /// Maximum number of nodes in the probe of a daemon that ends.
    package static let lastNodeCountMax = 4_096
    private let states: [@Sendable (inout WireWriter) -> Void]

    init(of nodes: [AnyNode]) {
        self.nodes = nodes.map { ProbedNode(number: $0.number, fingerprint: $0.fingerprint) }
        states = nodes.map { $0.copyState() }
    }

    /// The checksum of each node's state, and the number of bytes encoded.
    package func sums() -> (values: [UInt64], byteCount: Int) {
        var byteCount = 0
        let values = states.map { encode in
            let sum = WireChecksum.of { encode(&$0) }
            byteCount += sum.byteCount
            return sum.value
        }
        return (values, byteCount)
    }
}

/// The nodes that changed since a probe, up to a limit: the next probe sums them.
///
/// *Shape*: node numbers, each once. *Cost*: searches the numbers for each change.
package struct ChangedNodes: Equatable, Sendable {
    /// The numbers of the nodes, in the order of their first change.
    package private(set) var numbers: [UInt32] = []
    /// Whether no changed node is missing.
    package private(set) var isComplete = true

    // Bounded, so that no turn waits for the copies of many states.
    /// Maximum number of nodes.
    package static let countMax = 16

    package init() {}

    /// Adds a changed node.
    package mutating func add(_ number: UInt32) {
        // Most changes follow a change of the same node.
        guard numbers.last != number, !numbers.contains(number) else { return }
        guard numbers.count < Self.countMax else { return omit() }
        numbers.append(number)
    }

    /// Records that a changed node is missing.
    package mutating func omit() { isComplete = false }
}

/// A probed node.
@WireCodable
package struct ProbedNode: Equatable, Sendable {
    /// ``AnyNode/number``.
    package var number: UInt32
    /// The fingerprint of its types; the checksums of different types are not comparable.
    package var fingerprint: UInt64
}

/// Probed states of a replay, until their recorded sums are read.
struct HeldProbe {
    let sequence: UInt64
    /// Paths and states in the order of the sums; `nil` for nodes that are no longer comparable.
    let nodes: [(path: String, encode: @Sendable (inout WireWriter) -> Void)?]
}
