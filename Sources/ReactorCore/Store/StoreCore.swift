import ReactorBytes
import ReactorThreads

/// The part of a ``Store`` that does not depend on its reactor's type.
///
/// *Place*: between a store and its tree. It admits one action at a time, runs the waiting ones,
/// and calls the observers.
@usableFromInline
final class StoreCore {
    let tree: Tree
    @usableFromInline let turn: Turn
    let inbox: StoreInbox
    // A test's executor ends with its user, and tasks do not hold it, so the store does.
    private let executor: (any TaskExecutor)?
    // Unchecked, since every action reads both; re-entrant calls find no access in progress.
    /// Actions that were dispatched from inside another, in order.
    private let waitingCell = Cell<[Waiting]>([])
    private let observersCell = Cell<[StoreObserver]>([])
    /// Number of steps between the current action and the admitted one that caused it.
    private var depth = 0
    private var isDispatching = false
    private var isDrainAsked = false
    /// Sequence of the last state that observers received.
    private var shownSequence: UInt64 = 0
    private var waiting: [Waiting] {
        _read { yield waitingCell.value }
        _modify { yield &waitingCell.value }
    }
    private var observers: [StoreObserver] {
        _read { yield observersCell.value }
        _modify { yield &observersCell.value }
    }
    var onComplaint: ((String) -> Void)?

    /// An action that was dispatched from inside another.
    private struct Waiting {
        /// Number of steps below the admitted action that caused it.
        var depth: Int
        var run: (Tree) -> Void
    }

    #if DEBUG
        /// The thread that runs an action.
        private let inside = ThreadMark()
    #endif

    // Each store gets a number, which makes the ids of its reactors unique in the process.
    /// Number of stores made in the process.
    private static let made = Guarded<UInt64>(0)

    init(
        _ reactor: some Reactor, _ clock: TreeClock, _ random: TreeRandom,
        _ executor: (any TaskExecutor)?, effectsMax: Int, wake: @escaping @Sendable () -> Void
    ) {
        let inbox = StoreInbox(wake: wake)
        self.inbox = inbox
        self.executor = executor
        let spawn = executor.map(TreeEnvironment.spawn(on:)) ?? TreeEnvironment.spawnTask
        let number = Self.made.withLock { made in
            made += 1
            return made
        }
        tree = Tree(
            reactor, epoch: number, recordsDeltas: false,
            environment: TreeEnvironment(
                post: { inbox.post($0) }, spawn: spawn, clock: clock, random: random))
        turn = tree.turn
        tree.effectsMax = effectsMax
    }

    deinit { inbox.close() }

    /// Starts the reactors.
    func open() {
        tree.open()
        finish()
    }

    /// Whether an action is in progress.
    var isBusy: Bool {
        #if DEBUG
            if isDispatching, !inside.isCurrent { warnOfThreads() }
        #endif
        return isDispatching
    }

    /// Admits an action, unless another is in progress.
    @usableFromInline
    func enter() -> Bool {
        guard !isBusy else { return false }
        #if DEBUG
            inside.enter()
        #endif
        isDispatching = true
        return true
    }

    private func warnOfThreads() {
        let text =
            "a store belongs to the isolation that made it, and a second thread is inside; "
            + "send through its handle"
        if let onComplaint { onComplaint(text) } else { StandardError.write(line: text) }
    }

    /// Ends an admitted action that was refused.
    @usableFromInline
    func refuse() {
        turn.transaction.wishes.clear()
        isDispatching = false
    }

    /// Ends an admitted action that was applied: runs followers and waiting actions, calls
    /// observers.
    @usableFromInline
    func complete() {
        tree.finishEmission()
        finish()
        if !waiting.isEmpty || isDrainAsked { runWaiting() }
        isDispatching = false
    }

    /// Runs the actions and drains that observers asked for.
    private func runWaiting() {
        runActions()
        while isDrainAsked {
            isDrainAsked = false
            for job in inbox.take() {
                job(tree)
                finish()
                runActions()
            }
        }
    }

