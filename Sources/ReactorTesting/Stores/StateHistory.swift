import ReactorCore

/// The encoded states of all nodes at all revisions.
struct StateHistory {
    private struct Entry {
        var sequence: UInt64
        var state: [UInt8]
    }

    private struct Key: Hashable {
        var epoch: UInt64
        var path: String
    }

    private var entries: [Key: [Entry]] = [:]

    /// Records the current states of the nodes of `tree`.
    mutating func begin(_ tree: Tree) {
        let revision = tree.revision
        tree.forEachNode { node in
            add(StateLedger.state(of: node), of: "\(node.path)", at: revision)
        }
    }

    /// Records a node's state after a transaction of the given epoch.
    mutating func add(_ change: NodeChange, epoch: UInt64) {
        add(
            change.after, of: "\(change.node.path)",
            at: Revision(epoch: epoch, sequence: change.sequence))
    }

    private mutating func add(_ state: [UInt8], of path: String, at revision: Revision) {
        entries[Key(epoch: revision.epoch, path: path), default: []].append(
            Entry(sequence: revision.sequence, state: state))
    }

    /// Forgets the states after `revision`, in its epoch.
    mutating func cut(to revision: Revision) {
        for key in entries.keys where key.epoch == revision.epoch {
            entries[key]?.removeAll { $0.sequence > revision.sequence }
        }
    }

    /// Returns the encoded state at `path` as of `revision`, or nil if it is unknown.
    func state(at path: String, _ revision: Revision) -> [UInt8]? {
        entries[Key(epoch: revision.epoch, path: path)]?
            .last { $0.sequence <= revision.sequence }?.state
    }
}
