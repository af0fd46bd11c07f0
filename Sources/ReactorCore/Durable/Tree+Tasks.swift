import DequeModule

// MARK: - Promising
extension Turn {
    /// Makes what a decision of `node` wishes part of the transaction at hand.
    func wish(_ wish: TaskWish, of node: AnyNode) {
        // because a preview shows what is decided at once
        guard !isPreview else { return }
        isEventful = true
        let number = node.number
        switch wish {
        case .drop(let name): tasks.append(.done(node: number, name: name))
        case .effect(let name, let payload):
            tasks.append(
                .effect(node: number, name: name, id: tree.tasks.newID(), payload: payload))
        case .timer(let name, let span, let isPeriodic, let catchUp, let action):
            let span = span.milliseconds
            tasks.append(
                .timer(
                    node: number, name: name, id: tree.tasks.newID(),
                    planned: tree.environment.wallClock() + span, span: span,
                    period: isPeriodic ? span : nil, catchUp: catchUp, action: action))
        }
    }

    /// Refuses more than may be promised; what is taken back, or replaced, is no more.
    func check(_ wishes: [TaskWish], of node: AnyNode) throws(Rejection) {
        guard !wishes.isEmpty else { return }
        let known = tree.tasks
        let asked = tasks.count { $0.id > 0 && known.find($0.name, of: $0.node) == nil }
        let wished = wishes.count { wish in
            wish.promised.map { known.find($0, of: node.number) == nil } ?? false
        }
        guard wished == 0 || known.count + asked + wished <= CoreLimits.tasksMax else {
            throw Rejection(
                .quota,
                "\(node.path): \(CoreLimits.tasksMax) planned actions and durable effects, the most "
                    + "of a tree: drop some")
        }
    }

    /// Records a change of what is promised.
    fileprivate func keep(_ fact: TaskFact) {
        tree.endTask(fact.name, of: fact.node)
        tree.tasks.apply(fact)
        if recordsFacts { news.facts.append(.task(fact)) }
    }

    /// Makes a change of what is promised effective.
    func note(_ fact: TaskFact) {
        keep(fact)
        if case .done = fact { return }
        whenCommitted { [tree] in tree.take(up: fact, isLate: false) }
    }
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

// MARK: - Taking up
extension Tree {
    /// Takes up what was promised before the tree was opened, once the turn at hand is committed.
    public func resumeTasks() {
        for fact in tasks.facts {
            turn.whenCommitted { [weak self] in self?.take(up: fact, isLate: true) }
        }
    }

    /// What is promised, to be encoded on any thread.
    public func copyTasks() -> @Sendable () -> [TaskFact] { { [tasks] in tasks.facts } }

    /// Begins to wait for a planned time, or to perform; `isLate` says whether that was interrupted by
    /// the end of a process.
    fileprivate func take(up fact: TaskFact, isLate: Bool) {
        guard tasks.find(fact.name, of: fact.node) == fact, let node = node(fact.node) else {
            return
        }
        switch fact {
        case .timer(_, _, _, let planned, let span, _, _, _):
            // because a clock that was set must not make it wait for years
            let left = min(max(planned - environment.wallClock(), 0), span)
            wait(left, for: fact, isLate: isLate && left == 0)
        case .effect(_, let name, let id, let payload):
            guard hasRoomToStart else { return postpone(fact) }
            node.perform(DurableTask(name: name, id: id, payload: payload), turn)
        case .done: break
        }
    }

    /// Has a task wait until an effect has ended.
    private func postpone(_ fact: TaskFact) {
        // Tasks that are promised and dropped while none begins would fill the queue.
        if postponed.count > 2 * tasks.count + 64 {
            postponed.removeAll { tasks.find($0.name, of: $0.node) != $0 }
        }
        postponed.append(fact)
    }

    /// Has what was postponed begin, as far as there is room.
    func takePostponed() {
        while hasRoomToStart, let fact = postponed.popFirst() { take(up: fact, isLate: false) }
    }

    private func wait(_ milliseconds: Int64, for fact: TaskFact, isLate: Bool) {
        let (post, clock) = (environment.post, environment.clock)
        waitingTasks[TaskKey(fact)] = environment.spawn {
            guard (try? await clock.sleep(for: .milliseconds(milliseconds))) != nil else { return }
            post { tree in tree.fire(fact, isLate: isLate) }
        }
    }

