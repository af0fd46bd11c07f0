package import ReactorBytes
package import ReactorCluster
import ReactorCore
package import ReactorJournal
import ReactorServer

/// A server's membership in its cluster: the leader's batches become rows of the log, and rows of
/// other leaders become turns of the server.
///
///     let member = ClusterMember(
///         settings, staleMax: 2_000_000_000, behind: origin, at: position, end, engine: log,
///         host: shell, seed: seed)
///     member.append(batch)        // a turn of the leading server
///     member.onAppended?(turn)    // the log has it: its outputs may leave
///
/// *Place*: between a ``ClusterMachine``, whose orders it carries out, and a ``ClusterHost``. It is
/// the leading server's journal. *Owner*: the loop's thread.
///
/// *Shape*: each row is given to the local history before the outputs of its turn are carried out,
/// unless the disk is full: then it waits in memory.
/// While the node follows, each row is one turn. A server serves clients once it has all rows that
/// the log had at some time after the server's start, for as long as that time is at most `staleMax`
/// ago.
package final class ClusterMember: Journal {
    package var onAppended: ((UInt64) -> Void)?
    /// Never called: without the log, a leader keeps its rows and tries again; a deposed leader
    /// recovers.
    package var onFailed: ((JournalFailure) -> Void)?

    private let settings: ClusterSettings
    /// Nanoseconds for which a state may be served without news of the log.
    private let staleMax: UInt64
    /// The row after which the log began.
    private let origin: RowPosition
    /// The fingerprint of this node's reactors; 0 if it is not known.
    package let fingerprint: UInt64
    private let machine: ClusterMachine
    private let engine: any LogEngine
    private unowned let host: any ClusterHost
    private let ledger: RowLedger
    private var backlog: RowBacklog
    private var status: Status
    /// The position of the last stored row that survives a power cut, and those of later rows.
    private var positions: [AppliedPosition]
    private(set) package var counts = Counts()
    /// Whether the server has had a turn since its end as the leader: its state is of no row.
    private(set) package var hasDropped = false

    private struct Status {
        var isLeading = false
        var isSteppingDown = false
        var isStopped = false
        /// Whether effects were cancelled, as another node might have begun to lead.
        var hasDismissed = false
        /// Whether orders are being carried out.
        var isDraining = false
        /// Whether no entries are read, since too many rows wait for space on the disk.
        var isHeld = false
        /// When the server was started: an earlier state of the log may lack rows with actions of
        /// its clients.
        var startedAt: UInt64
    }

    /// How often something happened in this process.
    package struct Counts: Equatable, Sendable {
        package var promotions: UInt64 = 0
        package var depositions: UInt64 = 0
    }

    /// Joins the server of `host`, which follows and is cut off, and whose history ends at `end`.
    ///
    /// `position` is the same position in the log, which began after the row `origin`; `staleMax` is
    /// in nanoseconds. `seed` determines random delays, and must differ between the nodes.
    /// `fingerprint` is that of the node's reactors, for the other nodes. With `unstoredBytesMax` bytes
    /// of rows that a full disk does not take, the node neither follows nor leads until there is room.
    package init(
        _ settings: ClusterSettings, staleMax: UInt64, behind origin: RowPosition,
        at position: AppliedPosition, _ end: JournalPosition, engine: any LogEngine,
        host: any ClusterHost, seed: UInt64, fingerprint: UInt64 = 0,
        unstoredBytesMax: Int = 64 << 20
    ) {
        self.settings = settings
        self.staleMax = staleMax
        self.origin = origin
        self.fingerprint = fingerprint
        self.engine = engine
        self.host = host
        let ledger = RowLedger(after: end)
        self.ledger = ledger
        backlog = RowBacklog(byteCountMax: unstoredBytesMax)
        status = Status(startedAt: host.now)
        positions = [position]
        var report = NodeReport(node: settings.node)
        report.fingerprint = fingerprint
        machine = ClusterMachine(settings, at: position, report: report, seed: seed) { [ledger] in
            ledger.isValid($0, behind: $1)
        }
        engine.onEvent = { [weak self] in self?.receive($0) }
    }

    // MARK: For the host

    /// Takes a batch of the leading server. A batch of a server that was deposed has no row.
    package func append(_ batch: Batch) {
        guard status.isLeading, !status.isStopped else {
            hasDropped = true
            return
        }
        do throws(JournalError) {
            let row = try ledger.add(batch, at: host.wallClock)
            host.note(turn: batch.turn, hasRow: row.number)
            machine.append([row], at: host.now)
        } catch { return stop("\(error)") }
        drain()
    }

    /// Does nothing: no batch is refused for lack of space here.
    package func resume() {}

    /// Time has passed; call it at the time of ``ClusterHost/planTick(at:)``, and once a second.
    package func tick() {
        guard !status.isStopped else { return }
        machine.tick(at: host.now)
        drain()
    }

    /// Learns soon whether the server's state is the cluster's: ``Server/confirm(asOf:confirmed:at:)``
    /// follows.
    package func confirmSoon() {
        guard !status.isStopped else { return }
        machine.refresh(asOf: host.now, at: host.now)
        drain()
    }

    /// Hands the leadership to `successor`, or to any node. The server reads nothing more, and
    /// another one replaces it once the log has its last row. Does nothing on a node that does not
    /// lead, or that steps down already.
    package func stepDown(to successor: ClusterNode?) {
        guard status.isLeading, !status.isSteppingDown, !status.isStopped else { return }
        status.isSteppingDown = true
        host.holdJobs()
        host.server.stepDown(to: successor?.index, at: host.now)
        host.endTurn()
        machine.stepDown(to: successor, at: host.now)
        drain()
    }

    /// The local journal has the rows up to `number`.
    package func stored(upTo number: UInt64) {
        give(backlog.confirm(upTo: number))
        hold()
    }

    /// The disk of the local journal is full: it drops what it was given and has not stored. The node
    /// goes on with the rows in memory.
    package func stall() { backlog.stall() }

    /// The local journal takes rows again.
    package func resumeStoring() {
        give(backlog.resume())
        hold()
    }

    /// Whether the local journal has no space for the rows of the log.
    package var isStalled: Bool { backlog.isStalled }

    /// Whether the node reads no rows, since too many wait for space.
    package var isHeld: Bool { status.isHeld }

    /// Number of rows that wait until the local journal has space; 0 unless its disk is or was full.
    package var unstoredCount: Int { backlog.isBehind ? backlog.rowCount : 0 }

    /// Records that the local journal has the rows up to `stored`, and that those up to `durable`
    /// survive a power cut; the next report contains it. `snapshot` is the row of the newest
    /// snapshot.
    package func update(stored: UInt64, durable: UInt64, snapshot: UInt64) {
        if let last = positions.lastIndex(where: { $0.row.number <= durable }) {
            positions.removeFirst(last)
        }
        var report = NodeReport(node: settings.node)
        report.stored = stored
        report.snapshot = snapshot
        report.fingerprint = fingerprint
        if let known = positions.first, known.row.number <= durable {
            (report.durable, report.durablePosition) = (known.row.number, known.entry)
        }
        machine.update(report)
    }

    /// The node's part in the cluster.
    package var role: ClusterRole { status.isStopped ? .stopped : machine.role }
    /// The node that leads, as far as this one knows.
    package var leader: ClusterNode? { machine.leader }
    /// The revision at which the latest leadership began or ended.
    package var term: UInt64 { machine.term }
    /// Why the engine does not answer; nil if it does.
    package var outage: EngineOutage? { machine.outage }
    /// A number that no other start of this node's daemon has; 0 before the engine has given one.
    package var incarnation: UInt64 { machine.incarnation }
    /// The last row that the log has, as far as this node knows.
    package var position: AppliedPosition { machine.position }
    /// Number of rows that this node has decided on, and the log does not have.
    package var waitingCount: Int { ledger.waitingCount }
    /// The last reports of the nodes.
    package var reports: [NodeReport] { machine.book.reports }
    /// Number of entries that the log had at the last look and this node has not read.
    package var missingEntryCount: UInt64 { machine.missingEntryCount }
    /// Bytes of the entries that this process has seen and not compacted.
    package var uncompactedByteCount: Int { machine.uncompactedByteCount }
    /// The wall clock of a node now, in milliseconds since 1970; nil if that is not known.
    package func wallClock(of node: ClusterNode) -> Int64? {
        node == settings.node ? host.wallClock : machine.book.wallClock(of: node, at: host.now)
    }
    /// Milliseconds by which a node's wall clock is ahead of this one's; nil if that is not known.
    package func clockDifference(to node: ClusterNode) -> Int64? {
        wallClock(of: node).map { $0 &- host.wallClock }
    }
    /// Other nodes that have not reported for too long.
    package var lostNodes: [ClusterNode] { machine.book.lost(at: host.now) }

    /// At most how many nanoseconds ago the log ended with the server's last row; nil if that is not
    /// known.
    package var age: UInt64? {
        let now = host.now
        return known(machine.currentAsOf).map { now - min($0, now) }
    }

    /// Whether the server has had all rows that the log had at its start: a majority confirmed them.
    private var hasCaughtUp: Bool { machine.confirmedAsOf ?? 0 >= status.startedAt }

    /// The time as of which the server has every row of the log, if that is known of its state.
    private func known(_ asOf: UInt64?) -> UInt64? {
        guard let asOf else { return nil }
        // An append of this node's former process may still be on its way, until another node has
        // taken over.
        if !status.isLeading, !hasCaughtUp || machine.isLedByFormerProcess { return nil }
        return asOf
    }
}

