package import ReactorCluster
package import ReactorTesting

/// A node's connection to a ``SimulatedLog``, with faults.
///
/// *Shape*: a request that was sent is on its way for a time, even if the connection ends: it may
/// be applied long after its call counts as unknown. A lost request or answer ends the connection
/// after a while.
package final class SimulatedEngine: LogEngine {
    package var onEvent: ((EngineEvent) -> Void)?
    private let log: SimulatedLog
    private let timeline: Timeline
    private let sky: SimulatedSky
    private let node: ClusterNode
    /// Counts connections; what belongs to an earlier one is dropped.
    private var connection = 0
    private var isUp = false
    private var isCut = false
    /// The number of the call of each kind that has no answer yet: a late answer to an earlier call
    /// is dropped.
    private var unanswered: [EngineCallKind: Int] = [:]
    private var callCount = 0
    private var watch: Watch?

    private struct Watch {
        /// The last revision of which an event is on its way.
        var revision: UInt64
        /// When the last event arrives: events arrive in order.
        var lastDue: UInt64 = 0
    }

    /// A connection that opens soon.
    package init(
        _ log: SimulatedLog, of node: ClusterNode, on timeline: Timeline, _ sky: SimulatedSky
    ) {
        (self.log, self.node, self.timeline, self.sky) = (log, node, timeline, sky)
        reconnect()
    }

    package func send(_ call: EngineCall) {
        guard isUp else { return }
        switch call {
        case .unwatch: watch = nil
        case .watch(let position): open(after: position)
        default: request(call)
        }
    }

    /// Cuts the node's member of the engine off from the others, or ends that.
    package func setCut(_ isCut: Bool) {
        self.isCut = isCut
        if !isCut { catchUp() }
    }

    /// The node's process ended: its requests may still be applied.
    package func abandon() {
        onEvent = nil
        isUp = false
        connection += 1
        watch = nil
    }
}

// MARK: - Transactions
extension SimulatedEngine {
    private func request(_ call: EngineCall) {
        callCount += 1
        let number = callCount
        unanswered[call.kind] = number
        if isCut || sky.happens(\.lostRequests) { return lose(connection) }
        let line = connection
        timeline.after(sky.delay()) { [self] in arrive(call, number, on: line) }
    }

    private func arrive(_ call: EngineCall, _ number: Int, on line: Int) {
        if timeline.now < sky.stalledUntil {
            // The members elect a leader. The call may be applied afterwards, although the answer
            // says that there is none.
            let isRefused = sky.chance(50)
            if isRefused { answer(.unknown(call.kind, .error("no leader")), call.kind, number) }
            if isRefused && sky.chance(50) { return }
            let rest = sky.stalledUntil - timeline.now
            return timeline.after(rest + sky.delay()) { [self] in
                apply(call, number, on: line)
            }
        }
        apply(call, number, on: line)
    }

    private func apply(_ call: EngineCall, _ number: Int, on line: Int) {
        let sent = sky.faults?.applied(call, by: node, to: log) ?? call
        var event = log.apply(sent)
        if sky.staleLooks > 0 || sky.hasStaleConfirms {
            let former = log.formerSighting(at: timeline.now)
            let isStale =
                switch sent {
                case .look: sky.chance(sky.staleLooks)
                case .confirm: sky.hasStaleConfirms
                default: false
                }
            if isStale { event = .sighting(former) }
        }
        if isCut || sky.happens(\.lostAnswers) { return lose(line) }
        timeline.after(sky.delay()) { [self] in answer(event, call.kind, number) }
    }

    private func answer(_ event: EngineEvent, _ kind: EngineCallKind, _ number: Int) {
        guard isUp, unanswered[kind] == number else { return }
        unanswered[kind] = nil
        onEvent?(event)
    }

    /// A message of this connection is lost: the connection ends after a while.
    private func lose(_ line: Int) {
        timeline.after(sky.between(20_000_000, isCut ? 900_000_000 : 300_000_000)) { [self] in
            guard isUp, line == connection else { return }
            let outage: EngineOutage = sky.chance(50) ? .late : .disconnected
            let kinds = unanswered.keys.sorted { $0.rawValue < $1.rawValue }
            unanswered = [:]
            watch = nil
            for kind in kinds { onEvent?(.unknown(kind, outage)) }
            isUp = false
            connection += 1
            onEvent?(.down("a message was lost"))
            reconnect()
        }
    }

    private func reconnect() {
        let line = connection
        timeline.after(sky.between(1_000_000, 60_000_000)) { [self] in
            guard line == connection, !isUp else { return }
            isUp = true
            onEvent?(.up)
        }
    }
}

// MARK: - Watches
extension SimulatedEngine {
    private func open(after position: LogPosition) {
        watch = Watch(revision: position.revision)
        if !isCut { catchUp() }
    }

    /// The log has changed.
    package func notice(_ change: SimulatedLog.Change) {
        guard isUp, !isCut, let current = watch, change.revision > current.revision else { return }
        watch?.revision = change.revision
        if sky.happens(\.lostEvents) { return }
        if sky.happens(\.reorderedEvents) {
            return deliver([change], after: 3 * sky.delay() + 1_000_000, isOrdered: false)
        }
        deliver([change], after: sky.delay())
        if sky.happens(\.doubledEvents) { deliver([change], after: sky.delay()) }
        if sky.happens(\.backwardEvents) {
            let earlier = log.changes(after: log.compacted)?.suffix(5) ?? []
            deliver(Array(earlier), after: sky.delay())
        }
    }

    /// Sends what the watch has missed.
    private func catchUp() {
        guard isUp, let current = watch else { return }
        guard let changes = log.changes(after: current.revision) else {
            let line = connection
            watch = nil
            return timeline.after(sky.delay()) { [self] in
                guard isUp, line == connection else { return }
                onEvent?(.compacted(upTo: log.compacted))
            }
        }
        guard let last = changes.last else { return }
        watch?.revision = last.revision
        deliver(changes, after: sky.delay())
    }

    private func deliver(
        _ changes: [SimulatedLog.Change], after delay: UInt64, isOrdered: Bool = true
    ) {
        let line = connection
        var due = timeline.now + delay
        if isOrdered {
            due = max(due, watch?.lastDue ?? 0)
            watch?.lastDue = due
        }
        timeline.after(due - timeline.now) { [self] in
            guard isUp, line == connection else { return }
            for change in changes {
                switch change {
                case .entry(let entry): onEvent?(.entries([entry]))
                case .leader(let term, let record): onEvent?(.leader(term: term, record))
                }
            }
        }
    }
}
