import ReactorCluster
import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorWire

/// The place of a shell in its cluster: joins the membership with the shell's server, its journal and
/// the loop.
///
/// *Place*: beside the shell, which has it instead of a journal of its own. *Owner*: the loop's
/// thread.
final class ClusterSeat {
    let config: ClusterConfig
    /// The membership; the leading server's journal.
    let member: ClusterMember
    /// Called with what the member reports.
    var onNews: (ClusterNews) -> Void {
        get { host.onNews }
        set { host.onNews = newValue }
    }
    private let log: MeteredLog
    private let host: ShellHost
    /// The links to the other nodes; nil without `peer:`.
    private let relay: PeerRelay?
    /// Bytes of rows in memory that a full disk does not take, from which on the node reads no others;
    /// half of `logBytes` if that is less.
    private static let unstoredBytesMax = 64 << 20

    /// Joins a cluster, whose log has the rows up to `start`; `end` is that row in the data directory
    /// of `keeper`.
    init(
        _ cluster: ClusterStart, at start: AppliedPosition, _ end: JournalPosition,
        for shell: ServerShell, _ keeper: HistoryKeeper, seed: UInt64
    ) throws(LoopError) {
        config = cluster.config
        log = MeteredLog(cluster.log) { [loop = shell.loop] in loop.now }
        relay = config.hasLinks ? try PeerRelay(config, for: shell, keeper.directory) : nil
        host = ShellHost(shell, keeper, config, try LoopTimer(on: shell.loop), relay)
        member = ClusterMember(
            config.settings, staleMax: UInt64(config.staleMax / .nanoseconds(1)),
            behind: cluster.origin.row, at: start, end, engine: log, host: host, seed: seed,
            fingerprint: TypesFingerprint(of: shell.server.tree).value,
            // A node that is further behind than the log lasts would need a copy.
            unstoredBytesMax: min(Self.unstoredBytesMax, config.settings.logBytes / 2))
        host.timer.onFire = { [unowned member] in member.tick() }
        host.member = member
        keeper.beginSharing { [unowned host, unowned member] in
            member.hasDropped ? .max : host.turns.last
        }
    }

    /// Begins to follow the log.
    func begin() {
        host.keeper.journal.onAppended = { [unowned host, unowned member] number in
            if let turn = host.turns.take(upTo: number) { host.shell.stored(turn) }
            member.stored(upTo: number)
        }
        relay?.begin()
        log.open()
    }

    /// Passes the time, once a second.
    func tick() {
        let journal = host.keeper.journal
        host.synchronizeIfDue()
        resumeStoring()
        member.update(
            stored: journal.lastNumber, durable: journal.durableNumber,
            snapshot: host.keeper.snapshotNumber)
        member.tick()
        relay?.update(member)
    }

    /// The disk is full: the node keeps the rows in memory, and takes no snapshot.
    func stall(_ reason: String) {
        host.keeper.setStalled(true)
        member.stall()
        host.take(.disk(reason))
    }

    /// Stores rows again if the disk has room.
    private func resumeStoring() {
        defer { host.keeper.setStalled(member.unstoredCount > 0) }
        guard member.isStalled, host.keeper.hasRoom else { return }
        host.keeper.journal.resume()
        host.take(.disk(nil))
        member.resumeStoring()
    }

    /// Passes what clients of this daemon do to the leading one.
    func send(_ request: ForwardRequest) { relay?.send(request) }

    /// Answers another daemon, whose clients have acted.
    func send(_ reply: ForwardReply, to node: UInt8) { relay?.send(reply, to: node) }

    /// Has the member learn whether the server's state is the cluster's.
    func confirmSoon() { member.confirmSoon() }

    /// Ends the connection to the engine, and stops calling the member.
    func close() {
        relay?.close()
        log.close()
        host.timer.close()
    }

    /// The answer to ``Question/cluster``.
    var status: ClusterStatus {
        ClusterStatus(
            of: member, in: config, isCut: host.server.isCut,
            stored: host.keeper.journal.lastNumber, obstacle: relay?.obstacle)
    }

