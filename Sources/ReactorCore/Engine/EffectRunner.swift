import ReactorThreads

/// The asynchronous work of a tree's reactors: effects, sources and streams, and waiting jobs.
///
/// An effect is requested in a transaction, starts after the commit, when there is capacity, and
/// ends by itself or is cancelled. *Place*: transactions request and cancel effects; their
/// emissions return through ``TreeEnvironment/post``. *Owner*: the tree's isolation.
final class EffectRunner {
    /// The requested effects that have not ended.
    private(set) var running = EffectTable()
    /// Effects that wait until others have ended.
    private(set) var waiting = EffectQueue()
    /// Starts of reactors' own sagas that wait until other sagas have ended.
    private(set) var waitingSagas = EffectQueue()
    /// Effects that were cancelled and whose work has not ended yet.
    private(set) var orphans: Set<EffectID> = []
    /// Jobs to run later on the tree's isolation.
    private var jobs: [EffectID: () -> Void] = [:]
    /// Functions to call when the effects of a transaction have ended.
    private var waiters: [UInt64: [() -> Void]] = [:]
    /// Number of the last requested effect.
    private(set) var lastNumber: UInt64 = 0
    /// Number of dropped emissions of ended effects.
    private(set) var lateEmissions: UInt64 = 0
    /// What became of the failed sagas.
    private(set) var sagaCounts = SagaCounts()
    /// Maximum effects at a time, including cancelled ones that have not ended.
    private(set) var countMax = CoreLimits.effectsMax
    /// Maximum effects that wait for others to end, besides those of children's starts.
    private var waitingMax = CoreLimits.effectsWaitingMax
    /// Whether durable effects wait for capacity as well.
    private var areTasksWaiting = false
    let environment: TreeEnvironment
    private let nodes: NodeRegistry
    private let turn: Turn

    init(_ nodes: NodeRegistry, _ turn: Turn, _ environment: TreeEnvironment) {
        self.nodes = nodes
        self.turn = turn
        self.environment = environment
    }

    /// Starts no more effects than `countMax` at a time, and lets `waitingMax` wait.
    func limit(to countMax: Int, waitingMax: Int = CoreLimits.effectsWaitingMax) {
        self.countMax = countMax
        self.waitingMax = waitingMax
        weighRoom()
    }

    /// Continues the counters and the numbers of `former`, so that its late emissions match no new
    /// effect.
    func succeed(_ former: EffectRunner) {
        lastNumber = former.lastNumber
        sagaCounts = former.sagaCounts
    }

    /// Counts a restart of a failed saga.
    func countRestart() { sagaCounts.restarts &+= 1 }

    /// Counts a saga that failed too often.
    func countGivenUp() { sagaCounts.givenUp &+= 1 }

    // MARK: Requests

    /// Lists an effect to start when the current transaction is committed.
    func request<R: Reactor>(_ effect: Effect<R.Mutation>, on node: Node<R>, cause: R.Action?) {
        // A preview shows the result of a decision; it is never committed.
        guard !turn.isPreview else { return }
        if turn.isReacting, turn.undo.isRecording, !hasRoom(for: 1) {
            return turn.undo.refuse(busy(node))
        }
        guard turn.isStarting || mayWait(effectOf: node) else { return }
        let id = newID(of: node)
        if let cancelID = effect.cancelID {
            turn.cancel(.named(cancelID), of: node.number, upTo: id.number - 1)
        }
        let isBound = effect.lifetime == .connection
        list(
            RunningEffect(
                cancelID: effect.cancelID, scope: turn.transaction.cancelScope,
                origin: turn.transaction.origin, sequence: turn.transaction.sequence,
                connection: isBound ? turn.transaction.caller.connection : nil,
                isLifecycle: effect.lifetime == .lifecycle), as: id)
        node.track(id, cause: cause, until: effect.until)
        turn.whenCommitted { [self] in
            start(id) { [self] in launch(effect, id, of: node, cause) }
        } orElse: { [self] in
            end(id)
        }
    }

    /// A number for a new effect of `node`.
    func newID(of node: AnyNode) -> EffectID {
        lastNumber += 1
        return EffectID(node: node.number, number: lastNumber)
    }

    /// A number for a new effect of `node`; at the limit `nil`, with a line in the log.
    func admit(_ node: AnyNode) -> EffectID? {
        guard hasRoom(for: 1) else {
            turn.complain("\(busy(node))")
            return nil
        }
        return newID(of: node)
    }

    /// Adds a requested effect.
    func list(_ effect: RunningEffect, as id: EffectID) {
        running.insert(effect, as: id)
        weighCrowd()
        assert(invariants())
    }