// MARK: - Orders of the machine
extension ClusterMember {
    private func receive(_ event: EngineEvent) {
        guard !status.isStopped else { return }
        if case .down(let reason) = event { host.take(.disconnected(reason)) }
        machine.receive(event, at: host.now)
        drain()
    }

    /// Carries out the machine's orders, and requests the next call.
    private func drain() {
        guard !status.isDraining else { return }
        status.isDraining = true
        while !status.isStopped {
            if !status.isLeading, !hasCaughtUp {
                machine.refresh(asOf: status.startedAt, at: host.now)
            }
            let outputs = machine.takeOutputs()
            if outputs.isEmpty { break }
            for output in outputs where !status.isStopped { carryOut(output) }
        }
        status.isDraining = false
        guard !status.isStopped else { return }
        checkAge()
        confirm()
        let stale = host.server.isCut ? nil : machine.currentAsOf.map { $0 + staleMax + 1 }
        if let due = [machine.due, stale].compactMap({ $0 }).min() { host.planTick(at: due) }
    }

    private func carryOut(_ output: ClusterOutput) {
        switch output {
        case .call(let call): send(call)
        case .apply(let rows, let position): follow(ledger.take(rows), to: position)
        case .appended(let position): release(upTo: position)
        case .promoted(let term, _): lead(in: term)
        case .deposed(let term, _, let after): cease(term: term, after: after)
        case .suspended: cancelEffects()
        case .resumed: resumeEffects()
        case .needsRow: keepRow()
        case .leader(let leader): host.take(.leader(leader))
        case .outage(let outage): host.take(.outage(outage))
        case .needsSnapshot(let after):
            stop(
                .fellBehind(
                    "the log no longer has the rows after \(after.row.number): run `reactord "
                        + "cluster join` on this machine, or replace its data directory by a backup "
                        + "that `reactorctl backup --node` makes on another node"))
        case .stop(let fault): stop("\(fault)")
        }
    }

