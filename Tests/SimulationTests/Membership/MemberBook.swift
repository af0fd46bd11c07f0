import ReactorCluster
import ReactorCore
import ReactorTesting
import ReactorWire

/// What the nodes of a ``MemberCluster`` had after each row, and what went wrong.
final class MemberBook {
    /// Violations, at most ten.
    private(set) var violations: [String] = []
    var counts = Counts()
    private let timeline: Timeline
    private var digests: [UInt64: (node: ClusterNode, text: [String])] = [:]

    /// How often something happened.
    struct Counts {
        var promotions = 0
        var depositions = 0
        var restarts = 0
        var cuts = 0
        var compared = 0
    }

    init(_ timeline: Timeline) { self.timeline = timeline }

    func fail(_ text: String) {
        if violations.count < 10 { violations.append("\(timeline.now / 1_000_000) ms: \(text)") }
    }

    /// Compares a tree at the end of a row with that of the first node that had it. The row of a
    /// leader may be given up, and another take its number: only followed rows are kept.
    func compare(_ tree: Tree, at row: UInt64, of node: ClusterNode, isLeading: Bool) {
        guard !isLeading else { return }
        let text = Self.digest(tree)
        guard let first = digests[row] else {
            digests[row] = (node, text)
            return
        }
        counts.compared += 1
        guard first.text != text else { return }
        let differences = zip(first.text, text).filter { $0 != $1 }.prefix(2)
        fail(
            "row \(row): node \(node.index) has another state than \(first.node.index): "
                + "\(differences)")
    }

    /// The nodes of a tree with their numbers and states; ownerships and tasks.
    static func digest(_ tree: Tree) -> [String] {
        var lines = ["\(tree.revision)"]
        tree.forEachNode { node in
            var writer = WireWriter()
            node.encodeState(into: &writer)
            let sum = writer.withBytes { WireChecksum(of: $0) }
            lines.append("\(node.path) \(node.number) \(sum)")
        }
        lines += tree.copyOwnership()().map { "\($0)" }
        lines += tree.copyTasks()().map { "\($0)" }
        return lines
    }
}

/// A deliberate fault of a membership.
enum MembershipFault: String, CaseIterable, Sendable {
    /// A leader tells outcomes before the log has their row.
    case tellsEarly
    /// A server serves clients before it has the rows that the log has.
    case servesEarly
    /// A deposed leader continues from fewer rows than it has stored.
    case recoversTooLittle
}
