package import ReactorCluster
package import ReactorTesting

/// A node of a ``SimulatedCluster``: a machine, its connection, a clock, a local journal, and the
/// rows that its tree has.
package final class SimulatedNode {
    /// What all nodes of a cluster share.
    package struct World {
        package let log: SimulatedLog
        package let timeline: Timeline
        package let sky: SimulatedSky
        package let history: ClusterHistory
        package let counts: ClusterCounts
        package let settings: ClusterSettings
        /// Gets actions whose outcome their client does not know.
        package let resubmit: ([UInt64]) -> Void
        /// A new action, for a leader that needs a row.
        package let makeAction: () -> UInt64
        package let report: (String) -> Void
    }

    package let id: ClusterNode
    private let world: World
    private(set) var clock: SimulatedClock
    private var machine: ClusterMachine
    private var engine: SimulatedEngine
    private var journal = LocalJournal()
    /// The rows of the tree, without those that the leader decided on and the log does not have.
    private var applied: [ClusterHistory.Row] = []
    private var speculative: [ClusterHistory.Row] = []
    private var end = RowPosition(number: 0, chain: 0)
    /// Whether the node leads, by the machine's outputs, and whether it acts.
    private var status = Status()
    private var mailbox: [EngineEvent]?

    private struct Status {
        var isLeading = false
        var isActing = false
        var isStopped = false
        var awaitsSnapshot = false
        var leader: ClusterNode?
        /// When the next tick is planned, in the node's time.
        var plannedAt: UInt64?
        /// Counts processes of the node.
        var life = 0
    }

    /// Starts a node with an empty journal.
    package init(_ id: ClusterNode, in world: World) {
        (self.id, self.world) = (id, world)
        clock = SimulatedClock(world.sky)
        machine = Self.machine(id, world, at: .beginning(seed: 0))
        engine = SimulatedEngine(world.log, of: id, on: world.timeline, world.sky)
        attach()
    }

    private static func machine(
        _ id: ClusterNode, _ world: World, at position: AppliedPosition
    ) -> ClusterMachine {
        var settings = ClusterSettings(node: id, nodes: world.settings.nodes)
        settings.reportInterval = world.settings.reportInterval
        settings.leaderLookInterval = world.settings.leaderLookInterval
        settings.logBytes = world.settings.logBytes
        let isUnchecked = world.sky.faults?.skipsChecks ?? false
        return ClusterMachine(
            settings, at: position, report: NodeReport(node: id), seed: world.sky.bits(),
            check: { isUnchecked || ClusterRow.isValid($0, behind: $1) })
    }

    private func attach() {
        engine.onEvent = { [unowned self] event in receive(event) }
        status.life += 1
        syncLater(status.life)
    }

    private var now: UInt64 { clock.local(world.timeline.now) }
}

// MARK: - State
extension SimulatedNode {
    /// Whether the node's shell believes that it leads.
    package var isLeading: Bool { status.isLeading && !isPaused && !status.isStopped }
    /// Whether effects may run.
    package var isActing: Bool { status.isActing && !isPaused }
    package var isPaused: Bool { mailbox != nil }
    package var isStopped: Bool { status.isStopped }
    /// The last row of the tree that the log has.
    package var position: AppliedPosition { machine.position }
    /// The node that leads, as far as this node knows.
    package var leader: ClusterNode? { status.leader }
    package var clockRate: Double { clock.rate }
    /// The position that survives a power cut.
    package var durable: LogPosition { journal.durable.entry }
    /// Whether the tree has an action.
    package func has(_ action: UInt64) -> Bool {
        applied.contains { $0.id == action } || speculative.contains { $0.id == action }
    }
}

// MARK: - Events
extension SimulatedNode {
    private func receive(_ event: EngineEvent) {
        if mailbox != nil {
            mailbox?.append(event)
            return
        }
        let changed = world.sky.faults?.received(event, by: id, at: machine.position) ?? event
        world.counts.count(changed)
        if case .unknown(.append, _) = changed { refuseUnknown() }
        machine.receive(changed, at: now)
        drain()
    }

    private func tick() {
        guard mailbox == nil else { return }
        if let due = machine.due, due <= now { machine.tick(at: now) }
        drain()
    }

    /// Plans the next tick.
    private func plan() {
        guard let due = machine.due, status.plannedAt.map({ due < $0 }) ?? true else { return }
        status.plannedAt = due
        let life = status.life
        let delay = clock.real(max(due, now) - now)
        world.timeline.after(delay) { [self] in
            guard life == status.life, status.plannedAt == due else { return }
            status.plannedAt = nil
            tick()
        }
    }

    /// Carries out the machine's outputs.
    private func drain() {
        while true {
            let outputs = machine.takeOutputs()
            if outputs.isEmpty { break }
            for output in outputs { carryOut(output) }
        }
        plan()
    }

    private func carryOut(_ output: ClusterOutput) {
        switch output {
        case .call(let call): engine.send(call)
        case .apply(let rows, let position): apply(rows, position)
        case .appended(let position): tell(upTo: position)
        case .promoted(let term, let after):
            world.counts.promotions += 1
            status.isLeading = true
            status.isActing = true
            // A late answer may promote a node that already has a successor.
            let isCurrent = term == world.log.term
            if after != end || (isCurrent && after != world.history.end) {
                world.report("node \(id.index) leads after \(after), not after the history's end")
            }
        case .deposed(_, _, let after): depose(after)
        case .suspended: status.isActing = world.sky.faults?.ignoresSuspension ?? false
        case .resumed: status.isActing = true
        case .needsRow: if status.isLeading { append([world.makeAction()], byteCount: 8) }
        case .leader(let leader): status.leader = leader
        case .outage: break
        case .needsSnapshot:
            world.counts.snapshots += 1
            status.awaitsSnapshot = true
        case .stop(let fault):
            status = Status(isStopped: true, life: status.life)
            world.report("node \(id.index) stopped: \(fault)")
        }
    }