    /// The figures for `stats` and the metrics.
    var figures: ClusterFigures {
        let applied = member.position.row.number
        return ClusterFigures(
            role: member.role.name, hasLeader: member.leader != nil, isCut: host.server.isCut,
            staleRefusals: host.server.statistics.refusals[.cut] ?? 0, term: member.term,
            takeovers: member.counts.promotions, depositions: member.counts.depositions,
            meter: log.meter, appliedRow: applied,
            headRow: member.reports.map(\.applied).reduce(applied, max),
            missingEntryCount: member.missingEntryCount, age: member.age,
            logByteCount: member.role.isOfLeader ? member.uncompactedByteCount : nil,
            clockDifference: member.leader.flatMap { member.clockDifference(to: $0) })
    }

    /// Hands the leadership to any node, if this one leads: the daemon ends. Returns whether it does;
    /// ``ClusterNews/ceased(term:)`` follows.
    func leave() -> Bool {
        guard case .leading = member.role else { return false }
        host.isEnding = true
        member.stepDown(to: nil)
        return true
    }

    /// Why this node cannot hand over.
    private var obstacle: String {
        switch member.role {
        case .steppingDown: return "is handing over already"
        case .suspended: return "has had no answer from etcd for too long: ask again"
        case .following, .candidate, .leading, .awaitingSnapshot, .stopped: break
        }
        let leader = member.leader.flatMap { config.name(of: $0) }
        guard let leader, leader != config.node else {
            return "does not lead, and knows of no node that does"
        }
        return "does not lead: ask \(leader)"
    }

    /// Hands the leadership to the node of this name, or to any.
    ///
    /// *Throws*: if this node does not lead, or there is no such node.
    func stepDown(to name: String?) throws(Refusal) {
        guard case .leading = member.role else {
            throw Refusal(.elsewhere, "this node, \(config.node), \(obstacle)")
        }
        var successor: ClusterNode?
        if let name {
            guard let found = config.nodes.first(where: { $0.name == name }) else {
                let names = config.nodes.map(\.name)
                throw Refusal(
                    .notFound, "there is no node \(name): \(names.joined(separator: ", "))",
                    nearest: NearestName.of(name, among: names))
            }
            successor = found.node
        }
        member.stepDown(to: successor)
    }
}

/// What a member needs of its shell.
private final class ShellHost: ClusterHost {
    unowned let shell: ServerShell
    let keeper: HistoryKeeper
    let timer: LoopTimer
    weak var member: ClusterMember?
    var onNews: (ClusterNews) -> Void = { _ in }
    /// Whether a server that no longer leads is not replaced: the daemon ends.
    var isEnding = false
    /// The rows whose storage is not reported yet.
    var turns = TurnRows()
    private let config: ClusterConfig
    private let relay: PeerRelay?
    private var lastSync: UInt64 = 0

    /// Nanoseconds between two requests to make the local journal durable.
    private static let syncInterval: UInt64 = 5_000_000_000

    init(
        _ shell: ServerShell, _ keeper: HistoryKeeper, _ config: ClusterConfig, _ timer: LoopTimer,
        _ relay: PeerRelay?
    ) {
        self.shell = shell
        self.keeper = keeper
        self.config = config
        self.timer = timer
        self.relay = relay
    }

    var server: Server { shell.server }
    var now: UInt64 { shell.loop.now }
    var wallClock: Int64 { WallClock.milliseconds() }
    var forwards: Bool { relay != nil }

    func endTurn() { shell.endTurn() }

    func turnSoon() { shell.loop.turnAgain() }

    func store(_ rows: [JournalRow], log words: [UInt64]) {
        // The leader's rows were counted when their turns ended.
        if server.isReadOnly { for row in rows { keeper.countAppended(row.batch, at: now) } }
        keeper.journal.store(rows, log: words)
    }

    func holdJobs() { shell.holdJobs(true) }

    func note(turn: UInt64, hasRow number: UInt64) { turns.add(turn, hasRow: number) }

    func recover() throws(DaemonError) -> JournalPosition? {
        guard !isEnding else { return nil }
        // The rows that the log has are on the journal's thread, or in the file. Those that a full disk
        // does not take are the member's.
        keeper.journal.awaitStored()
        turns = TurnRows()
        let end = try shell.rebuild()
        server.setLeader(member?.leader.flatMap { config.name(of: $0) })
        shell.holdJobs(false)
        relay?.begin()
        return end
    }

