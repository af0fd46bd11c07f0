import ClusterSimulation
import ReactorBytes
import ReactorCluster
import ReactorCore
import ReactorDaemon
import ReactorServer
import ReactorTesting
import StockReactors

@testable import ReactorJournal

/// A node of a ``MemberCluster``: a real server with its clients, its membership, and a journal in
/// memory.
final class MemberNode: ClusterHost {
    /// What all nodes of a cluster share.
    struct Shared {
        let log: SimulatedLog
        let timeline: Timeline
        let sky: SimulatedSky
        let book: MemberBook
        let nodes: [ClusterNode]
        let epoch: UInt64
        let fault: MembershipFault?
    }

    let id: ClusterNode
    let world: SimulatedWorld
    /// Whether the node was deposed or restarted: it may have lost sessions that no row has.
    private(set) var hasLost = false
    private let shared: Shared
    private let member = Slot()
    private var engine: SimulatedEngine
    private var journal = MemoryJournal()
    private var plannedAt: UInt64?
    private var life = 0

    /// The current process's membership.
    private final class Slot {
        var current: ClusterMember?
    }

    /// Nanoseconds for which a server may serve without news of the log.
    private static let staleMax: UInt64 = 700_000_000

    /// Starts a node with an empty journal.
    init(_ id: ClusterNode, seed: UInt64, in shared: Shared) {
        (self.id, self.shared) = (id, shared)
        engine = SimulatedEngine(shared.log, of: id, on: shared.timeline, shared.sky)
        let weather = SimulatedWeather()
        world = SimulatedWorld(
            seed: seed, node: id.index, weather: weather, timeline: shared.timeline
        ) { secret in
            Self.serve([], id, shared, secret)
        }
        world.hooks.onAppend = { [member] batch in member.current?.append(batch) }
        join()
        reportLater(life)
    }

    private static func serve(
        _ rows: [JournalRow], _ id: ClusterNode, _ shared: Shared,
        _ secret: @escaping () -> UInt64
    ) -> Server {
        let recovery = Recovery(of: tree(shared.epoch), limits: ServerLimits())
        recovery.prepareToFollow()
        let recovered: Recovery
        do {
            for row in rows { try recovery.replay(row.batch) }
            recovered = try recovery.finish(
                epoch: rows.last?.epoch ?? shared.epoch, sequence: rows.last?.sequence ?? 0)
        } catch {
            shared.book.fail("node \(id.index) recovers nothing: \(error)")
            let fresh = Recovery(of: tree(shared.epoch), limits: ServerLimits())
            fresh.prepareToFollow()
            guard let empty = try? fresh.finish(epoch: shared.epoch, sequence: 0) else {
                preconditionFailure("an empty history cannot be recovered")
            }
            recovered = empty
        }
        return Server(
            following: recovered, as: id.index, isCut: shared.fault != .servesEarly,
            daemonName: "\(id.index)"
        ) { secret() }
    }

    private static func tree(_ epoch: UInt64) -> Tree {
        Tree(
            ReactorGroup([
                ("left", Counter()), ("list", List()), ("lock", Lock()), ("here", Presence()),
                ("jobs", Queue()),
            ]), epoch: epoch)
    }

    /// Joins the cluster with what the journal has.
    private func join() {
        var settings = ClusterSettings(node: id, nodes: shared.nodes)
        settings.reportInterval = 400_000_000
        settings.leaderLookInterval = 300_000_000
        let member = ClusterMember(
            settings, staleMax: Self.staleMax, behind: RowPosition(number: 0, chain: 1),
            at: journal.position, journal.end, engine: engine, host: self, seed: shared.sky.bits())
        self.member.current = member
        member.onAppended = { [unowned self] turn in
            if shared.fault != .tellsEarly { world.appended(turn) }
        }
    }

    /// Whether this node decides.
    var isLeading: Bool { server.mode == .leading }
    /// The last row that the log has, as far as this node knows.
    var lastRow: UInt64 { member.current?.position.row.number ?? 0 }

    // MARK: ClusterHost

    var server: Server { world.server }
    var now: UInt64 { shared.timeline.now }
    var wallClock: Int64 { Int64(shared.timeline.now / 1_000_000) }

    func endTurn() { world.endTurn() }
    func turnSoon() { world.turnSoon() }

    func store(_ rows: [JournalRow], log words: [UInt64]) { journal.store(rows, words) }

