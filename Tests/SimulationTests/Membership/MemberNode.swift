import ClusterSimulation
import ReactorBytes
import ReactorCluster
import ReactorCore
import ReactorDaemon
import ReactorServer
import StockReactors

@testable import ReactorJournal
@testable import ReactorTesting

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
        /// Whether followers pass the actions of their clients on.
        let forwards: Bool
        /// Takes an action of a fault for the node that leads.
        let onGhost: (Works.Action) -> Void
    }

    let id: ClusterNode
    let world: SimulatedWorld
    /// Whether the node was deposed or restarted: it may have lost sessions that no row has.
    private(set) var hasLost = false
    /// What the effects of the node do outside.
    let floor: WorkFloor
    private let shared: Shared
    private let member = Slot()
    /// Where the effects of the current process run.
    private var effects = ManualWorld()
    /// Number of ended effects that the state had at the last row.
    private var workedCount = 0
    /// Whether this process may lead.
    private var isCandidate = true
    private var engine: SimulatedEngine
    private var journal = MemoryJournal()
    /// Whether the journal has no space, and whether it drops rows since it had none.
    private var disk = (isFull: false, isDropping: false)
    private var plannedAt: UInt64?
    /// Number of the process.
    private(set) var life = 0
    /// The last row of the log when the process started: clients of the former one may know it.
    private var rowAtStart: UInt64 = 0

    /// The current process's membership.
    private final class Slot {
        var current: ClusterMember?
    }

    /// The list that clients append to: it keeps all that they append.
    static var list: List { List(capacity: 100_000) }
    /// Nanoseconds for which a server may serve without news of the log.
    private static let staleMax: UInt64 = 700_000_000
    /// Nanoseconds by which a state may be older than that: a node is cut off at once.
    private static let ageMargin: UInt64 = 1_000_000

    /// Starts a node with an empty journal.
    init(_ id: ClusterNode, seed: UInt64, in shared: Shared) {
        (self.id, self.shared) = (id, shared)
        let floor = WorkFloor(shared.fault)
        self.floor = floor
        let environment = Self.environment(effects, shared.fault)
        engine = SimulatedEngine(shared.log, of: id, on: shared.timeline, shared.sky)
        let weather = SimulatedWeather()
        world = SimulatedWorld(
            seed: seed, node: id.index, weather: weather, timeline: shared.timeline
        ) { secret in
            Self.serve([], id, shared, { Self.tree(shared.epoch, floor, environment) }, secret)
        }
        world.hooks.onWrite = { [unowned self] _, _ in showState() }
        world.hooks.onConfirm = { [unowned self] in confirm() }
        world.hooks.onAppend = { [member] batch in member.current?.append(batch) }
        join()
        reportLater(life)
        showLater()
    }

    private static func serve(
        _ rows: [JournalRow], _ id: ClusterNode, _ shared: Shared, _ tree: () -> Tree,
        _ secret: @escaping () -> UInt64
    ) -> Server {
        let recovery = Recovery(of: tree(), limits: ServerLimits())
        recovery.prepareToFollow()
        let recovered: Recovery
        do {
            for row in rows { try recovery.replay(row.batch) }
            let epoch = rows.last?.epoch ?? shared.epoch
            recovered = try recovery.finish(
                epoch: shared.fault == .beginsEpochs && !rows.isEmpty ? epoch + 1 : epoch,
                sequence: rows.last?.sequence ?? 0)
        } catch {
            shared.book.fail("node \(id.index) recovers nothing: \(error)")
            let fresh = Recovery(of: tree(), limits: ServerLimits())
            fresh.prepareToFollow()
            guard let empty = try? fresh.finish(epoch: shared.epoch, sequence: 0) else {
                preconditionFailure("an empty history cannot be recovered")
            }
            recovered = empty
        }
        let server = Server(
            following: recovered, as: id.index, isCut: shared.fault != .servesEarly,
            daemonName: "\(id.index)"
        ) { secret() }
        if shared.forwards { server.beginForwarding() }
        return server
    }

    private static func tree(
        _ epoch: UInt64, _ floor: WorkFloor, _ environment: TreeEnvironment
    ) -> Tree {
        Tree(
            ReactorGroup([
                ("left", Counter()), ("list", list), ("lock", Lock()), ("here", Presence()),
                ("jobs", Queue()), ("works", Works(floor: floor)),
            ]), epoch: epoch, environment: environment)
    }

    private static func environment(
        _ effects: ManualWorld, _ fault: MembershipFault?
    ) -> TreeEnvironment {
        var environment = effects.environment()
        guard fault == .ghostEffects || fault == .keepsEffects else { return environment }
        let spawn = environment.spawn
        environment.spawn = { work in
            _ = spawn(work)
            return {}
        }
        return environment
    }

    /// Joins the cluster with what the journal has.
    private func join() {
        var settings = ClusterSettings(node: id, nodes: shared.nodes)
        settings.reportInterval = 400_000_000
        settings.leaderLookInterval = 300_000_000
        settings.isCandidate = isCandidate
        let member = ClusterMember(
            settings, staleMax: Self.staleMax, behind: RowPosition(number: 0, chain: 1),
            at: journal.position, journal.end, engine: engine, host: self, seed: shared.sky.bits(),
            unstoredBytesMax: shared.sky.pick([1_000, 64 << 20]))
        self.member.current = member
        member.onAppended = { [unowned self] turn in
            if shared.fault != .tellsEarly { world.appended(turn) }
        }
    }

    /// Whether this node decides.
    var isLeading: Bool { server.mode == .leading }
    /// The node that leads, as far as this one knows, and the term.
    var leader: ClusterNode? { member.current?.leader }
    var term: UInt64 { member.current?.term ?? 0 }
    /// The last row that the log has, as far as this node knows.
    var lastRow: UInt64 { member.current?.position.row.number ?? 0 }

    // MARK: ClusterHost

    var server: Server { world.server }
    var now: UInt64 { shared.timeline.now }
    var wallClock: Int64 { Int64(shared.timeline.now / 1_000_000) }

    var forwards: Bool { shared.forwards && shared.fault != .endsForeignConnections }

    /// Has the member confirm that the server's state is the cluster's.
    private func confirm() {
        guard shared.fault == .confirmsAtOnce else {
            member.current?.confirmSoon()
            return
        }
        server.confirm(asOf: now + 1, confirmed: now + 1, at: now)
        turnSoon()
    }

    func endTurn() { world.endTurn() }
    func turnSoon() { world.turnSoon() }

    func store(_ rows: [JournalRow], log words: [UInt64]) {
        guard !disk.isFull, !disk.isDropping else {
            if !disk.isDropping {
                shared.book.counts.stalls += 1
                later { $0.stall() }
            }
            disk.isDropping = true
            return
        }
        journal.store(rows, words)
        let number = journal.end.number
        later { $0.stored(upTo: number) }
    }

    /// The journal reports something to the member of this process.
    private func later(_ report: @escaping (ClusterMember) -> Void) {
        let life = life
        shared.timeline.after(1_000_000) { [unowned self] in
            if life == self.life, let member = member.current { report(member) }
        }
    }

    // A server that steps down holds its input, and its effects are cancelled with its last row.
    func holdJobs() {}

    func note(turn: UInt64, hasRow number: UInt64) {
        checkWorks()
        shared.book.compare(server.tree, at: number, of: id, isLeading: isLeading)
        if isLeading, shared.fault == .tellsEarly {
            shared.timeline.after(1) { [unowned self] in world.appended(turn) }
        }
    }

    func recover() throws(DaemonError) -> JournalPosition? {
        hasLost = true
        if shared.fault == .recoversTooLittle { journal.loseLast() }
        _ = server.tree.dismissEffects()
        serveAgain()
        workedCount = works?.worked.count ?? 0
        return journal.end
    }

    private func serveAgain() {
        let rows = journal.rows
        let environment = Self.environment(effects, shared.fault)
        world.replaceServer { [shared, id, floor] secret in
            Self.serve(rows, id, shared, { Self.tree(shared.epoch, floor, environment) }, secret)
        }
    }

    func planTick(at time: UInt64) {
        // A member that should be cut off and is not would be called again at once.
        let time = max(time, now + (servesStale ? 1_000_000 : 0))
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
        case .leads(let term):
            shared.book.counts.promotions += 1
            floor.setTerm(term)
        case .ceased:
            shared.book.counts.depositions += 1
            floor.setTerm(0)
        case .cut(true):
            shared.book.counts.cuts += 1
            if servesStale { server.setCut(false, at: now) }
        case .stop(let error): shared.book.fail("node \(id.index) stops: \(error)")
        case .leader, .cut, .outage, .disconnected, .disk: break
        }
    }
}

