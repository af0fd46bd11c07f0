import DequeModule

/// The durable tasks of a tree's reactors: records them, waits for planned times, and has durable
/// effects performed.
///
/// *Place*: a transaction's requests become tasks at its end; a recovery restores tasks from the
/// history. *Owner*: the tree's isolation.
final class TaskRunner {
    /// The current tasks.
    private var table = TaskTable()
    /// Functions that end the waits for planned times.
    private var waits: [TaskKey: @Sendable () -> Void] = [:]
    /// Durable effects that wait for free capacity, in the order of their promises.
    private var postponed = Deque<TaskFact>()
    /// The effects that perform durable tasks.
    private var performing: [TaskKey: EffectID] = [:]
    private let nodes: NodeRegistry
    private let effects: EffectRunner
    private let turn: Turn

    init(_ nodes: NodeRegistry, _ effects: EffectRunner, _ turn: Turn) {
        self.nodes = nodes
        self.effects = effects
        self.turn = turn
    }

    private var environment: TreeEnvironment { effects.environment }

    // MARK: Requests

    /// Adds a task request of `node` to the current transaction.
    func request(_ wish: TaskWish, of node: AnyNode) {
        // A preview shows only the result of the decision.
        guard !turn.isPreview else { return }
        let number = node.number
        switch wish {
        case .drop(let name):
            turn.transaction.wishes.request(.task(.done(node: number, name: name)))
        case .effect(let name, let payload):
            turn.transaction.wishes.request(
                .task(.effect(node: number, name: name, id: table.newID(), payload: payload)))
        case .timer(let name, let span, let period, let catchUp, let action):
            let span = span.milliseconds
            turn.transaction.wishes.request(
                .task(
                    .timer(
                        node: number, name: name, id: table.newID(),
                        planned: environment.wallClock() + span, span: span,
                        period: period?.milliseconds, catchUp: catchUp, action: action)))
        }
    }

    /// Refuses requests beyond ``CoreLimits/tasksMax``; replacements and removals do not count.
    func check(_ wishes: [TaskWish], of node: AnyNode) throws(Rejection) {
        guard !wishes.isEmpty else { return }
        let asked = turn.transaction.wishes.tasks.count {
            $0.id > 0 && table.find($0.name, of: $0.node) == nil
        }
        let wished = wishes.count { wish in
            wish.promised.map { table.find($0, of: node.number) == nil } ?? false
        }
        guard wished == 0 || table.count + asked + wished <= CoreLimits.tasksMax else {
            throw Rejection(
                .quota,
                "\(node.path): \(CoreLimits.tasksMax) planned actions and durable effects, the "
                    + "maximum of a tree: drop some")
        }
    }

    /// Applies a task fact, and starts the task after the commit.
    func record(_ fact: TaskFact) {
        keep(fact)
        if case .done = fact { return }
        turn.whenCommitted { [self] in take(up: fact, isLate: false) }
    }

    private func keep(_ fact: TaskFact) {
        endTask(fact.name, of: fact.node)
        table.apply(fact)
        turn.record(.task(fact))
        assert(invariants())
    }

    // MARK: Starts

    /// Starts the tasks that were recorded before the tree was opened, once the current turn is
    /// committed.
    func resume() {
        for fact in table.facts {
            turn.whenCommitted { [weak self] in self?.take(up: fact, isLate: true) }
        }
    }

    /// Waits for a planned time, or performs an effect; `isLate` is true if the end of a process
    /// interrupted the task.
    private func take(up fact: TaskFact, isLate: Bool) {
        guard table.find(fact.name, of: fact.node) == fact, let node = nodes[fact.node] else {
            return
        }
        switch fact {
        case .timer(_, _, _, let planned, let span, _, _, _):
            // Bounded by `span`, so that a clock that was set back does not make it wait for years.
            let left = min(max(planned - environment.wallClock(), 0), span)
            wait(left, for: fact, isLate: isLate && left == 0)
        case .effect(_, let name, let id, let payload):
            guard effects.hasRoomToStart else { return postpone(fact) }
            node.perform(DurableTask(name: name, id: id, payload: KeptPayload(payload)), turn)
        case .done: break
        }
    }

    /// Starts the effect that performs a durable task.
    func perform<R: Reactor>(
        _ task: DurableTask, by effect: Effect<R.Mutation>, on node: Node<R>
    ) {
        let id = effects.newID(of: node)
        effects.list(
            RunningEffect(
                cancelID: effect.cancelID, scope: nil, origin: .daemon, sequence: 0,
                connection: nil, isLifecycle: false, task: task.name), as: id)
        performing[TaskKey(node: node.number, name: task.name)] = id
        effects.launch(effect, id, of: node, nil)
    }

    /// Queues a task until an effect has ended.
    private func postpone(_ fact: TaskFact) {
        // Tasks that are promised and dropped while none starts would fill the queue.
        if postponed.count > 2 * table.count + 64 {
            postponed.removeAll { table.find($0.name, of: $0.node) != $0 }
        }
        postponed.append(fact)
        effects.setTasksWaiting(true)
    }

    /// Starts queued tasks while there is capacity.
    func startWaiting() {
        while effects.hasRoomToStart, let fact = postponed.popFirst() {
            take(up: fact, isLate: false)
        }
        effects.setTasksWaiting(!postponed.isEmpty)
    }

    // MARK: Planned times

