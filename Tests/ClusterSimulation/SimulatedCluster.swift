import ReactorCluster
package import ReactorTesting

/// Counts of what happened in a simulated cluster, to show that a storm has an effect.
package final class ClusterCounts {
    package var promotions = 0
    package var depositions = 0
    package var restarts = 0
    package var snapshots = 0
    package var compactions = 0
    package var told = 0
    package private(set) var unknownAppends = 0
    package private(set) var refusedAppends = 0
    package private(set) var lostTakeOvers = 0

    /// Counts an event of the engine.
    func count(_ event: EngineEvent) {
        switch event {
        case .unknown(.append, _): unknownAppends += 1
        case .refused(.append, _): refusedAppends += 1
        case .lost: lostTakeOvers += 1
        default: break
        }
    }
}

/// Nodes with machines, clocks and local journals, over one ``SimulatedLog``, in virtual time.
///
/// Each node appends rows while it leads. After each event: there is one history, each action is in
/// it at most once, and nodes have applied and told only what is in it. After the storm, all nodes
/// have the whole history within ten seconds.
package final class SimulatedCluster {
    package let timeline: Timeline
    package let log = SimulatedLog()
    package let counts = ClusterCounts()
    package let history: ClusterHistory
    package let nodes: [SimulatedNode]
    /// What went wrong, at most ten sentences.
    package var violations: [String] { complaints.texts }
    private let sky: SimulatedSky
    private let complaints: Complaints
    private let actions: Actions
    private var isStormy = true
    /// The longest time between two faults.
    private let calmMax: UInt64
    /// The longest time between two decisions of a leader.
    private let idleMax: UInt64

    /// Violations, with the time of each.
    private final class Complaints {
        private(set) var texts: [String] = []

        func add(_ text: String, at time: UInt64) {
            if texts.count < 10 { texts.append("\(time / 1_000_000) ms: \(text)") }
        }
    }

    /// Actions of clients: new ones, and those that a client sends again since it has no answer.
    private final class Actions {
        private var count: UInt64 = 0
        var undecided: [UInt64] = []

        func makeNext() -> UInt64 {
            count += 1
            return count
        }
    }

    /// A cluster in a storm.
    package init(seed: UInt64, nodeCount: Int = 3, faults: (any ClusterFaults)? = nil) {
        let (time, complaints, actions) = (Timeline(), Complaints(), Actions())
        let report = { (text: String) in complaints.add(text, at: time.now) }
        let ids = (1...nodeCount).map { ClusterNode(UInt8($0)) }
        var settings = ClusterSettings(node: ids[0], nodes: ids)
        settings.reportInterval = 400_000_000
        settings.leaderLookInterval = 300_000_000
        settings.logBytes = 1_000
        sky = SimulatedSky(seed: seed, faults: faults)
        (timeline, self.complaints, self.actions) = (time, complaints, actions)
        calmMax = sky.pick([400_000_000, 1_200_000_000, 3_000_000_000])
        idleMax = sky.pick([60_000_000, 60_000_000, 2_500_000_000])
        sky.turnStormy()
        history = ClusterHistory(report: report)
        let world = SimulatedNode.World(
            log: log, timeline: time, sky: sky, history: history, counts: counts,
            settings: settings, resubmit: { actions.undecided += $0 },
            makeAction: { actions.makeNext() }, report: report)
        nodes = ids.map { SimulatedNode($0, in: world) }
        log.onChange = { [unowned self] change in notice(change) }
        log.onCompaction = { [unowned self] position in checkCompaction(position) }
        work()
        strike()
    }

    private func notice(_ change: SimulatedLog.Change) {
        if case .entry(let entry) = change { history.take(entry, leaderTerm: log.term) }
        for node in nodes { node.notice(change) }
    }

    /// Only entries that a majority has durably may be compacted.
    private func checkCompaction(_ position: LogPosition) {
        counts.compactions += 1
        let keeping = nodes.filter { $0.durable.number >= position.number }.count
        if keeping <= nodes.count / 2 {
            complain("entry \(position.number) was compacted, \(keeping) nodes have it durably")
        }
    }

    private func complain(_ text: String) { complaints.add(text, at: timeline.now) }
}

