/// A root reactor inside one process: typed actions in, state out, no daemon.
///
/// *Owner*: the isolation that made it; not Sendable. ``handle`` may be sent anywhere.
public final class Store<R: Reactor> {
    private let tree: Tree
    private let node: Node<R>
    private let inbox: StoreInbox
    private var observers: [(id: UInt64, call: (R.State) -> Void)] = []
    private var observersMade: UInt64 = 0
    private var isDispatching = false
    private var waiting: [R.Action] = []
    private var isDrainAsked = false
    /// Sequence of the state that observers were shown last.
    private var shownSequence: UInt64 = 0

    /// Makes a store of `reactor`.
    ///
    /// `wake` is called, on any thread, when something waits for ``drain()``: an action sent
    /// through ``handle``, or what an effect emitted.
    public init(_ reactor: R, wake: @escaping @Sendable () -> Void = {}) {
        let inbox = StoreInbox(wake: wake)
        self.inbox = inbox
        tree = Tree(
            reactor, epoch: 0, recordsDeltas: false,
            environment: TreeEnvironment(post: { inbox.post($0) }))
        guard let node = tree.root as? Node<R> else { preconditionFailure("the root has its type") }
        self.node = node
    }

    /// The root reactor's state.
    public var state: R.State { node.state }

    /// Sequence of the last applied action or emission.
    public var sequence: UInt64 { tree.turn.sequence }

    /// Applies an action before it returns; one that is dispatched from inside another (by an
    /// observer) waits until that is complete.
    ///
    /// *Throws*: ``Rejection``; then nothing was changed.
    public func dispatch(_ action: R.Action) throws(Rejection) {
        guard !isDispatching else {
            waiting.append(action)
            return
        }
        isDispatching = true
        defer { isDispatching = false }
        try tree.dispatch(action, to: node)
        finish()
        runWaiting()
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
            // because its sender is gone, a rejection of a waiting action has nobody to go to
            try? tree.dispatch(waiting.removeFirst(), to: node)
            finish()
        }
    }

    private func finish() {
        let turn = tree.turn
        if !turn.effects.isEmpty { tree.start(turn.effects) }
        turn.begin()
        guard turn.sequence != shownSequence else { return }
        shownSequence = turn.sequence
        for observer in observers { observer.call(node.state) }
    }

    /// Runs what waits: actions sent through ``handle``, and what effects emitted.
    ///
    /// Called by an observer, it takes effect when the action at hand is complete.
    public func drain() {
        isDrainAsked = true
        guard !isDispatching else { return }
        isDispatching = true
        defer { isDispatching = false }
        runWaiting()
    }

    /// Calls `observer` with the state now and after every action or emission (once its followers
    /// have run), until the token goes.
    public func observe(_ observer: @escaping (R.State) -> Void) -> StoreToken {
        observersMade += 1
        let id = observersMade
        observers.append((id, observer))
        observer(node.state)
        return StoreToken { [weak self] in self?.observers.removeAll { $0.id == id } }
    }

    /// The way to the store from anywhere.
    public var handle: StoreHandle<R> { StoreHandle(inbox: inbox) }
}

/// Sends actions to a store from any isolation.
public struct StoreHandle<R: Reactor>: Sendable {
    let inbox: StoreInbox

    /// Hands over an action; it is applied by the store's next ``Store/drain()``.
    public func send(_ action: R.Action) {
        inbox.post { tree in
            guard let node = tree.root as? Node<R> else { return }
            try? tree.dispatch(action, to: node)
        }
    }
}

/// Ends an observation when it goes.
public final class StoreToken {
    private let end: () -> Void

    init(_ end: @escaping () -> Void) { self.end = end }

    deinit { end() }
}

extension Tree {
    /// Carries out an action of the process's own, then its followers.
    func dispatch<R: Reactor>(_ action: R.Action, to node: Node<R>) throws(Rejection) {
        do throws(Rejection) {
            try R._carryOut(action, node, turn)
        } catch {
            turn.clearRequests()
            throw error
        }
        finishEmission()
    }
}
