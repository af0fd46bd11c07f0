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
    /// Actions that were dispatched from inside another.
    // because every action looks at both, and whoever comes back here meanwhile finds them at rest
    let waitingPlace = Place<[(Tree) -> Void]>([])
    private let observersPlace = Place<[(id: UInt64, call: () -> Void)]>([])
    private var observersMade: UInt64 = 0
    private var isDispatching = false
    private var isDrainAsked = false
    /// Sequence of the state that observers were shown last.
    private var shownSequence: UInt64 = 0
    var waiting: [(Tree) -> Void] {
        _read { yield waitingPlace.value }
        _modify { yield &waitingPlace.value }
    }
    private var observers: [(id: UInt64, call: () -> Void)] {
        _read { yield observersPlace.value }
        _modify { yield &observersPlace.value }
    }
    var onComplaint: ((String) -> Void)?
    #if DEBUG
        /// The thread that is inside.
        private let inside = ThreadMark()
    #endif

    // because a reactor has an id of its own among those of all stores of the process
    /// How many stores the process has made.
    private static let made = Guarded<UInt64>(0)

    init(
        _ reactor: some Reactor, _ clock: TreeClock, _ executor: (any TaskExecutor)?,
        wake: @escaping @Sendable () -> Void
    ) {
        let inbox = StoreInbox(wake: wake)
        self.inbox = inbox
        let spawn = executor.map(TreeEnvironment.spawn(on:)) ?? TreeEnvironment.spawnTask
        let number = Self.made.withLock { made in
            made += 1
            return made
        }
        tree = Tree(
            reactor, epoch: number, recordsDeltas: false,
            environment: TreeEnvironment(post: { inbox.post($0) }, spawn: spawn, clock: clock))
        turn = tree.turn
    }

    deinit { inbox.close() }

    /// Lets the reactors begin.
    func open() {
        tree.open()
        finish()
    }

    /// Lets an action in, unless another is at work.
    @usableFromInline
    func enter() -> Bool {
        #if DEBUG
            if isDispatching, !inside.isCurrent { warnOfThreads() }
        #endif
        guard !isDispatching else { return false }
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

    private func runActions() {
        while !waiting.isEmpty {
            waiting.removeFirst()(tree)
            finish()
        }
    }

    private func finish() {
        // because what waited for the commit may ask for more
        while !turn.effects.isEmpty { tree.start(turn.takeEffects()) }
        if !turn.isQuiet { complain() }
        turn.begin()
        guard turn.sequence != shownSequence else { return }
        shownSequence = turn.sequence
        // because an observer may end its observation, or begin another
        if !observers.isEmpty { for observer in observers { observer.call() } }
    }

    private func complain() {
        guard let onComplaint else { return }
        for failure in turn.failures { onComplaint("\(failure.code): \(failure.message)") }
        for complaint in turn.complaints { onComplaint(complaint) }
    }

    /// Runs a job of the owner's on the tree, as an action of its own.
    func perform(_ job: @escaping (Tree) -> Void) {
        waiting.append(job)
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

    func observe(_ observer: @escaping () -> Void) -> StoreToken {
        observersMade += 1
        let id = observersMade
        observers.append((id, observer))
        return StoreToken { [weak self] in self?.endObservation(id) }
    }

    // because what an observer held may end an observation of its own as it goes: it goes when the
    // list is at rest
    private func endObservation(_ id: UInt64) {
        guard let index = observers.firstIndex(where: { $0.id == id }) else { return }
        let ended = observers.remove(at: index)
        withExtendedLifetime(ended) {}
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