    // The trees have no effects.
    func holdJobs() {}

    func note(turn: UInt64, hasRow number: UInt64) {
        shared.book.compare(server.tree, at: number, of: id, isLeading: isLeading)
        if isLeading, shared.fault == .tellsEarly {
            shared.timeline.after(1) { [unowned self] in world.appended(turn) }
        }
    }

    func recover() throws(DaemonError) -> JournalPosition? {
        hasLost = true
        if shared.fault == .recoversTooLittle { journal.loseLast() }
        serveAgain()
        return journal.end
    }

    private func serveAgain() {
        let rows = journal.rows
        world.replaceServer { [shared, id] secret in Self.serve(rows, id, shared, secret) }
    }

    func planTick(at time: UInt64) {
        // A member that should be cut off and is not would be called again at once.
        let time = max(time, now + (shared.fault == .servesEarly ? 1_000_000 : 0))
        guard plannedAt.map({ time < $0 }) ?? true else { return }
        plannedAt = time
        let life = life
        shared.timeline.after(max(time, now) - now) { [unowned self] in
            guard life == self.life, plannedAt == time else { return }
            plannedAt = nil
            member.current?.tick()
        }
    }

    func take(_ news: ClusterNews) {
        switch news {
        case .leads: shared.book.counts.promotions += 1
        case .ceased: shared.book.counts.depositions += 1
        case .cut(true):
            shared.book.counts.cuts += 1
            if shared.fault == .servesEarly { server.setCut(false, at: now) }
        case .stop(let error): shared.book.fail("node \(id.index) stops: \(error)")
        case .leader, .cut, .outage, .disconnected: break
        }
    }
}

// MARK: - Faults of the machine
extension MemberNode {
    /// Passes a change of the log to the node's member of the engine.
    func notice(_ change: SimulatedLog.Change) { engine.notice(change) }

    /// Cuts the node's member of the engine off, or ends that.
    func setCut(_ isCut: Bool) { engine.setCut(isCut) }

    /// Has the node hand over the leadership.
    func stepDown(to successor: ClusterNode?) { member.current?.stepDown(to: successor) }

    /// The process ends, or the power with `isPowerCut`, and starts again with what the journal has.
    func restart(isPowerCut: Bool) {
        shared.book.counts.restarts += 1
        hasLost = true
        engine.abandon()
        member.current = nil
        life += 1
        plannedAt = nil
        if isPowerCut { journal.cut(shared.sky) }
        engine = SimulatedEngine(shared.log, of: id, on: shared.timeline, shared.sky)
        serveAgain()
        join()
        reportLater(life)
    }

    private func reportLater(_ life: Int) {
        shared.timeline.after(shared.sky.between(200_000_000, 600_000_000)) { [unowned self] in
            guard life == self.life else { return }
            journal.synchronize()
            let number = journal.end.number
            member.current?.update(stored: number, durable: number, snapshot: 0)
            reportLater(life)
        }
    }
}

/// The rows that a node has stored, commit by commit.
private struct MemoryJournal {
    private(set) var rows: [JournalRow] = []
    private var commits: [(count: Int, words: [UInt64])] = []
    private var durableCount = 0

    /// The position after the last row.
    var end: JournalPosition { rows.last?.position ?? .beginning(seed: 1) }

    /// The same position in the log.
    var position: AppliedPosition {
        let row = RowPosition(number: end.number, chain: end.chain)
        guard let words = commits.last?.words else {
            return AppliedPosition(row: row, entry: .beginning, term: 0)
        }
        return AppliedPosition(
            row: row, entry: LogPosition(number: words[0], revision: words[1]), term: words[2])
    }

    mutating func store(_ added: [JournalRow], _ words: [UInt64]) {
        rows += added
        commits.append((rows.count, words))
    }

    /// Loses the last commit.
    mutating func loseLast() {
        guard commits.popLast() != nil else { return }
        rows.removeLast(rows.count - (commits.last?.count ?? 0))
        durableCount = min(durableCount, commits.count)
    }

    mutating func synchronize() { durableCount = commits.count }

    /// Loses a random part of the commits that were not made durable.
    mutating func cut(_ sky: SimulatedSky) {
        let kept = Int(sky.between(UInt64(durableCount), UInt64(commits.count)))
        commits.removeLast(commits.count - kept)
        rows.removeLast(rows.count - (commits.last?.count ?? 0))
        durableCount = kept
    }
}
