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
    private var digests: [UInt64: (node: ClusterNode, tree: TreeDigest)] = [:]
    /// When each row entered the log, in nanoseconds.
    private var entered: [UInt64: UInt64] = [:]
    /// The number of the last row in the log.
    private(set) var lastRow: UInt64 = 0
    /// The ids under which durable effects began.
    private(set) var ids: [Int: Set<UInt64>] = [:]

    /// How often something happened.
    struct Counts {
        var promotions = 0
        var depositions = 0
        var restarts = 0
        var cuts = 0
        var compared = 0
        /// How often the age of what a node shows was compared.
        var aged = 0
        /// Effects that acted, and awaited ones that were lost or done.
        var acted = 0
        var lost = 0
        var done = 0
        /// Durable effects that began again.
        var begunAgain = 0
        /// Actions that were applied while their client's node followed.
        var forwarded = 0
        /// Barriers that were answered.
        var synced = 0
        /// Times that a disk was found full.
        var stalls = 0
        /// Times that a node was seen to read no rows, as too many wait for space.
        var held = 0
        /// Connections of administrators.
        var visits = 0
    }

    /// The highest sequence of an outcome that a client has.
    private(set) var toldSequence: UInt64 = 0

    init(_ timeline: Timeline) { self.timeline = timeline }

    func fail(_ text: String) {
        if violations.count < 10 { violations.append("\(timeline.now / 1_000_000) ms: \(text)") }
    }

    /// The log has another entry.
    func take(_ entry: StoredEntry) {
        guard let entry = try? LogEntry(bytes: entry.bytes) else {
            return fail("an entry cannot be decoded")
        }
        switch entry.content {
        case .rows(let rows): for row in rows { enter(row.number) }
        case .part(let part): if part.isLast { enter(entry.behind.number + 1) }
        }
    }

    private func enter(_ row: UInt64) {
        entered[row] = timeline.now
        lastRow = row
    }

    /// Node `node` shows clients a state of row `row`: none that it lacks has been in the log for
    /// longer than `ageMax` nanoseconds.
    func shows(_ row: UInt64, at node: ClusterNode, ageMax: UInt64) {
        counts.aged += 1
        guard let time = entered[row + 1], timeline.now > time + ageMax else { return }
        fail(
            "node \(node.index) shows row \(row), and the log has had the next for "
                + "\((timeline.now - time) / 1_000_000) ms")
    }

    /// A client has the outcome of an action.
    func tells(_ revision: Revision) { toldSequence = max(toldSequence, revision.sequence) }

    /// A durable effect began.
    func begins(_ token: Int, id: UInt64) {
        if ids[token] != nil { counts.begunAgain += 1 }
        ids[token, default: []].insert(id)
    }

    /// Compares a tree at the end of a row with that of the first node that had it. The row of a
    /// leader may be given up, and another take its number: only followed rows are kept.
    func compare(_ tree: Tree, at row: UInt64, of node: ClusterNode, isLeading: Bool) {
        guard !isLeading else { return }
        let digest = TreeDigest(tree)
        guard let first = digests[row] else {
            digests[row] = (node, digest)
            return
        }
        counts.compared += 1
        guard first.tree != digest else { return }
        fail(
            "row \(row): node \(node.index) has another state than \(first.node.index): "
                + "\(first.tree.differences(from: digest))")
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
    /// A server serves clients although it has had no news of the log for too long.
    case neverCuts
    /// Effects of a deposed leader go on, and report to the next one.
    case ghostEffects
    /// Effects of a leader without confirmations go on.
    case keepsEffects
    /// A node that begins to lead ends what clients of other nodes own.
    case endsForeignConnections
    /// A leader lets clients of a lost node keep what they own.
    case keepsLostNodes
    /// Links between nodes lose actions.
    case losesForwards
    /// Links between nodes repeat an action as another one.
    case repeatsForwards
    /// A node that starts begins an epoch.
    case beginsEpochs
    /// A node says that its state is the cluster's without asking the log.
    case confirmsAtOnce
    /// The engine answers also those looks with an earlier state that are to confirm the latest.
    case staleConfirms
    /// Clients hear only that awaited effects have ended, and not that they were lost.
    case hidesLosses
}