    /// Ends what goes on under a name: it was replaced, dropped, or is done.
    func endTask(_ name: String, of node: UInt32) {
        waitingTasks.removeValue(forKey: TaskKey(node: node, name: name))?()
        if let id = performing.removeValue(forKey: TaskKey(node: node, name: name)) {
            cancelEffect(id)
        }
    }

    /// Ends what goes on for a node that is gone.
    func forgetTasks(of node: UInt32) {
        guard tasks.count > 0 else { return }
        // because what is waited for, or performed, stands in the table as long
        for name in tasks.names(of: node) {
            let key = TaskKey(node: node, name: name)
            waitingTasks.removeValue(forKey: key)?()
            performing[key] = nil
        }
        tasks.forget(node: node)
    }

    // because a loop that is busy misses some of many times, and is to do what is due all the same
    /// Milliseconds of delay from which on nothing could be done meanwhile.
    private static let standstill: Int64 = 1_000

    /// A planned time has come.
    private func fire(_ fact: TaskFact, isLate: Bool) {
        guard
            case .timer(_, _, _, let planned, let span, let period, let catchUp, let action) = fact,
            tasks.find(fact.name, of: fact.node) == fact, let node = node(fact.node)
        else { return }
        waitingTasks[TaskKey(fact)] = nil
        let now = environment.wallClock()
        var missed: Int64 = 1
        var next: TaskFact = .done(node: fact.node, name: fact.name)
        if let period {
            missed = max(1, 1 + (now - planned) / period)
            // because a clock that was set back must not make it come again and again
            let following = planned + missed * period
            next = .timer(
                node: fact.node, name: fact.name, id: fact.id,
                planned: min(max(following, now), now + span), span: span, period: period,
                catchUp: catchUp, action: action)
        }
        let times =
            switch catchUp {
            case .skip: isLate || missed > 1 && now - planned >= Self.standstill ? 0 : 1
            case .once: 1
            case .all: Int(min(missed, Int64(CoreLimits.catchUpMax)))
            }
        turn.caller = .daemon
        turn.origin = .daemon
        turn.note(next)
        for number in 0..<times
        where dispatch(action, to: node.path, origin: .daemon) {
            return promiseAgain(fact, missing: Int64(number))
        }
    }

    /// Promises a planned action once more that found no room for its effects, unless it was replaced;
    /// `count` of its times have been used.
    private func promiseAgain(_ fact: TaskFact, missing count: Int64) {
        guard
            case .timer(_, _, _, let planned, let span, let period, let catchUp, let action) = fact,
            node(fact.node) != nil,
            tasks.find(fact.name, of: fact.node).map({ $0.id == fact.id }) ?? true
        else { return }
        let again = TaskFact.timer(
            node: fact.node, name: fact.name, id: fact.id,
            planned: planned + count * (period ?? 0), span: span, period: period, catchUp: catchUp,
            action: action)
        turn.keep(again)
        wait(Self.busyPause, for: again, isLate: false)
    }

    /// Milliseconds until a planned action is tried again that found no room for its effects.
    private static let busyPause: Int64 = 1_000
}

/// Which promise of which node.
struct TaskKey: Hashable {
    var node: UInt32
    var name: String

    init(node: UInt32, name: String) {
        self.node = node
        self.name = name
    }

    init(_ fact: TaskFact) { self.init(node: fact.node, name: fact.name) }
}

// MARK: - Durable effects
extension Node {
    /// Performs a durable task, anew after each restart until it has ended.
    func performTask(_ task: DurableTask, _ turn: Turn) {
        let tree = turn.tree
        let id = tree.newEffectID(of: self)
        let effect = reactor.perform(task, state: state)
        tree.list(
            RunningEffect(
                cancelID: effect.cancelID, scope: nil, origin: .daemon, sequence: 0,
                connection: nil, isLifecycle: false, task: task.name), as: id)
        tree.performing[TaskKey(node: number, name: task.name)] = id
        tree.launch(effect, id, of: self, nil)
    }
}

extension Tree {
    /// Notes that a durable effect has ended by itself: that is part of the transaction at hand.
    func finishTask(of effect: RunningEffect, node: UInt32) {
        guard let name = effect.task else { return }
        performing[TaskKey(node: node, name: name)] = nil
        turn.note(.done(node: node, name: name))
    }
}