    /// Starts a listed effect, now or when others have ended.
    func start(_ id: EffectID, _ start: @escaping () -> Void) {
        // The start of a cancelled effect only cleans up.
        if running[id] == nil || hasRoomToStart { start() } else { waiting.append(id, start) }
    }

    /// Has the start of a reactor's own saga wait until another saga has ended.
    func postpone(_ id: EffectID, _ start: @escaping () -> Void) {
        waitingSagas.append(id, start)
    }

    /// Takes the start of the saga that has waited longest.
    func takeWaitingSaga() -> (() -> Void)? { waitingSagas.popFirst() }

    // MARK: Work

    /// Starts the work of an effect.
    func launch<R: Reactor>(
        _ effect: Effect<R.Mutation>, _ id: EffectID, of node: Node<R>, _ cause: R.Action?
    ) {
        let post = environment.post
        let report = LateReport(cancelID: effect.cancelID, location: effect.location)
        let emit = Emit<R.Mutation>(
            clock: environment.clock,
            deliver: { decide in
                post { tree in tree.effects.emit(decide, of: R.self, from: id, report) }
            },
            deliverLast: { decide in
                post { tree in
                    tree.effects.emit(decide, of: R.self, from: id, report, isLast: true)
                }
            })
        let run = effect.run
        launch(id, on: node, cause, deadline: effect.deadline, raising: report.hasReturned) {
            try await run(emit)
        }
    }

    /// Starts the work of an effect, unless it was cancelled before. Raises `hasReturned` when the
    /// work returns by itself.
    func launch<R: Reactor>(
        _ id: EffectID, on node: Node<R>, _ cause: R.Action? = nil, deadline: Duration? = nil,
        raising hasReturned: Flag, _ work: @escaping @Sendable () async throws -> Void
    ) {
        guard running[id] != nil, !node.isGone else { return end(id) }
        let post = environment.post
        var cancel = environment.spawn {
            do {
                try await work()
                post { tree in tree.effects.ended(id, nil, of: R.self, cause, hasReturned) }
            } catch {
                let failure = error is CancellationError ? nil : error
                post { tree in tree.effects.ended(id, failure, of: R.self, cause, hasReturned) }
            }
        }
        if let deadline {
            let cancelWork = cancel
            let clock = environment.clock
            let cancelDeadline = environment.spawn {
                guard (try? await clock.sleep(for: deadline)) != nil else { return }
                post { tree in tree.effects.expired(id, after: deadline, of: R.self, cause) }
            }
            cancel = {
                cancelWork()
                cancelDeadline()
            }
        }
        set(cancel: cancel, of: id)
    }

    /// Records that an effect runs, and how to cancel it.
    func set(cancel: @escaping @Sendable () -> Void, of id: EffectID) {
        running.set(cancel: cancel, of: id)
        assert(invariants())
    }

    /// Runs `job` on the tree's isolation after `pause`, or later, when there is capacity, unless
    /// `node` is gone by then; each action that it dispatches is a separate transaction. It cannot
    /// be refused. `isSource` says whether observers of effects leave it out.
    func schedule<R: Reactor>(
        _ job: @escaping () -> Void, after pause: Duration, for node: Node<R>, origin: Origin,
        isSource: Bool = false
    ) -> EffectID {
        let id = newID(of: node)
        list(RunningEffect(origin: origin, sequence: 0, isSource: isSource), as: id)
        let due = environment.clock.now + pause
        start(id) { [self] in
            if running[id] != nil { launchTimer(job, due: due, as: id, for: node) }
        }
        return id
    }

    private func launchTimer<R: Reactor>(
        _ job: @escaping () -> Void, due: Duration, as id: EffectID, for node: Node<R>
    ) {
        jobs[id] = job
        let (clock, post) = (environment.clock, environment.post)
        launch(id, on: node, raising: Flag()) {
            try await clock.sleep(for: max(due - clock.now, .zero))
            post { tree in tree.effects.finishJob(id) }
        }
    }

    private func finishJob(_ id: EffectID) {
        guard running[id] != nil, let job = jobs.removeValue(forKey: id) else { return }
        end(id)
        job()
    }

    /// Applies an emission of an effect, unless the effect has been cancelled.
    private func emit<R: Reactor>(
        _ decide: @escaping Emit<R.Mutation>.Decide, of type: R.Type, from id: EffectID,
        _ report: LateReport, isLast: Bool = false
    ) {
        guard let effect = running[id], let node = nodes[id.node] as? Node<R> else {
            return dropLate(of: id, report)
        }
        guard let mutation = decide(node.state) else { return }
        turn.transaction.begin(by: .daemon, effect.origin)
        node.commit(Mutations(mutation), turn)
        if isLast {
            turn.tree.tasks.finish(effect, of: id.node)
            end(id)
        }
        turn.tree.finishEmission()
    }

