import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorJournal

/// A leading server and two that follow it, each in a separate world with separate clients. The
/// worlds run side by side; the leader's rows reach the others late, through the journal's coding of
/// rows. A leader that is deposed loses the batches that no row has.
///
/// *Place*: the log is a list here; `ClusterSimulation` has the machines that agree on a real one,
/// without servers.
final class ServerCluster {
    /// The worlds; each has the number of its daemon in the cluster, from 1.
    private(set) var worlds: [SimulatedWorld] = []
    /// Index of the leading world.
    private(set) var leader = 0
    /// The rows so far, as bytes.
    private(set) var log: [[UInt8]] = []
    /// Number of rows that each world has.
    private(set) var applied: [Int] = []
    /// The states at the end of rows, by sequence, as the first world that had them showed them.
    private(set) var states: [UInt64: [String: [UInt8]]] = [:]
    /// Worlds that have led and were deposed.
    private(set) var deposed: Set<Int> = []
    /// How often something was compared, or happened.
    private(set) var counts = Counts()
    /// Called after another world has begun to lead.
    var onChange: (() -> Void)?
    private var digests: [Int: (world: Int, text: [String])] = [:]
    private var numbering = RowNumbering(after: .beginning(seed: 1))
    private var positions: [JournalPosition] = []
    private var snapshots: [Int: SnapshotRun] = [:]
    /// Batches of the leading server that have no row yet.
    private var waiting: [WaitingBatch] = []
    /// Number of batches of which the leading server has not learned that they are appended.
    private var unreportedCount = 0
    private let chance: SimulatedChance
    private let epoch: UInt64
    private let fault: FollowingFault?

    /// How often something was compared, or happened.
    struct Counts {
        var rows = 0
        var compared = 0
        var comparedWithLeader = 0
        var changes = 0
        /// Batches of deposed leaders that no other server has seen.
        var lost = 0
        var snapshots = 0
    }

    /// A batch, and what the leading server had at its end, unless it had gone on.
    private struct WaitingBatch {
        let batch: Batch
        let sight: Sight?
    }

    /// What a server has at the end of a row.
    private struct Sight {
        let text: [String]
        /// The states of nodes, by their paths.
        var values: [String: [UInt8]] = [:]
    }

    /// A snapshot of a following server, and the number of rows that it has applied before.
    private struct SnapshotRun {
        let snapshot: ServerSnapshot
        let rowCount: Int
        var parts: [[UInt8]] = []
    }

    static func tree(epoch: UInt64, loudness: Int = 1) -> Tree {
        Tree(
            ReactorGroup([
                ("left", Counter()), ("right", Counter()), ("map", Map()), ("list", List()),
                ("jobs", Queue()), ("lock", Lock()), ("here", Presence()), ("nest", Nest()),
                ("gallery", Gallery(loudness: loudness)),
            ]), epoch: epoch)
    }

    static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.queueBytesMax = 4_000
        limits.undrainedBytesMax = 4_000
        limits.writeBytesMax = 4_000
        limits.ringBytesMax = 20_000
        limits.inFlightMax = 40
        limits.framesPerTurnMax = 30
        limits.stateBytesMax = .bytes(1 << 20)
        return limits
    }

    init(seed: UInt64, fault: FollowingFault? = nil) {
        chance = SimulatedChance(seed: seed, isCalm: false)
        epoch = seed | 1
        self.fault = fault
        var random = SeededRandom(seed: seed &* 0x2545_f491_4f6c_dd1d)
        for node in 1...3 as ClosedRange<UInt8> {
            let saboteur = node > 1 && fault == .outcomeBeforeDelta ? Saboteur(.earlyOutcomes) : nil
            worlds.append(
                SimulatedWorld(
                    seed: seed &* 3 &+ UInt64(node), node: node, weather: .drawn(from: &random),
                    faults: saboteur
                ) { secret in
                    follower(Int(node) - 1, [], secret)
                })
            applied.append(0)
            positions.append(.beginning(seed: 1))
        }
        for (index, world) in worlds.enumerated() {
            world.hooks.onBatch = { [unowned self] in take($0, of: index) }
            world.hooks.onAppended = { [unowned self] in appendNext(of: index) }
        }
        do { try worlds[0].lead(in: 1) } catch { fail("world 1 cannot lead: \(error)") }
    }

    private func recovery(_ rows: [Batch], at index: Int = 0, follows: Bool = false) -> Recovery {
        let loudness = fault == .otherReduce && index == 2 ? 2 : 1
        let tree = Self.tree(epoch: epoch, loudness: loudness)
        let recovery = Recovery(of: tree, limits: Self.limits)
        if follows { recovery.prepareToFollow() }
        do {
            for row in rows { try recovery.replay(row) }
            return try recovery.finish(epoch: epoch, sequence: rows.last?.sequence ?? 0)
        } catch {
            fail("nothing can be recovered: \(error)")
            return Recovery(of: Self.tree(epoch: epoch), limits: Self.limits)
        }
    }

    private func follower(
        _ index: Int, _ rows: [Batch], _ secret: @escaping () -> UInt64
    ) -> Server {
        Server(
            following: recovery(rows, at: index, follows: true), leader: "\(leader + 1)",
            as: UInt8(index + 1), isCut: false, daemonName: "\(index + 1)"
        ) { secret() }
    }

    /// Records a violation.
    func fail(_ text: String) { worlds.first?.expect(false, text) }

    /// The violations of all worlds.
    var violations: [String] { worlds.flatMap(\.violations) }

    /// The leading world.
    var leading: SimulatedWorld { worlds[leader] }

    /// Runs all worlds side by side, `slice` nanoseconds each in turn.
    func run(for nanoseconds: UInt64, slice: UInt64 = 100_000) {
        for _ in 0..<max(1, nanoseconds / slice) {
            for world in worlds { world.run(for: slice) }
        }
    }
}