    private func send(_ call: EngineCall) {
        guard case .announce(var report) = call else { return engine.send(call) }
        // Other nodes compare it with their clocks as of this call.
        report.wallClock = host.wallClock
        engine.send(.announce(report))
    }

    private func stop(_ reason: String) { stop(.cluster(reason)) }

    private func stop(_ error: DaemonError) {
        guard !status.isStopped else { return }
        status.isStopped = true
        host.take(.stop(error))
    }

    /// Serves clients while the server's state is known to be recent.
    private func checkAge() {
        // Before its incarnation is known, the node cannot number connections.
        let isCut = machine.incarnation == 0 || age.map { $0 > staleMax } ?? true
        guard isCut != host.server.isCut else { return }
        host.server.setCut(isCut, at: host.now)
        host.turnSoon()
        host.take(.cut(isCut))
    }

    /// Tells the server as of which time it has the cluster's state.
    private func confirm() {
        guard let asOf = known(machine.currentAsOf) else { return }
        let confirmed = known(machine.confirmedAsOf) ?? 0
        host.server.confirm(asOf: asOf, confirmed: confirmed, at: host.now)
        if host.server.hasConfirmed { host.turnSoon() }
    }
}

// MARK: - Following
extension ClusterMember {
    private func follow(_ rows: [JournalRow], to position: AppliedPosition) {
        store(rows, at: position)
        for row in rows {
            do throws(FollowError) {
                try apply(row)
            } catch .otherEpoch {
                // It is stored, with those behind it.
                return restart(after: position.row)
            } catch {
                return stop("row \(row.number): \(error)")
            }
        }
    }