    private func apply(_ rows: [LogRow], _ position: AppliedPosition) {
        for row in rows {
            let read = ClusterHistory.Row(id: ClusterRow.id(of: row), chain: row.chain)
            world.history.check(read, number: UInt64(applied.count) + 1, by: id, "applied")
            applied.append(read)
        }
        end = position.row
        journal.append(position)
    }

    /// The log has rows of this leader: it answers their clients.
    private func tell(upTo position: AppliedPosition) {
        let count = Int(position.row.number) - applied.count
        for row in speculative.prefix(count) {
            applied.append(row)
            world.history.check(row, number: UInt64(applied.count), by: id, "told")
            world.counts.told += 1
        }
        speculative.removeFirst(min(count, speculative.count))
        journal.append(position)
    }

    private func depose(_ after: RowPosition) {
        world.counts.depositions += 1
        status.isLeading = false
        status.isActing = false
        if world.sky.faults?.tellsDeposed ?? false {
            for (index, row) in speculative.enumerated() {
                world.history.check(
                    row, number: UInt64(applied.count + index) + 1, by: id, "told")
            }
        }
        if after.number != UInt64(applied.count) {
            world.report(
                "node \(id.index) was deposed after row \(after.number), it has "
                    + "\(applied.count)")
        }
        let undecided = speculative.map(\.id)
        speculative = []
        end = after
        world.resubmit(undecided)
    }
}

// MARK: - Work and faults
extension SimulatedNode {
    /// The leader decides on actions.
    package func decide(_ actions: [UInt64], byteCount: Int) {
        append(actions, byteCount: byteCount)
        drain()
    }

    private func append(_ actions: [UInt64], byteCount: Int) {
        var rows: [LogRow] = []
        for action in actions {
            let row = ClusterRow.make(action, byteCount: byteCount, behind: end)
            end = row.position
            rows.append(row)
            speculative.append(ClusterHistory.Row(id: action, chain: row.chain))
            if world.sky.faults?.tellsEarly ?? false, let told = speculative.last {
                world.history.check(told, number: row.number, by: id, "told")
            }
        }
        machine.append(rows, at: now)
    }

    /// The leader is asked to step down.
    package func stepDown(to successor: ClusterNode?) {
        // The shell decides on nothing more.
        status.isLeading = false
        machine.stepDown(to: successor, at: now)
        drain()
    }

    /// A faulty node tells its client that an append without an answer was refused. The client sends
    /// the action again, and the node takes it for a new one.
    private func refuseUnknown() {
        guard world.sky.faults?.refusesUnknown ?? false, status.isLeading else { return }
        let undecided = speculative.prefix(1).map(\.id)
        if !undecided.isEmpty { decide(undecided, byteCount: 8) }
    }

    /// The log has changed.
    func notice(_ change: SimulatedLog.Change) { engine.notice(change) }

    package func setCut(_ isCut: Bool) { engine.setCut(isCut) }

    package func pause() { mailbox = mailbox ?? [] }

    package func wake() {
        guard let waiting = mailbox else { return }
        mailbox = nil
        tick()
        for event in waiting { receive(event) }
    }

    /// The process or the machine ends, and starts again with what the journal has kept.
    package func restart() {
        guard !status.isStopped else { return }
        world.counts.restarts += 1
        let undecided = speculative.map(\.id)
        engine.abandon()
        mailbox = nil
        let left = journal.cut(world.sky)
        applied.removeLast(applied.count - Int(left.row.number))
        speculative = []
        end = left.row
        status = Status(life: status.life)
        machine = Self.machine(id, world, at: left)
        engine = SimulatedEngine(world.log, of: id, on: world.timeline, world.sky)
        attach()
        world.resubmit(undecided)
    }

    /// Installs what another node has stored, if this node waits for it.
    package func install(from other: SimulatedNode) {
        guard status.awaitsSnapshot, !isPaused else { return }
        status.awaitsSnapshot = false
        let position = other.journal.stored
        applied = Array(other.applied.prefix(Int(position.row.number)))
        end = position.row
        journal = LocalJournal(position)
        machine.restart(from: position, at: now)
        drain()
    }

    package var awaitsSnapshot: Bool { status.awaitsSnapshot }
    /// The position of a snapshot that this node could send.
    package var stored: AppliedPosition { journal.stored }

    private func syncLater(_ life: Int) {
        world.timeline.after(world.sky.between(200_000_000, 600_000_000)) { [self] in
            guard life == status.life else { return }
            if mailbox == nil { sync() }
            syncLater(life)
        }
    }

    private func sync() {
        // A faulty node says that it did.
        let isFaulty = world.sky.faults?.reportsUnsynced ?? false
        if !isFaulty { journal.sync() }
        let durable = isFaulty ? journal.stored : journal.durable
        var report = NodeReport(node: id)
        report.durable = durable.row.number
        report.durablePosition = durable.entry
        report.stored = journal.stored.row.number
        machine.update(report)
    }
}
