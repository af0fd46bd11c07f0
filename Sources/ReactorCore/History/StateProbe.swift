public import ReactorWire

/// Some nodes as they stand at one revision, to be summed up on any thread.
///
///     let probe = tree.probeTurn()
///     let sums = probe.sums()             // elsewhere, later
///
/// *Place*: a daemon that keeps history takes one now and then, and writes down first which nodes,
/// then their sums. ``TreeRecovery`` takes the same one where it replays the first, and must come to
/// the same sums at the second: a `reduce` that is not what it was, or depends on more than state and
/// mutation, is found so before anything is served.
///
/// *Cost*: a copy of each state, which shares what is not changed until the sums are there.
public struct StateProbe: Sendable {
    /// Which nodes, in the order of their sums.
    public let nodes: [ProbedNode]
    private let states: [@Sendable (inout WireWriter) -> Void]

    init(of nodes: [AnyNode]) {
        self.nodes = nodes.map { ProbedNode(number: $0.number, fingerprint: $0.fingerprint) }
        states = nodes.map { $0.copyState() }
    }

    /// The checksum of each node's state, and how many bytes were looked at.
    public func sums() -> (values: [UInt64], byteCount: Int) {
        var byteCount = 0
        let values = states.map { encode in
            var writer = WireWriter()
            encode(&writer)
            byteCount += writer.count
            return writer.withBytes { WireChecksum(of: $0).value }
        }
        return (values, byteCount)
    }
}

/// A node that was probed.
@WireCodable
public struct ProbedNode: Equatable, Sendable {
    /// ``AnyNode/number``.
    public var number: UInt32
    /// The fingerprint of its types: a state of other types may be summed up otherwise.
    public var fingerprint: UInt64
}

extension Tree {
    /// Probes nodes whose deltas are among the first of the turn; between two transactions.
    public func probeTurn() -> StateProbe {
        var found: [AnyNode] = []
        turn.withDeltas { bytes in
            var offset = 0
            var frameCount = 0
            while frameCount < Self.probedFramesMax, found.count < Self.probedNodesMax,
                let header = try? FrameHeader.decode(
                    bytes, at: offset, frameBytesMax: Int(UInt32.max))
            {
                offset += FrameHeader.byteCount + Int(header.length)
                frameCount += 1
                guard header.kind == FrameKind.delta.rawValue, let node = nodes[header.id],
                    !node.isCollection, !node.isGone, !found.contains(where: { $0 === node })
                else { continue }
                found.append(node)
            }
        }
        return StateProbe(of: found)
    }

    // because a turn is not to wait for it
    /// Most nodes of one probe.
    static let probedNodesMax = 16
    /// Most deltas that are looked at for them.
    static let probedFramesMax = 64
}
