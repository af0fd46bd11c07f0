import ReactorBytes
import ReactorThreads

/// What of a ``Store`` does not depend on its reactor's type.
///
/// *Place*: between a store and its tree: it lets one action in at a time, runs what waited for it,
/// and tells the observers.
@usableFromInline
final class StoreCore {
    let tree: Tree
    @usableFromInline let turn: Turn
    let inbox: StoreInbox
    // The executor of a test lasts as long as its user, and tasks do not hold it.
    private let executor: (any TaskExecutor)?
    // because every action looks at both, and whoever comes back here meanwhile finds them at rest
    /// Actions that were dispatched from inside another, in order.
    private let waitingPlace = Place<[Waiting]>([])
    private let observersPlace = Place<[StoreObserver]>([])
    /// How deep the action at hand stands below the one that was let in.
    private var depth = 0
    private var isDispatching = false
    private var isDrainAsked = false
    /// Sequence of the state that observers were shown last.
    private var shownSequence: UInt64 = 0
    private var waiting: [Waiting] {
        _read { yield waitingPlace.value }
        _modify { yield &waitingPlace.value }
    }
    private var observers: [StoreObserver] {
        _read { yield observersPlace.value }
        _modify { yield &observersPlace.value }
    }
    var onComplaint: ((String) -> Void)?

    /// An action that was dispatched from inside another.
    private struct Waiting {
        /// How deep it stands below the one that was let in.
        var depth: Int
        var run: (Tree) -> Void
    }

    #if DEBUG
        /// The thread that is inside.
        private let inside = ThreadMark()
    #endif

    // because a reactor has an id of its own among those of all stores of the process
    /// How many stores the process has made.
    private static let made = Guarded<UInt64>(0)

    init(
        _ reactor: some Reactor, _ clock: TreeClock, _ executor: (any TaskExecutor)?,
        effectsMax: Int, wake: @escaping @Sendable () -> Void
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
            environment: TreeEnvironment(post: { inbox.post($0) }, spawn: spawn, clock: clock))
        turn = tree.turn
        tree.effectsMax = effectsMax
    }

    deinit { inbox.close() }

    /// Lets the reactors begin.
    func open() {
        tree.open()
        finish()
    }

    /// Whether an action is at work.
    var isBusy: Bool {
        #if DEBUG
            if isDispatching, !inside.isCurrent { warnOfThreads() }
        #endif
        return isDispatching
    }

    /// Lets an action in, unless another is at work.
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

    /// The action that was let in was refused.
    @usableFromInline
    func refuse() {
        turn.clearRequests()
        isDispatching = false
    }

    /// The action that was let in is applied: runs its followers and what waited, tells observers.
    @usableFromInline
    func complete() {
        tree.finishEmission()
        finish()
        if !waiting.isEmpty || isDrainAsked { runWaiting() }
        isDispatching = false
    }

    /// Runs what observers asked for meanwhile.
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

    // because observers that answer each other would have no end
    /// Runs what was dispatched from inside, theirs behind it: as followers, and no more of them.
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
            // because what they held may ask for more as it goes: it goes when the list is at rest
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
            "\(FaultCode.loop): what observers dispatched is cut at depth \(job.depth), "
                + "\(count) in all")
        return false
    }

    /// Has an action run when the one at hand is complete.
    func wait(_ job: @escaping (Tree) -> Void) {
        waiting.append(Waiting(depth: depth + 1, run: job))
    }

    private func finish() {
        // because what waited for the commit may ask for more
        while !turn.effects.isEmpty { tree.start(turn.takeEffects()) }
        if !turn.isQuiet { complain() }
        turn.begin()
        guard turn.sequence != shownSequence else { return }
        shownSequence = turn.sequence
        // because an observer may end its observation, or begin another
        if !observers.isEmpty {
            for observer in observers where !observer.isOver { observer.call() }
        }
    }

    private func complain() {
        guard let onComplaint else { return }
        for failure in turn.failures { onComplaint("\(failure.code): \(failure.message)") }
        for complaint in turn.complaints { onComplaint(complaint) }
    }

    /// Runs a job of the owner's on the tree, as an action of its own.
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

    /// Calls `observer` now and after every change, until the token goes.
    func observe(_ observer: @escaping () -> Void) -> StoreToken {
        let observer = StoreObserver(observer)
        observers.append(observer)
        // The token may outlive the store, and the observer holds the reactor and its state.
        let token = StoreToken { [weak self, weak observer] in
            guard let observer else { return }
            observer.isOver = true
            self?.endObservation(observer)
        }
        // What the observer dispatches in this call waits like that of any other call.
        if enter() {
            observer.call()
            if !waiting.isEmpty || isDrainAsked { runWaiting() }
            isDispatching = false
        } else {
            observer.call()
        }
        return token
    }

    // because what an observer held may end an observation of its own as it goes: it goes when the
    // list is at rest
    private func endObservation(_ observer: StoreObserver) {
        guard let index = observers.firstIndex(where: { $0 === observer }) else { return }
        let ended = observers.remove(at: index)
        withExtendedLifetime(ended) {}
    }

    /// Who is told, until its token goes.
    private final class StoreObserver {
        let call: () -> Void
        /// Whether its token went, maybe in the round at hand.
        var isOver = false

        init(_ call: @escaping () -> Void) { self.call = call }
    }
}

// MARK: - Waiting for effects
extension StoreCore {
    /// Waits until the effects of the transaction numbered `sequence` have ended, and drains
    /// meanwhile; a cancelled task cancels them.
    nonisolated(nonsending) func effectsEnd(of sequence: UInt64) async {
        let end = EffectsEnd()
        tree.whenEffectsEnd(of: sequence) { [inbox] in
            end.hasCome = true
            inbox.poke()
        }
        while !end.hasCome {
            drain()
            if Task.isCancelled { tree.cancelEffects(of: sequence) }
            if !end.hasCome { await inbox.arrival() }
        }
    }

    /// Whether the effects somebody waits for have ended.
    private final class EffectsEnd {
        var hasCome = false
    }
}
