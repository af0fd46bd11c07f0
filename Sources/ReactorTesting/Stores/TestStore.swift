public import ReactorCore

/// Tests one reactor: the test states every change that the reactor makes.
///
///     let store = TestStore(Counter())
///     store.send(.increment(by: 2)) { $0.count = 2 }
///     store.sendRejected(.decrement(by: 3), "negative")
///     store.finish()
///
/// Each step states its changes. The store reports as a failure, with the difference field by
/// field: a change that was not stated, a follower or an emission that was not received, an
/// effect that still runs at the end, and an unexpected error. It also reduces every mutation
/// again on a copy, and reports a `reduce` whose result differs (because it uses a clock,
/// randomness, or the order of a dictionary).
///
/// Tests do not wait: effects run on a ``ManualExecutor`` and sleep on a ``ManualClock``, so that
/// time passes only in ``advance(by:)``. Actions and states are encoded and decoded, as on their
/// way to a daemon.
///
/// *Owner*: the test's isolation; not Sendable.
public final class TestStore<R: Reactor> {
    /// The clock that effects use.
    public var clock: ManualClock { world.clock }
    /// The tree of the reactor and its children.
    package let tree: Tree
    let root: Node<R>
    let report: FailureReport
    private let world: ManualWorld
    private let ledger: StateLedger
    private let creation: CodeLocation
    /// Committed actions of the root, by the sequence of their transaction.
    private var tapped: [(sequence: UInt64, action: R.Action)] = []
    private var tapSequence: UInt64 = 0
    /// Committed actions of children, encoded, by the sequence of their transaction.
    private var tappedBelow: [(sequence: UInt64, action: ChildAction)] = []
    private var taps: [StoreToken] = []
    /// The transactions and errors that the test has not accounted for.
    let pending: PendingSteps<R>
    private var lastOrdinal: UInt64 = 0
    private var seen: UInt64 = 0
    private var isFinished = false

    /// Mounts `reactor` as a root; transactions of its start are to be received.
    ///
    /// `report` receives the failures. `seed` selects the numbers of ``ReactorContext/random``.
    public init(
        _ reactor: R, seed: UInt64 = 0, report: FailureReport = .standard, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        creation = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        self.report = report
        world = ManualWorld(seed: seed)
        tree = Tree(reactor, epoch: 1, environment: world.environment())
        guard let root = tree.root as? Node<R> else {
            preconditionFailure("the root has its type")
        }
        self.root = root
        ledger = StateLedger(tree)
        pending = PendingSteps(of: root)
        taps = [
            tree.addTap(
                to: root,
                NodeTap(action: { [unowned self] action, _ in tapped.append((tapSequence, action)) }
                ))
        ]
        tapChildren()
        tree.open()
        settle(at: creation)
    }

    deinit { if !isFinished { lookAtLeftovers(leaving: [], at: creation) } }

    /// The root's state, as of the last transaction that the test accounted for.
    public var state: R.State {
        do throws(WireError) {
            return try R.State(wireBytes: pending.shown)
        } catch {
            preconditionFailure("a state that was encoded is read: \(error)")
        }
    }

    /// The names of the running effects; `""` for an effect without a name.
    public var effects: [String] {
        tree.effectsUnderWay.filter { !$0.isSource }.map { $0.cancelID ?? "" }
    }

    /// Ends the test: reports everything that is not accounted for.
    ///
    /// Effects with a name in `names` may still run.
    public func finish(
        leaving names: Set<String> = [], fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        isFinished = true
        settle(at: location)
        lookAtLeftovers(leaving: names, at: location)
    }

    /// Advances the time; the resulting transactions are to be received.
    public func advance(
        by duration: Duration, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        closeStep(at: location)
        world.clock.advance(by: duration) { settle(at: location) }
        settle(at: location)
    }
}

