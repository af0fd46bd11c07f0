import ReactorCore
import ReactorWire

/// What is equal in two trees of one history: nodes with their numbers and states, ownerships and
/// tasks.
///
/// Each row is compared at each node: the texts are made only for trees that differ.
struct TreeDigest: Equatable {
    private let revision: Revision
    private var nodes: [Entry] = []
    private let ownership: [OwnershipFact]
    private let tasks: [TaskFact]

    private struct Entry: Equatable {
        let path: SlicePath
        let number: UInt32
        let sum: WireChecksum
    }

    init(_ tree: Tree) {
        revision = tree.revision
        ownership = tree.copyOwnership()()
        tasks = tree.copyTasks()()
        var entries: [Entry] = []
        tree.forEachNode { node in
            var writer = WireWriter()
            node.encodeState(into: &writer)
            let sum = writer.withBytes { WireChecksum(of: $0) }
            entries.append(Entry(path: node.path, number: node.number, sum: sum))
        }
        nodes = entries
    }

    /// The first lines in which the texts of two trees differ, and their numbers of lines.
    func differences(from other: TreeDigest) -> [String] {
        let (own, others) = (lines, other.lines)
        return zip(own, others).filter { $0 != $1 }.prefix(2).map { "\($0)" }
            + ["\(own.count) and \(others.count) lines"]
    }

    private var lines: [String] {
        ["\(revision)"] + nodes.map { "\($0.path) \($0.number) \($0.sum)" }
            + ownership.map { "\($0)" } + tasks.map { "\($0)" }
    }
}