// MARK: - Running
extension SimulatedCluster {
    /// Runs a storm, then calm weather until all nodes agree; at most ten seconds. Nothing runs
    /// afterwards.
    package func run(storm: UInt64 = 6_000_000_000) {
        // The actions of waiting events hold the nodes, which hold the timeline.
        defer { timeline.removeAll() }
        advance(by: storm)
        heal()
        let limit = timeline.now + 10_000_000_000
        while violations.isEmpty, timeline.now < limit, !isSettled { advance(by: 100_000_000) }
        guard violations.isEmpty, !isSettled else { return }
        let states = nodes.map { "\($0.id.index): row \($0.position.row.number)" }
        complain(
            "after ten calm seconds the nodes have \(states) of \(history.rows.count) rows, "
                + "\(actions.undecided.count) actions are undecided, term \(log.term)")
    }

    /// Whether one node leads and acts, all know it, and all have the whole history.
    private var isSettled: Bool {
        guard let leader = nodes.first(where: { $0.isLeading && $0.isActing }) else { return false }
        return actions.undecided.isEmpty
            && nodes.allSatisfy { node in
                node.leader == leader.id && node.position.row == history.end
                    && !node.awaitsSnapshot
            }
    }

    private func advance(by span: UInt64) {
        let end = timeline.now + span
        while let due = timeline.nextDue, due <= end, violations.isEmpty {
            timeline.runNext()
            checkActing()
        }
        if violations.isEmpty { timeline.advance(to: end) }
    }

    /// Two nodes act at once only if their clocks differ by more than a tenth.
    private func checkActing() {
        var former: SimulatedNode?
        for node in nodes where node.isActing {
            if let other = former {
                let rates = [node.clockRate, other.clockRate].sorted()
                if rates[1] < rates[0] * 1.1 {
                    complain("nodes \(other.id.index) and \(node.id.index) both act")
                }
            }
            former = node
        }
    }

    private func heal() {
        isStormy = false
        sky.turn(.calm)
        for node in nodes {
            node.setCut(false)
            node.wake()
        }
    }

    /// Leaders decide on actions at random times.
    private func work() {
        timeline.after(sky.between(5_000_000, idleMax)) { [self] in
            for node in nodes where node.isLeading && (isStormy || !actions.undecided.isEmpty) {
                var chosen = isStormy ? (0..<sky.between(0, 3)).map { _ in actions.makeNext() } : []
                // A leader has the outcome of an action that is in its history.
                chosen += actions.undecided.filter { !node.has($0) }
                actions.undecided = []
                let isLong = sky.chance(3)
                let byteCount = isLong ? sky.between(60_000, 400_000) : sky.between(8, 60)
                node.decide(chosen, byteCount: Int(byteCount))
            }
            for node in nodes where node.awaitsSnapshot { install(to: node) }
            work()
        }
    }

    private func install(to node: SimulatedNode) {
        let others = nodes.filter { $0.id != node.id && !$0.awaitsSnapshot }
        guard
            let best = others.max(by: { $0.stored.row.number < $1.stored.row.number }),
            best.stored.entry.revision + 1 >= log.compacted
        else {
            return complain("no node has the rows before revision \(log.compacted)")
        }
        node.install(from: best)
    }
}

// MARK: - Storms
extension SimulatedCluster {
    /// Injects a fault at random times.
    private func strike() {
        timeline.after(sky.between(20_000_000, calmMax)) { [self] in
            guard isStormy else { return }
            let node = sky.pick(nodes)
            let leader = nodes.first { $0.isLeading }
            // Faults of the leader find most violations.
            let target = sky.chance(60) ? leader ?? node : node
            switch sky.between(0, 19) {
            case 0...4: cut(target)
            case 5...9: pause(target)
            case 10: target.restart()
            case 11: for node in nodes where sky.chance(60) { node.restart() }
            case 12...15: leader?.stepDown(to: sky.chance(70) ? sky.pick(nodes).id : nil)
            case 16: sky.stall(until: timeline.now + sky.between(100_000_000, 1_500_000_000))
            default: sky.turnStormy()
            }
            strike()
        }
    }

    private func cut(_ node: SimulatedNode) {
        node.setCut(true)
        // Its clients continue to send.
        decide(node)
        timeline.after(faultTime) { node.setCut(false) }
    }

    private func pause(_ node: SimulatedNode) {
        node.pause()
        timeline.after(faultTime) { [self] in
            guard node.isPaused else { return }
            node.wake()
            // Its clients have sent an action during the pause.
            decide(node)
        }
    }

    private func decide(_ node: SimulatedNode) {
        if node.isLeading && isStormy { node.decide([actions.makeNext()], byteCount: 8) }
    }

    /// Half of the faults last long enough for another node to take over.
    private var faultTime: UInt64 {
        sky.chance(50)
            ? sky.between(50_000_000, 1_500_000_000) : sky.between(1_500_000_000, 4_000_000_000)
    }
}