    func planTick(at time: UInt64) {
        // The time goes on between two reads of it.
        let now = now
        timer.start(after: .nanoseconds(Int64(clamping: time > now ? time - now : 0)))
    }

    func take(_ news: ClusterNews) {
        switch news {
        // Before, only administrators were served. What one of them owned would be that of another
        // connection on other nodes.
        case .cut(false), .leads: shell.renumber(after: firstConnection)
        case .leader(let leader): server.setLeader(leader.flatMap { config.name(of: $0) })
        case .ceased, .cut, .outage, .disconnected, .disk, .stop: break
        }
        if let member { relay?.update(member) }
        onNews(news)
    }

    /// The number before that of this node's first connection: those of other nodes, and of its
    /// other starts, differ. *Shape*: the node's index in 8 bits, its incarnation in 24, then 32 that
    /// count.
    private var firstConnection: UInt64 {
        let incarnation = (member?.incarnation ?? 0) & 0xff_ffff
        return UInt64(config.settings.node.index) << 56 | incarnation << 32
    }

    /// Makes the local journal durable every few seconds: the log keeps what a majority of nodes
    /// might lose.
    func synchronizeIfDue() {
        guard now >= lastSync + Self.syncInterval else { return }
        lastSync = now
        keeper.journal.synchronize()
    }
}

/// Rows in their order, with the turns that they belong to.
private struct TurnRows {
    private var rows: [(number: UInt64, turn: UInt64)] = []
    /// The row of the last turn; nil before the first since the server's start.
    private(set) var last: UInt64?

    /// Adds a turn with its row.
    mutating func add(_ turn: UInt64, hasRow number: UInt64) {
        rows.append((number, turn))
        last = number
    }

    /// Removes the rows up to `number`, which were stored, and returns the last of their turns; nil
    /// if there is none.
    mutating func take(upTo number: UInt64) -> UInt64? {
        let count = rows.prefix { $0.number <= number }.count
        guard count > 0 else { return nil }
        defer { rows.removeFirst(count) }
        return rows[count - 1].turn
    }
}

extension ClusterStatus {
    /// The part of `member` in the cluster of `config`.
    fileprivate init(
        of member: ClusterMember, in config: ClusterConfig, isCut: Bool, stored: UInt64,
        obstacle: String?
    ) {
        let (lost, own) = (Set(member.lostNodes), config.settings.node)
        let reports = Dictionary(
            member.reports.map { ($0.node, $0) }, uniquingKeysWith: { first, _ in first })
        self.init(
            cluster: config.name, node: config.node, role: member.role.name, isCut: isCut,
            leader: member.leader.flatMap { config.name(of: $0) }, term: member.term,
            applied: member.position.row.number, stored: stored,
            waiting: UInt64(member.waitingCount), age: member.age.map { $0 / 1_000_000 },
            outage: member.outage.map { "\($0)" }, promotions: member.counts.promotions,
            depositions: member.counts.depositions,
            nodes: config.nodes.map { entry in
                let report = reports[entry.node] ?? NodeReport(node: entry.node)
                return ClusterNodeStatus(
                    name: entry.name, index: entry.node.index, incarnation: report.incarnation,
                    applied: report.applied, stored: report.stored, durable: report.durable,
                    time: member.wallClock(of: entry.node), isLost: lost.contains(entry.node),
                    fingerprint: entry.node == own ? member.fingerprint : report.fingerprint)
            }, link: obstacle, unstored: UInt64(member.unstoredCount))
    }
}

extension ClusterRole {
    /// Whether a node of this role leads, or did so a moment ago.
    var isOfLeader: Bool {
        switch self {
        case .leading, .suspended, .steppingDown: true
        case .following, .candidate, .awaitingSnapshot, .stopped: false
        }
    }

    fileprivate var name: ClusterRoleName {
        switch self {
        case .following: .following
        case .candidate: .candidate
        case .leading: .leading
        case .suspended: .suspended
        case .steppingDown: .steppingDown
        case .awaitingSnapshot: .awaitingSnapshot
        case .stopped: .stopped
        }
    }
}
