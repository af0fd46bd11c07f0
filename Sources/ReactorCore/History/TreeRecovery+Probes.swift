import ReactorWire

/// States that were probed where history is replayed, until their sums come.
struct HeldProbe {
    let sequence: UInt64
    /// Paths and states in the order of the sums; nil for what cannot be compared any more.
    let nodes: [(path: String, encode: @Sendable (inout WireWriter) -> Void)?]
}

// MARK: - Probes
extension TreeRecovery {
    /// Takes the probe that was taken here when history was made.
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

    /// Compares the last probe's sums with those that were written down.
    ///
    /// *Throws*: ``RecoveryError/diverged(path:sequence:)``.
    public func compare(_ sums: [UInt64]) throws(RecoveryError) {
        // because a snapshot may have been taken between a probe and its sums
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

    /// Forgets a probe whose sums will not come.
    public func dropProbe() { held = nil }
}