// MARK: - Effects, and the age of what is shown
extension MemberNode {
    private var servesStale: Bool {
        shared.fault == .servesEarly || shared.fault == .neverCuts
    }

    /// When the next effect goes on.
    var nextDue: UInt64? { effects.nextDue }

    /// Runs the effects until now, and passes what they emit to the server.
    func runEffects() {
        effects.clock.advance(to: ManualClock.Instant(nanoseconds: now))
        if effects.isIdle { return }
        if effects.settle({ [unowned self] job in server.perform(job) }) { turnSoon() }
        for deed in floor.takeDeeds() {
            switch deed {
            case .began(let token, let id): shared.book.begins(token, id: id)
            case .survived(let token, let term):
                shared.onGhost(Works.Action.report(token: token, term: term))
            case .acted(let term):
                shared.book.counts.acted += 1
                // No other node may have begun to lead by then, nor this one again.
                if term != shared.log.term {
                    shared.book.fail(
                        "node \(id.index): an effect of term \(term) acts in term "
                            + "\(shared.log.term)")
                }
            }
        }
    }

    /// Applies an action of a fault, which comes from the daemon.
    func perform(_ action: some WireCodable) {
        server.perform { tree in
            guard let path = try? SlicePath("/works"), let node = tree.node(at: path) else {
                return
            }
            let caller = Caller(connection: 0, client: 0, uid: 0, gid: 0, pid: 0)
            _ = tree.dispatch(to: node, action.wireBytes().span, by: caller, ordinal: 0)
        }
        turnSoon()
    }