// MARK: - Rows
extension ServerCluster {
    /// Takes a batch of the leading server. Some get their row at once, long before the server
    /// learns of it.
    private func take(_ batch: Batch, of index: Int) {
        guard index == leader else { return fail("a following server hands out a batch") }
        let tree = leading.server.tree
        // The server may have handled input of the next turn.
        let sight = tree.revision.sequence == batch.sequence ? Self.sight(tree) : nil
        waiting.append(WaitingBatch(batch: batch, sight: sight))
        unreportedCount += 1
        if chance.source.chance(30) { while !waiting.isEmpty { append() } }
    }

    /// Gives the oldest batch its row before the leading server learns that it has one, unless it
    /// has got it early.
    private func appendNext(of index: Int) {
        guard index == leader else { return fail("a following server learns of a row") }
        unreportedCount -= 1
        while waiting.count > unreportedCount { append() }
    }

    /// Gives the oldest batch its row, and passes it on.
    private func append() {
        let next = waiting.removeFirst()
        do {
            let milliseconds = Int64(leading.timeline.now / 1_000_000)
            var bytes: [UInt8] = []
            try numbering.row(of: next.batch, at: milliseconds).encode(into: &bytes)
            log.append(bytes)
        } catch {
            return fail("a batch has no row: \(error)")
        }
        counts.rows += 1
        applied[leader] = log.count
        positions[leader] = numbering.position
        if let sight = next.sight {
            compare(sight, next.batch.sequence, at: log.count, of: leader)
        }
        for index in worlds.indices where index != leader { scheduleRow(of: index) }
    }

    private func scheduleRow(of index: Int) {
        let delay = UInt64.random(in: 1_000...600_000, using: &chance.source)
        worlds[index].timeline.after(delay) { [unowned self] in
            if index != leader { applyRow(of: index) }
        }
    }

    /// Applies the next row, if there is one.
    private func applyRow(of index: Int) {
        guard applied[index] < log.count, violations.isEmpty else { return }
        do {
            let row = try row(applied[index])
            try row.verify(behind: positions[index], in: "the log")
            positions[index] = row.position
            applied[index] += 1
            let world = worlds[index]
            beginSnapshot(of: index, at: applied[index] - 1)
            try world.follow(tampered(row.batch, of: index)) {
                let tree = world.server.tree
                compare(
                    Self.sight(tree), tree.revision.sequence, at: applied[index], of: index)
            }
            beginSnapshot(of: index, at: applied[index])
            advanceSnapshot(of: index)
        } catch {
            fail("world \(index + 1) stops at row \(applied[index]): \(error)")
        }
    }

    private func row(_ index: Int) throws -> JournalRow {
        let bytes = log[index]
        var offset = 0
        return try JournalRow(encoded: bytes.span, at: &offset, in: "the log")
    }

    private func rows(_ range: Range<Int>) -> [Batch] {
        range.compactMap { try? row($0).batch }
    }

    /// Leaves a delta out of a row, as a faulty follower would.
    private func tampered(_ row: Batch, of index: Int) -> Batch {
        guard fault == .skippedDelta, index == 2, row.deltas.count > 0, applied[index] % 7 == 6
        else { return row }
        let bytes = row.deltaBytes
        guard
            let header = try? FrameHeader.decode(
                bytes.span, at: 0, frameBytesMax: Int(UInt32.max)),
            !header.flags.contains(.structural)
        else { return row }
        let end = FrameHeader.byteCount + Int(header.length)
        return row.replacing(deltas: Array(bytes[end...]))
    }

    private static func sight(_ tree: Tree) -> Sight {
        var sight = Sight(text: digest(tree))
        tree.forEachNode { node in
            var writer = WireWriter()
            node.encodeState(into: &writer)
            sight.values[node.path.description] = writer.bytes
        }
        return sight
    }

