import ReactorCore

/// The state that each node had at each revision.
struct StateHistory {
    private struct Entry {
        var sequence: UInt64
        var state: [UInt8]
    }

    private struct Place: Hashable {
        var epoch: UInt64
        var path: String
    }

    private var entries: [Place: [Entry]] = [:]

    /// Keeps the states that the nodes of `tree` have now.
    mutating func begin(_ tree: Tree) {
        let revision = tree.revision
        tree.forEachNode { node in
            add(StateLedger.state(of: node), of: "\(node.path)", at: revision)
        }
    }

    /// Keeps what a transaction of the history `epoch` made of a node.
    mutating func add(_ change: NodeChange, epoch: UInt64) {
        add(
            change.after, of: "\(change.node.path)",
            at: Revision(epoch: epoch, sequence: change.sequence))
    }

    private mutating func add(_ state: [UInt8], of path: String, at revision: Revision) {
        entries[Place(epoch: revision.epoch, path: path), default: []].append(
            Entry(sequence: revision.sequence, state: state))
    }

    /// The encoded state that stood at `path` as of `revision`, if that is known.
    func state(at path: String, _ revision: Revision) -> [UInt8]? {
        entries[Place(epoch: revision.epoch, path: path)]?
            .last { $0.sequence <= revision.sequence }?.state
    }
}