    /// Drops an emission after the end of its effect. If the reactor did not end the effect, this
    /// is the author's mistake, and the log names it once.
    func dropLate(of id: EffectID, _ report: LateReport) {
        lateEmissions &+= 1
        guard let node = nodes[id.node], report.hasReturned.take() else { return }
        turn.complain(
            "\(node.path): dropped what \(report.title) emitted after its return: let it run "
                + "until all that it starts has ended, or make it with Effect.callback")
    }

    // MARK: Ends

    /// Handles the end of an effect's work.
    func ended<R: Reactor>(
        _ id: EffectID, _ failure: (any Error)?, of type: R.Type, _ cause: R.Action? = nil,
        _ hasReturned: Flag? = nil
    ) {
        if orphans.remove(id) != nil { weighRoom() }
        if let effect = running[id] {
            hasReturned?.raise()
            turn.tree.tasks.finish(effect, of: id.node)
        }
        if let failure { fail(id, failure, of: type, cause) } else { end(id) }
    }

    private func expired<R: Reactor>(
        _ id: EffectID, after deadline: Duration, of type: R.Type, _ cause: R.Action?
    ) {
        guard let effect = running[id] else { return }
        listOrphan(id)
        turn.tree.tasks.finish(effect, of: id.node)
        fail(id, EffectExpired(deadline: deadline), of: type, cause)
    }

    /// Ends an effect that failed before its work has ended.
    func failEarly<R: Reactor>(_ id: EffectID, _ failure: any Error, of type: R.Type) {
        guard running[id] != nil else { return }
        listOrphan(id)
        fail(id, failure, of: type, nil)
    }

    /// Ends a saga whose forks may still be ending. Returns false if it had ended before.
    func endEarly(_ id: EffectID) -> Bool {
        guard running[id] != nil else { return false }
        listOrphan(id)
        end(id)
        return true
    }

    private func fail<R: Reactor>(
        _ id: EffectID, _ failure: any Error, of type: R.Type, _ cause: R.Action?
    ) {
        guard let effect = running[id] else { return }
        turn.report(.effectFailed(failure, of: effect.origin))
        let node = nodes[id.node] as? Node<R>
        end(id)
        node?.fail(failure, cause, origin: effect.origin, turn)
    }

    /// Removes an effect and cancels its work.
    func end(_ id: EffectID) {
        guard let effect = running.remove(id) else { return }
        effect.cancel?()
        jobs[id] = nil
        nodes[id.node]?.forgetEffect(id)
        notifyWaiters(of: effect.sequence)
        weighRoom()
        // The start of an effect that waited finds it removed, and only cleans up.
        if effect.cancel == nil, let start = waiting.remove(id) ?? waitingSagas.remove(id) {
            start()
        }
        assert(invariants() && running[id] == nil && jobs[id] == nil)
    }

    /// Cancels an effect; drops what it still emits.
    func cancel(_ id: EffectID) {
        guard let effect = running[id] else { return }
        if effect.cancel != nil { listOrphan(id) }
        end(id)
    }

    func cancel(_ cancellation: EffectCancellation) { cancel(running.ids(of: cancellation)) }

    /// Cancels the effects of a node.
    func cancel(ofNode node: UInt32) { cancel(running.ids(ofNode: node)) }

    /// Cancels the effects of one transaction.
    func cancel(of sequence: UInt64) { cancel(running.ids(of: sequence)) }

    /// Cancels the effects that are bound to a connection.
    func cancel(ofConnection connection: UInt64) {
        guard !running.isEmpty else { return }
        cancel(running.ids(ofConnection: connection))
    }

    private func cancel(_ ids: [EffectID]) { for id in ids { cancel(id) } }

    /// Cancels the work of all effects, whose tree no longer exists.
    func abandon() {
        for effect in running.values { effect.cancel?() }
        // The closures retain the runner, and releasing one may call it. They are moved out first,
        // so that the runner is in a consistent state by then.
        let (waiting, sagas, jobs, waiters) = (waiting, waitingSagas, jobs, waiters)
        (self.waiting, waitingSagas) = (EffectQueue(), EffectQueue())
        (self.jobs, self.waiters) = ([:], [:])
        withExtendedLifetime((waiting, sagas, jobs, waiters)) {}
    }

    private func listOrphan(_ id: EffectID) {
        orphans.insert(id)
        weighCrowd()
    }

    /// No effect waits that is not listed, and none runs that is not listed.
    func invariants() -> Bool {
        running.startedCount <= running.count && waiting.count <= waiting.keptCount
            && jobs.count <= running.count
    }
}