    /// Compares what a server has at the end of a row with what the first server had there.
    private func compare(_ sight: Sight, _ sequence: UInt64, at row: Int, of index: Int) {
        guard let first = digests[row] else {
            digests[row] = (index, sight.text)
            states[sequence] = sight.values
            return
        }
        counts.compared += 1
        if first.world == leader { counts.comparedWithLeader += 1 }
        guard first.text != sight.text else { return }
        let differences = zip(first.text, sight.text).filter { $0 != $1 }.prefix(2)
        fail(
            "row \(row): world \(index + 1) has another state than \(first.world + 1): "
                + "\(differences)")
    }

    /// The nodes of a tree with their numbers, revisions, states and shown values; ownerships and
    /// tasks.
    private static func digest(_ tree: Tree) -> [String] {
        var lines = ["\(tree.revision)"]
        tree.forEachNode { node in
            var own = WireWriter()
            var whole = WireWriter()
            node.encodeState(into: &own)
            _ = node.encodeValue(at: [], into: &whole)
            let sums =
                "\(own.withBytes { WireChecksum(of: $0) }) "
                + "\(whole.withBytes { WireChecksum(of: $0) })"
            // No row contains a derived value: each server numbers it, and a recovery dates it like
            // its parent.
            let (number, sequence) = node.isDerived ? (0, 0) : (node.number, node.sequence)
            lines.append("\(node.path) \(number) \(node.birthSequence) \(sequence) \(sums)")
        }
        lines += tree.copyOwnership()().map { "\($0)" }
        lines += tree.copyTasks()().map { "\($0)" }
        return lines
    }

    // MARK: Snapshots

    /// Notes a snapshot that a following server has begun when it had applied `rowCount` rows.
    private func beginSnapshot(of index: Int, at rowCount: Int) {
        guard snapshots[index] == nil, let snapshot = worlds[index].server.snapshot else { return }
        snapshots[index] = SnapshotRun(snapshot: snapshot, rowCount: rowCount)
    }

    /// Takes snapshots of a following server while it applies rows, and compares what they lead to.
    private func advanceSnapshot(of index: Int) {
        let server = worlds[index].server
        guard var run = snapshots[index] else {
            if chance.source.chance(10) { server.wantSnapshot() }
            return
        }
        run.parts += run.snapshot.gather(Int.random(in: 1...6, using: &chance.source)).map { $0() }
        snapshots[index] = run
        guard run.snapshot.isComplete else { return }
        snapshots[index] = nil
        let recovery = Recovery(of: Self.tree(epoch: 0), limits: Self.limits)
        do {
            for part in run.parts { try recovery.restore(part) }
            for row in rows(run.rowCount..<applied[index]) { try recovery.replay(row) }
            let revision = server.tree.revision
            _ = try recovery.finish(epoch: revision.epoch, sequence: revision.sequence)
        } catch {
            return fail("a snapshot of world \(index + 1) cannot be recovered: \(error)")
        }
        counts.snapshots += 1
        guard Self.digest(recovery.tree) != Self.digest(server.tree) else { return }
        fail("a snapshot of world \(index + 1) leads to another state")
    }
}

// MARK: - Another leader
extension ServerCluster {
    /// Deposes the leading server, promotes the one of world `next`, which first applies every row,
    /// and starts a follower in the former world.
    func change(to next: Int) {
        guard next != leader, violations.isEmpty else { return }
        while applied[next] < log.count, violations.isEmpty { applyRow(of: next) }
        guard violations.isEmpty else { return }
        counts.changes += 1
        counts.lost += waiting.count
        (waiting, unreportedCount) = ([], 0)
        let former = leader
        deposed.insert(former)
        leader = next
        snapshots[former] = nil
        do {
            try worlds[next].lead(in: UInt64(counts.changes) + 1)
        } catch {
            return fail("world \(next + 1) cannot lead: \(error)")
        }
        worlds[former].replaceServer { follower(former, rows(0..<log.count), $0) }
        for index in worlds.indices where index != next {
            worlds[index].server.setLeader("\(next + 1)")
        }
        onChange?()
    }

    /// Compares the followers with a recovery from all rows, once they have applied them.
    func compareWithRecovery() {
        for index in worlds.indices where index != leader {
            while applied[index] < log.count, violations.isEmpty { applyRow(of: index) }
        }
        let recovered = Self.digest(recovery(rows(0..<log.count)).tree)
        for world in worlds where Self.digest(world.server.tree) != recovered {
            world.expect(false, "the rows lead to another state than the server has")
        }
    }

    /// Whether every batch has its row, and every following server has applied it.
    var isCaughtUp: Bool { waiting.isEmpty && applied.allSatisfy { $0 == log.count } }
}

/// A deliberate fault of a following server.
enum FollowingFault: String, CaseIterable, Sendable {
    /// Outcomes are sent before the deltas of their row.
    case outcomeBeforeDelta
    /// A follower skips a delta.
    case skippedDelta
    /// A follower reduces otherwise.
    case otherReduce
}