    /// The state of the effects' reactor.
    var works: Works.State? {
        let node = (try? SlicePath("/works")).flatMap { server.tree.node(at: $0) }
        return (node as? Node<Works>)?.state
    }

    /// A leader applies what effects emit that began in the same term, and nothing of earlier ones.
    private func checkWorks() {
        guard let terms = works?.terms else { return }
        let others = terms.dropFirst(workedCount).filter { $0 != floor.term }
        workedCount = terms.count
        guard isLeading, !others.isEmpty else { return }
        shared.book.fail(
            "node \(id.index) applies in term \(floor.term) what an effect of term \(others[0]) "
                + "emitted")
    }

    private func showState() {
        guard !server.isCut else { return }
        // A look that tells an earlier state makes a node believe that its own is younger.
        let former = shared.sky.staleLooks > 0 ? SimulatedLog.formerSpan : 0
        shared.book.shows(lastRow, at: id, ageMax: Self.staleMax + Self.ageMargin + former)
        guard lastRow < rowAtStart else { return }
        shared.book.fail(
            "node \(id.index) shows row \(lastRow), and started when the log had \(rowAtStart)")
    }

    /// Clients that are connected see the state also while nothing is written.
    private func showLater() {
        shared.timeline.after(20_000_000) { [unowned self] in
            showState()
            if member.current?.isHeld ?? false { shared.book.counts.held += 1 }
            showLater()
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

    /// Another program fills the disk for some nanoseconds.
    func fillDisk(for time: UInt64) {
        guard !disk.isFull else { return }
        disk.isFull = true
        shared.timeline.after(time) { [unowned self] in freeDisk() }
    }

    /// The disk has space again.
    func freeDisk() {
        disk.isFull = false
        guard disk.isDropping else { return }
        guard member.current?.isStalled ?? false else {
            return later { [unowned self] _ in freeDisk() }
        }
        disk.isDropping = false
        member.current?.resumeStoring()
    }

    /// The process ends, or the power with `isPowerCut`, and starts again with what the journal has.
    func restart(isPowerCut: Bool) {
        shared.book.counts.restarts += 1
        hasLost = true
        engine.abandon()
        member.current = nil
        life += 1
        rowAtStart = shared.book.lastRow
        disk.isDropping = false
        plannedAt = nil
        if isPowerCut { journal.cut(shared.sky) }
        endEffects()
        // Two nodes always may lead.
        isCandidate = id != shared.nodes.last || shared.sky.chance(50)
        engine = SimulatedEngine(shared.log, of: id, on: shared.timeline, shared.sky)
        serveAgain()
        workedCount = works?.worked.count ?? 0
        join()
        reportLater(life)
    }

    /// The effects of the process end with it: what they still emit is dropped.
    private func endEffects() {
        let former = effects
        _ = server.tree.dismissEffects()
        former.settle { _ in }
        _ = floor.takeDeeds()
        effects = ManualWorld()
        effects.clock.advance(to: ManualClock.Instant(nanoseconds: now))
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
