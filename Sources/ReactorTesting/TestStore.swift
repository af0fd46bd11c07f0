public import ReactorCore

/// A reactor under test: whatever it does must have been said before.
///
///     let store = TestStore(Counter())
///     store.send(.increment(by: 2)) { $0.count = 2 }
///     store.sendRejected(.decrement(by: 3), "negative")
///     store.finish()
///
/// Each step names what changes. A change that was not named, a follower or an emission that was
/// not received, an effect that still runs at the end, an error that nobody expected: each is a
/// failure, with the difference field by field. Besides, every mutation is reduced again on a copy,
/// and a `reduce` that leads elsewhere then (a clock, chance, the order of a dictionary) is named.
///
/// Nothing here waits: effects run on a ``ManualExecutor`` and sleep by a ``ManualClock``, so that
/// ``advance(by:)`` is all that brings time. Actions and states pass through their encoded form, as
/// they would on their way to a daemon.
///
/// *Owner*: the test's isolation; not Sendable.
public final class TestStore<R: Reactor> {
    /// The time by which effects wait.
    public var clock: ManualClock { world.clock }
    /// The tree of the reactor and its children.
    public let tree: Tree
    let root: Node<R>
    let report: FailureReport
    private let world = ManualWorld()
    private let ledger: StateLedger
    private let birthplace: CodePlace
    /// Actions of the root that were committed, by the sequence of their transactions.
    private var tapped: [(sequence: UInt64, action: R.Action)] = []
    private var tapSequence: UInt64 = 0
    private var tap: StoreToken?
    /// Transactions that nobody has accounted for.
    var steps: [TestStep<R>] = []
    /// The transaction being accounted for, with what of it is open.
    var current: TestStep<R>?
    /// The root's encoded state, as the test has accounted for it.
    var shown: [UInt8]
    /// What went wrong in the tree without a caller to tell, and was not expected yet.
    var problems: [String] = []
    var lastOrdinal: UInt64 = 0
    private var seen: UInt64 = 0
    private var isFinished = false

    /// Mounts `reactor` as a root; what it starts with waits to be received.
    ///
    /// `report` is where failures go.
    public init(
        _ reactor: R, report: FailureReport = .standard, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        birthplace = CodePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        self.report = report
        tree = Tree(reactor, epoch: 1, environment: world.environment())
        guard let root = tree.root as? Node<R> else {
            preconditionFailure("the root has its type")
        }
        self.root = root
        ledger = StateLedger(tree)
        shown = StateLedger.state(of: root)
        tap = tree.addTap(
            to: root,
            NodeTap(action: { [unowned self] action, _ in tapped.append((tapSequence, action)) }))
        tree.open()
        settle(at: birthplace)
    }

    deinit { if !isFinished { lookAtLeftovers(leaving: [], at: birthplace) } }

    /// The root's state, as far as the test has accounted for it.
    public var state: R.State {
        do throws(WireError) {
            return try R.State(wireBytes: shown)
        } catch {
            preconditionFailure("a state that was encoded is read: \(error)")
        }
    }

    /// The names of the effects that have not ended; `""` for one without a name.
    public var effects: [String] {
        tree.effectsUnderWay.filter { !$0.isSource }.map { $0.cancelID ?? "" }
    }

    /// Ends the test of this reactor: nothing may be left.
    ///
    /// Effects whose names are among `names` may still run.
    public func finish(
        leaving names: Set<String> = [], fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        let place = CodePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        isFinished = true
        settle(at: place)
        lookAtLeftovers(leaving: names, at: place)
    }

    /// Lets time pass; what comes of it waits to be received.
    public func advance(
        by duration: Duration, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        let place = CodePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        closeStep(at: place)
        world.clock.advance(by: duration) { settle(at: place) }
        settle(at: place)
    }
}

// MARK: - Turning the world
extension TestStore {
    /// Lets effects run until nothing but time can bring more, and lists what they did.
    func settle(at place: CodePlace) {
        collect(at: place)
        world.settle { job in
            job(tree)
            collect(at: place)
        }
    }

    /// Lists what the tree has done since the last time, and starts the effects it asked for.
    func collect(at place: CodePlace) {
        let turn = tree.turn
        guard turn.sequence != seen || !turn.isQuiet else { return }
        let changes = turn.withDeltas { ledger.read($0) }
        for finding in ledger.takeFindings() { report(finding, at: place) }
        var found: [UInt64: TestStep<R>] = [:]
        for change in changes {
            found[change.sequence, default: TestStep(sequence: change.sequence)].add(change)
        }
        let effects = turn.effects
        problems += turn.complaints + turn.failures.map { "\($0.code): \($0.message)" }
        seen = turn.sequence
        turn.begin()
        for effect in effects {
            tapSequence = effect.sequence
            tree.start([effect])
        }
        for (sequence, action) in tapped {
            found[sequence, default: TestStep(sequence: sequence)].actions.append(action)
        }
        tapped = []
        steps += found.values.sorted { $0.sequence < $1.sequence }
    }

    /// Reports what of the transaction at hand nobody has accounted for.
    func closeStep(at place: CodePlace) {
        for problem in problems {
            report("this went wrong, and nobody expected it: \(problem)", at: place)
        }
        problems = []
        guard let step = current else { return }
        current = nil
        for change in step.changes {
            report(
                "nobody expected this of \(step.text)\n\(change.text)\n"
                    + Difference(expected: change.before, got: change.after).text,
                at: place)
        }
    }

    private func lookAtLeftovers(leaving names: Set<String>, at place: CodePlace) {
        closeStep(at: place)
        for step in steps {
            let changes = step.changes.map {
                Difference(expected: $0.before, got: $0.after).lines.joined(separator: "\n")
            }
            report(
                (["nobody received \(step.text)"] + changes).joined(separator: "\n"), at: place)
        }
        for effect in tree.effectsUnderWay where !effect.isSource {
            if let name = effect.cancelID, names.contains(name) { continue }
            report(
                "an effect of \(effect.path)\(effect.cancelID.map { " named \($0)" } ?? "") still "
                    + "runs; transaction \(effect.sequence) asked for it: advance the clock, cancel "
                    + "it, or name it in finish(leaving:)", at: place)
        }
    }
}