// MARK: - Running effects
extension TestStore {
    /// Runs effects until only the passing of time can bring more, and collects their
    /// transactions.
    func settle(at location: CodeLocation) {
        collect(at: location)
        world.settle { job in
            job(tree)
            collect(at: location)
        }
    }

    /// Collects the tree's transactions since the last call, and starts the effects they
    /// requested.
    func collect(at location: CodeLocation) {
        let turn = tree.turn
        guard turn.sequence != seen || !turn.isQuiet else { return }
        let changes = turn.withDeltas { ledger.read($0) } + ledger.takeDerived()
        for finding in ledger.takeFindings() { report(finding, at: location) }
        var found: [UInt64: TestStep<R>] = [:]
        for change in changes {
            found[change.sequence, default: TestStep(sequence: change.sequence)].add(change)
        }
        let effects = turn.effects
        pending.add(
            problems: turn.complaints + turn.failures.map { "\($0.code): \($0.message)" })
        seen = turn.sequence
        turn.begin()
        for effect in effects {
            tapSequence = effect.sequence
            tree.start([effect])
        }
        for (sequence, action) in tapped {
            found[sequence, default: TestStep(sequence: sequence)].actions.append(action)
        }
        // An action of a child that changed nothing need not be received.
        for (sequence, action) in tappedBelow { found[sequence]?.childActions.append(action) }
        tapped = []
        tappedBelow = []
        pending.add(found.values.sorted { $0.sequence < $1.sequence })
    }

    /// Collects the actions of the children that exist, and of those to come.
    private func tapChildren() {
        tree.forEachNode { tap($0) }
        let previous = tree.onMount
        tree.onMount = { [weak self] node in
            previous?(node)
            self?.tap(node)
        }
    }

    private func tap(_ node: AnyNode) {
        guard node !== root, let child = node as? any ActionTapping else { return }
        let path = node.path
        let token = child.tapActions(in: tree) { [unowned self] bytes in
            tappedBelow.append((tapSequence, ChildAction(path: path, bytes: bytes)))
        }
        taps.append(token)
    }

    /// Returns the ordinal of the next action.
    func nextOrdinal() -> UInt64 {
        lastOrdinal += 1
        return lastOrdinal
    }

    /// Reports changes of the current transaction that the test has not accounted for.
    func closeStep(at location: CodeLocation) {
        for problem in pending.takeProblems() {
            report("an unexpected error: \(problem)", at: location)
        }
        guard let step = pending.close() else { return }
        for change in step.changes {
            report(
                "an unexpected change of \(step.text)\n\(change.text)\n"
                    + Difference(expected: change.before, got: change.after).text,
                at: location)
        }
    }

    private func lookAtLeftovers(leaving names: Set<String>, at location: CodeLocation) {
        closeStep(at: location)
        for step in pending.steps {
            let changes = step.changes.map {
                Difference(expected: $0.before, got: $0.after).lines.joined(separator: "\n")
            }
            report(
                (["the test did not receive \(step.text)"] + changes).joined(separator: "\n"),
                at: location)
        }
        for effect in tree.effectsUnderWay where !effect.isSource {
            if let name = effect.cancelID, names.contains(name) { continue }
            report(
                "an effect of \(effect.path)\(effect.cancelID.map { " named \($0)" } ?? "") still "
                    + "runs; transaction \(effect.sequence) asked for it: advance the clock, cancel "
                    + "it, or name it in finish(leaving:)", at: location)
        }
    }
}

/// A node whose actions are reported encoded.
private protocol ActionTapping: AnyNode {
    /// Reports each committed action, until the token is released.
    func tapActions(in tree: Tree, _ take: @escaping ([UInt8]) -> Void) -> StoreToken
}

extension Node: ActionTapping {
    fileprivate func tapActions(
        in tree: Tree, _ take: @escaping ([UInt8]) -> Void
    ) -> StoreToken {
        tree.addTap(to: self, NodeTap(action: { action, _ in take(action.wireBytes()) }))
    }
}