    private func wait(_ milliseconds: Int64, for fact: TaskFact, isLate: Bool) {
        let (post, clock) = (environment.post, environment.clock)
        waits[TaskKey(fact)] = environment.spawn {
            guard (try? await clock.sleep(for: .milliseconds(milliseconds))) != nil else { return }
            post { tree in tree.tasks.fire(fact, isLate: isLate) }
        }
    }

    // A busy loop fires late; a short delay must not count as a missed time.
    /// Delay of a timer in milliseconds from which on its time counts as missed.
    private static let standstill: Int64 = 1_000

    /// Handles a planned time that has come.
    private func fire(_ fact: TaskFact, isLate: Bool) {
        guard
            case .timer(_, _, _, let planned, _, let period, let catchUp, let action) = fact,
            table.find(fact.name, of: fact.node) == fact, let node = nodes[fact.node]
        else { return }
        waits[TaskKey(fact)] = nil
        let now = environment.wallClock()
        var missed: Int64 = 1
        var next: TaskFact = .done(node: fact.node, name: fact.name)
        if let period {
            missed = max(1, 1 + (now - planned) / period)
            // Not before now, so that a clock that was set back does not repeat the action.
            let following = planned + missed * period
            next = .timer(
                node: fact.node, name: fact.name, id: fact.id,
                planned: min(max(following, now), now + period), span: period, period: period,
                catchUp: catchUp, action: action)
        }
        let times =
            switch catchUp {
            case .skip: isLate || missed > 1 && now - planned >= Self.standstill ? 0 : 1
            case .once: 1
            case .all: Int(min(missed, Int64(CoreLimits.catchUpMax)))
            }
        turn.transaction.begin(by: .daemon, .daemon)
        record(next)
        for number in 0..<times
        where turn.tree.dispatch(action, to: node.path, origin: .daemon) {
            return promiseAgain(fact, missing: Int64(number))
        }
    }

    /// Plans an action again that was refused as `BUSY`, unless the task was replaced; `count` is
    /// the number of its times that were used.
    private func promiseAgain(_ fact: TaskFact, missing count: Int64) {
        guard
            case .timer(_, _, _, let planned, let span, let period, let catchUp, let action) = fact,
            nodes[fact.node] != nil,
            table.find(fact.name, of: fact.node).map({ $0.id == fact.id }) ?? true
        else { return }
        let again = TaskFact.timer(
            node: fact.node, name: fact.name, id: fact.id,
            planned: planned + count * (period ?? 0), span: span, period: period, catchUp: catchUp,
            action: action)
        keep(again)
        wait(Self.busyPause, for: again, isLate: false)
    }

    /// Milliseconds until an action that was refused as `BUSY` is tried again.
    private static let busyPause: Int64 = 1_000

    // MARK: Ends

    /// Records, in the current transaction, that a durable effect has ended by itself.
    func finish(_ effect: RunningEffect, of node: UInt32) {
        guard let name = effect.task else { return }
        performing[TaskKey(node: node, name: name)] = nil
        record(.done(node: node, name: name))
    }

    /// Ends a task that was replaced, dropped, or is done.
    private func endTask(_ name: String, of node: UInt32) {
        waits.removeValue(forKey: TaskKey(node: node, name: name))?()
        if let id = performing.removeValue(forKey: TaskKey(node: node, name: name)) {
            effects.cancel(id)
        }
    }

    /// Ends the tasks of a removed node.
    func forget(_ node: UInt32) {
        guard table.count > 0 else { return }
        // A task that waits or runs is in the table, so its names cover both dictionaries.
        for name in table.names(of: node) {
            let key = TaskKey(node: node, name: name)
            waits.removeValue(forKey: key)?()
            performing[key] = nil
        }
        table.forget(node: node)
        assert(invariants())
    }

    /// Ends all waits, whose tree no longer exists.
    func abandon() { for cancel in waits.values { cancel() } }

    // MARK: History

    /// The current tasks, in the order of their ids.
    var facts: [TaskFact] { table.facts }
    /// Number of current tasks.
    var count: Int { table.count }
    /// Number of durable effects that are being performed.
    var performingCount: Int { performing.count }
    /// Number of durable effects that wait for capacity.
    var postponedCount: Int { postponed.count }
    /// The highest id of a task so far.
    var lastID: UInt64 { table.lastID }

    /// The current tasks, to be collected on any thread.
    func copy() -> @Sendable () -> [TaskFact] { { [table] in table.facts } }

    /// Records that ids up to this one are in use.
    func skip(to id: UInt64) { table.skip(to: id) }

    /// Moves the ids of later tasks away from those of other epochs.
    func begin(epoch: UInt64) { table.begin(epoch: epoch) }

    /// Applies a task fact of the history, which starts nothing.
    func restore(_ fact: TaskFact) { table.apply(fact) }

    /// Each task that waits or is performed is in the table.
    func invariants() -> Bool { waits.count + performing.count <= table.count }
}

/// Identifies a task: its node and name.
private struct TaskKey: Hashable {
    var node: UInt32
    var name: String

    init(node: UInt32, name: String) {
        self.node = node
        self.name = name
    }

    init(_ fact: TaskFact) { self.init(node: fact.node, name: fact.name) }
}

extension Duration {
    /// Whole milliseconds, rounded up.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (all, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
        return isTooLong ? .max / 4 : min(max(all + part, 0), .max / 4)
    }
}
