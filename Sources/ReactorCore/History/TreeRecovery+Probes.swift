import ReactorWire

/// Probed states of a replay, until their recorded sums are read.
struct HeldProbe {
    let sequence: UInt64
    /// Paths and states in the order of the sums; `nil` for nodes that are no longer comparable.
    let nodes: [(path: String, encode: @Sendable (inout WireWriter) -> Void)?]
}

// MARK: - Probes
extension TreeRecovery {
    /// Takes the probe that the daemon took at this point of the history.
    public func probe(_ nodes: [ProbedNode]) {
        held = HeldProbe(
            sequence: tree.turn.sequence,
            nodes: nodes.map { probed in
                guard let node = node(probed.number), node.fingerprint == probed.fingerprint else {
                    return nil
                }
                return (node.path.description, node.copyState())
            })
    }

    /// Compares the last probe with the recorded sums.
    ///
    /// *Throws*: ``RecoveryError/diverged(path:sequence:)``.
    public func compare(_ sums: [UInt64]) throws(RecoveryError) {
        // The replay may have started from a snapshot between a probe and its sums.
        guard let held else { return }
        self.held = nil
        for (probed, sum) in zip(held.nodes, sums) {
            guard let probed else { continue }
            var writer = WireWriter()
            probed.encode(&writer)
            guard writer.withBytes({ WireChecksum(of: $0).value }) == sum else {
                throw .diverged(path: probed.path, sequence: held.sequence)
            }
        }
    }

    /// Forgets a probe whose sums are not in the history.
    public func dropProbe() { held = nil }
}
