import ReactorBytes
import ReactorCore
import ReactorWire

// MARK: - What replaying must come to
extension Server {
    /// Probes some of what the turn changed, where enough was written since the last time.
    func noteProbe() {
        // because sums alone are no reason for a row
        guard tree.turn.sequence != turnStart, !isReadOnly else { return }
        if let sums = desk.value.probes.takeSums() { note(.sums(sums)) }
        let byteCount = tree.turn.deltaByteCount + desk.value.facts.count
        guard desk.value.probes.isDue(behind: byteCount) else { return }
        let probe = tree.probeTurn()
        guard !probe.nodes.isEmpty else { return }
        desk.value.probes.begin()
        note(.probe(probe.nodes))
        outputs.append(.sum(probe))
    }

    /// The states that were last probed have these checksums; `byteCount` bytes were looked at.
    public func summed(_ sums: [UInt64], byteCount: Int) {
        desk.value.probes.end(sums, byteCount: byteCount)
    }
}