    /// Applies a row as a turn of the server.
    private func apply(_ row: JournalRow) throws(FollowError) {
        let turn = try host.server.follow(row.batch, at: host.now)
        host.note(turn: turn, hasRow: row.number)
        host.endTurn()
    }

    private func store(_ rows: [JournalRow], at position: AppliedPosition) {
        guard !rows.isEmpty else { return }
        positions.append(position)
        give(backlog.add(rows, position.words(behind: origin)))
        hold()
    }

    private func give(_ pieces: [RowBacklog.Piece]) {
        for piece in pieces { host.store(piece.rows, log: piece.words) }
    }

    /// Neither follows nor leads while too many rows wait for space on the disk.
    private func hold() {
        let isFull = backlog.isFull(status.isHeld)
        guard isFull != status.isHeld, !status.isStopped else { return }
        status.isHeld = isFull
        if isFull { stepDown(to: nil) }
        machine.hold(status.isHeld, at: host.now)
        drain()
    }

    /// Continues with a server that was recovered from the stored rows. Those that a full disk has not
    /// taken follow; the last row is then `expected`.
    private func restart(after expected: RowPosition) {
        let end: JournalPosition
        do throws(DaemonError) {
            guard let recovered = try host.recover() else {
                status.isStopped = true
                return
            }
            end = recovered
        } catch { return stop(error) }
        let missing = backlog.rows(after: end.number)
        let last = missing.last?.position ?? end
        guard last.number == expected.number, last.chain == expected.chain else {
            return stop(
                .engine(
                    "the data directory ends with row \(end.number), and the log with row "
                        + "\(expected.number): start the daemon again"))
        }
        hasDropped = false
        ledger.goBack(to: last)
        status.startedAt = host.now
        for row in missing {
            do throws(FollowError) { try apply(row) } catch {
                return stop("row \(row.number), which the disk has no space for: \(error)")
            }
        }
    }
}

// MARK: - Leading
extension ClusterMember {
    private func lead(in term: UInt64) {
        // Answers to clients that wait now leave in a separate turn, before that of the first row.
        host.endTurn()
        do throws(RecoveryError) {
            // What clients of other nodes own ends when these are lost.
            let others = settings.nodes.filter { $0 != settings.node }.map(\.index)
            try host.server.lead(
                in: term, keeping: host.forwards ? Set(others) : [], at: host.now)
        } catch { return stop("the node cannot lead: \(error)") }
        status.isLeading = true
        counts.promotions += 1
        host.take(.leads(term: term))
        host.server.carryOutOwed(at: host.now)
        host.turnSoon()
    }

    /// Gives the server's turn a row.
    private func keepRow() {
        guard status.isLeading, !status.isSteppingDown else { return }
        host.server.keepRow(at: host.now)
        host.endTurn()
    }

    /// The log has the leader's rows up to `position`.
    private func release(upTo position: AppliedPosition) {
        let confirmed = ledger.confirm(upTo: position.row.number)
        store(confirmed.map(\.row), at: position)
        guard let last = confirmed.last else { return }
        onAppended?(last.turn)
        // The effects of these turns have begun, and another node may lead.
        if machine.isSuspended { cancelEffects() }
    }

    private func cease(term: UInt64, after end: RowPosition) {
        (status.isLeading, status.isSteppingDown, status.hasDismissed) = (false, false, false)
        counts.depositions += 1
        restart(after: end)
        host.take(.ceased(term: term))
    }

    /// Cancels the running effects: another node may have begun to lead. None starts before the log
    /// confirms a turn.
    private func cancelEffects() {
        guard host.server.tree.effectCount > 0 else { return }
        host.server.loseEffects(at: host.now)
        status.hasDismissed = true
        host.turnSoon()
    }

    /// This node still leads. A promotion begins cancelled effects again, and there is no other way
    /// to do so: the node hands over to itself.
    private func resumeEffects() {
        guard status.hasDismissed else { return }
        status.hasDismissed = false
        stepDown(to: settings.node)
    }
}