// MARK: - Capacity
extension EffectRunner {
    /// Free effects below which actions run as reversible transactions, since a reaction may exceed
    /// the limit.
    private static let crowdedReserve = 64

    /// Whether `count` more effects fit the limit.
    func hasRoom(for count: Int) -> Bool { running.count + orphans.count + count <= countMax }

    /// Whether a requested effect may start its work.
    var hasRoomToStart: Bool {
        running.startedCount + orphans.count < countMax && waiting.isEmpty
    }

    /// Refuses an action of `node` whose effects exceed the limit.
    func checkRoom(for effectCount: Int, of node: AnyNode) throws(Rejection) {
        guard !turn.isPreview, !hasRoom(for: effectCount) else { return }
        throw busy(node)
    }

    /// The rejection of an action at the limit.
    private func busy(_ node: AnyNode) -> Rejection {
        Rejection(
            .busy,
            "\(node.path): \(running.count) effects run and \(orphans.count) cancelled ones have not "
                + "ended, effectsMax is \(countMax): try again later")
    }

    /// Refuses the creation of a child by `node` while the maximum of effects waits: those of the
    /// child's start are never dropped.
    func checkWaitingRoom(of node: AnyNode) throws(Rejection) {
        guard !hasWaitingRoom else { return }
        throw Rejection(
            .busy,
            "\(node.path): effectsWaitingMax \(waitingMax) effects wait for others to end, and a "
                + "child's start may need more: try again later")
    }

    private var hasWaitingRoom: Bool { running.count < countMax + waitingMax }

    /// Whether an effect that cannot be refused may wait; otherwise logs that it is dropped.
    private func mayWait(effectOf node: AnyNode) -> Bool {
        if hasWaitingRoom { return true }
        turn.complain(
            "\(node.path): an effect is dropped, effectsWaitingMax \(waitingMax) wait for others "
                + "to end")
        return false
    }

    private func weighCrowd() { turn.setCrowded(!hasRoom(for: Self.crowdedReserve)) }

    /// Lets waiting effects start, after the end of an effect or a change of the limit.
    private func weighRoom() {
        weighCrowd()
        guard areTasksWaiting || !waiting.isEmpty else { return }
        // Posted, since the current transaction may be refused and these starts must not be undone.
        environment.post { tree in
            tree.turn.whenCommitted { [weak tree] in tree?.startWaiting() }
        }
    }

    /// Starts waiting effects while there is capacity.
    func startWaiting() {
        while running.startedCount + orphans.count < countMax, let start = waiting.popFirst() {
            start()
        }
    }

    /// Records whether durable effects wait for capacity.
    func setTasksWaiting(_ areWaiting: Bool) { areTasksWaiting = areWaiting }
}

// MARK: - Observers of effects
extension EffectRunner {
    /// Whether effects of the transaction numbered `sequence` run; sources and streams of
    /// transforms do not count.
    func runs(of sequence: UInt64) -> Bool { running.isAny(of: sequence) }

    /// Calls `job` when no effect of the transaction numbered `sequence` is left, or at once if
    /// there is none.
    func whenEnded(of sequence: UInt64, _ job: @escaping () -> Void) {
        guard running.isAny(of: sequence) else { return job() }
        waiters[sequence, default: []].append(job)
    }

    private func notifyWaiters(of sequence: UInt64) {
        guard !waiters.isEmpty, waiters[sequence] != nil, !running.isAny(of: sequence) else {
            return
        }
        for job in waiters.removeValue(forKey: sequence) ?? [] { job() }
    }

    /// Cancels all effects and sagas. Returns the effects whose work has not ended.
    func dismiss() -> DismissedEffects {
        let ids = orphans.union(running.sorted.map(\.id)).sorted { $0.number < $1.number }
        let called = ids.map { id in (id: id, listing: listing(of: id)) }
        for id in ids { cancel(id) }
        return DismissedEffects(called)
    }

    private func listing(of id: EffectID) -> EffectListing {
        let effect = running[id]
        return EffectListing(
            path: nodes[id.node]?.path ?? .root, cancelID: effect?.cancelID,
            sequence: effect?.sequence ?? 0, isSource: effect?.isSource ?? false)
    }

    /// The effects that have not ended, in the order of the requests.
    var listings: [EffectListing] {
        running.sorted.compactMap { id, _ in nodes[id.node] == nil ? nil : listing(of: id) }
    }
}

/// An effect took longer than its deadline.
public struct EffectExpired: Error, Equatable, CustomStringConvertible {
    /// The exceeded deadline.
    package var deadline: Duration

    public var description: String { "the effect has not ended within \(deadline)" }
}