    // Observers that answer each other could continue without end, so the limits of followers
    // apply.
    /// Runs waiting actions, and those that they add.
    private func runActions() {
        while !waiting.isEmpty {
            var next = 0
            while next < waiting.count, mayRun(waiting[next], next + 1) {
                let job = waiting[next]
                next += 1
                depth = job.depth
                job.run(tree)
                finish()
            }
            depth = 0
            if !turn.isQuiet { finish() }
            // Their release may add actions, so it happens after the list has been replaced.
            let ran = waiting
            waiting = []
            withExtendedLifetime(ran) {}
        }
    }

    private func mayRun(_ job: Waiting, _ count: Int) -> Bool {
        if job.depth <= CoreLimits.followerDepthMax, count <= CoreLimits.followersMax {
            return true
        }
        turn.complain(
            "\(FaultCode.loop): actions of observers are cut at depth \(job.depth), "
                + "\(count) in all")
        return false
    }

    /// Queues an action until the current one is complete.
    func wait(_ job: @escaping (Tree) -> Void) {
        waiting.append(Waiting(depth: depth + 1, run: job))
    }

    private func finish() {
        // Starting an effect may ask for further effects.
        while !turn.effects.isEmpty { tree.start(turn.takeEffects()) }
        if !turn.isQuiet { complain() }
        turn.begin()
        guard turn.sequence != shownSequence else { return }
        shownSequence = turn.sequence
        // An observer may end its observation, or start another: the loop runs over a copy.
        if !observers.isEmpty {
            for observer in observers where !observer.isOver { observer.call() }
        }
    }

    private func complain() {
        guard let onComplaint else { return }
        for failure in turn.failures { onComplaint("\(failure.code): \(failure.message)") }
        for complaint in turn.complaints { onComplaint(complaint) }
    }

    /// Runs a job of the owner on the tree, as an action of its own.
    func perform(_ job: @escaping (Tree) -> Void) {
        wait(job)
        guard enter() else { return }
        runWaiting()
        isDispatching = false
    }

    func drain() {
        isDrainAsked = true
        guard enter() else { return }
        runWaiting()
        isDispatching = false
    }

    /// Calls `observer` now and after every change, until the token is released.
    func observe(_ observer: @escaping () -> Void) -> StoreToken {
        let observer = StoreObserver(observer)
        observers.append(observer)
        // Weak: the token may outlive the store, and the observer holds the reactor and its state.
        let token = StoreToken { [weak self, weak observer] in
            guard let observer else { return }
            observer.isOver = true
            self?.endObservation(observer)
        }
        // An action that the observer dispatches in this call waits as in any other.
        if enter() {
            observer.call()
            if !waiting.isEmpty || isDrainAsked { runWaiting() }
            isDispatching = false
        } else {
            observer.call()
        }
        return token
    }

    // Releasing an observer may end another observation, so it happens after the removal.
    private func endObservation(_ observer: StoreObserver) {
        guard let index = observers.firstIndex(where: { $0 === observer }) else { return }
        let ended = observers.remove(at: index)
        withExtendedLifetime(ended) {}
    }

    /// An observer, called until its token is released.
    private final class StoreObserver {
        let call: () -> Void
        /// Whether its token was released, perhaps during the current round of calls.
        var isOver = false

        init(_ call: @escaping () -> Void) { self.call = call }
    }
}

// MARK: - Waiting for effects
extension StoreCore {
    /// Waits until the effects of the transaction numbered `sequence` have ended, and drains the
    /// store until then; cancelling the task cancels them.
    nonisolated(nonsending) func effectsEnd(of sequence: UInt64) async {
        let end = EffectsEnd()
        tree.whenEffectsEnd(of: sequence) { [inbox] in
            end.hasCome = true
            inbox.poke()
        }
        while !end.hasCome {
            drain()
            if Task.isCancelled { tree.effects.cancel(of: sequence) }
            if !end.hasCome { await inbox.arrival() }
        }
    }

    /// Whether the awaited effects have ended.
    private final class EffectsEnd {
        var hasCome = false
    }
}
