public import ReactorCore
public import ReactorServer

/// A tree of reactors, its daemon and several clients under random disturbances, determined by one
/// seed.
///
///     @Test(arguments: 0..<20 as Range<UInt64>)
///     func storm(seed: UInt64) {
///         let simulation = Simulation(seed: seed, clients: 5) { Till() }
///         simulation.invariant("the till is never below zero") { $0.total >= 0 }
///         simulation.run(steps: 200) { random in
///             .put(Int.random(in: 1...9, using: &random))
///         }
///     }
///
/// The real server and the real client machines exchange bytes that are split, delayed and held
/// up. Connections break and return, batches are appended late, clients die, and the daemon
/// restarts, with its history or without. Effects and timers run too, reproducibly if they use the
/// clock and executor of their environment. The simulation checks that
///
/// - each invariant holds after every transaction, or whenever a client has received something,
///   and looks up what there is: a path that nothing ever matched is a failure,
/// - every mirror shows, at each revision, the daemon's state at that revision,
/// - `reduce` is deterministic: repeated on a copy, it leads to the same state,
/// - a client's revision never decreases in an epoch, and no two actions get the same revision,
/// - a `perform` completes after the action's effects have ended, and not before,
/// - at the end every client is connected, shows the daemon's state, and has all its outcomes
///   except those that a reactor still defers,
/// - at the end no connection that has ended owns anything.
///
/// A failure contains the seed, which reproduces it, and the shortest failing run that was found.
///
/// *Owner*: the test's isolation; call ``run(steps:fileID:filePath:line:column:_:)`` once.
public final class Simulation<Root: Reactor> {
    /// The seed of all random choices.
    public let seed: UInt64
    /// How often something happened in the run.
    public private(set) var counts = SimulationCounts()
    private var setup: SimulationSetup<Root>
    private var shorteningRuns = 200
    private let report: FailureReport

    /// Creates a daemon of the reactor that `root` returns, and `clients` clients; failures go to
    /// `report`.
    public init(
        seed: UInt64, clients: Int = 3, limits: ServerLimits = ServerLimits(),
        report: FailureReport = .standard, root: @escaping () -> Root
    ) {
        self.seed = seed
        self.report = report
        setup = SimulationSetup(
            seed: seed, clientCount: clients, limits: limits, makeRoot: root)
    }
}

// MARK: - Disturbances
extension Simulation {
    /// Maximum number of restarts of the daemon without its history.
    public var restartsMax: Int {
        get { setup.restartsMax }
        set { setup.restartsMax = newValue }
    }

    /// Maximum number of crashes after which the daemon recovers from its history: by default 0.
    ///
    /// A crash loses what was not acknowledged. The daemon keeps a history if this is above 0.
    public var recoveriesMax: Int {
        get { setup.recoveriesMax }
        set { setup.recoveriesMax = newValue }
    }

    /// Maximum number of clients that die, by default 0: their connection ends for good, and what
    /// it owned is released. Another client takes the number of each.
    public var deathsMax: Int {
        get { setup.deathsMax }
        set { setup.deathsMax = newValue }
    }

    /// Maximum time between two steps: by default 2 milliseconds. Choose it so that timers fire
    /// during the run.
    public var pauseMax: Duration {
        get { .nanoseconds(Int64(clamping: setup.pauseMax)) }
        set { setup.pauseMax = ManualClock.Instant(offset: newValue).nanoseconds }
    }

    /// Maximum time in nanoseconds until a batch is appended.
    public var journalDelayMax: UInt64 {
        get { setup.journalDelayMax }
        set { setup.journalDelayMax = newValue }
    }

    /// Maximum number of runs that shorten a failure: by default 200; 0 reports it as it is.
    public var shorteningRunsMax: Int {
        get { shorteningRuns }
        set { shorteningRuns = newValue }
    }

    /// Replaces the daemon once, during the run, by a version whose root `next` returns, and which
    /// recovers from the history of the version before.
    ///
    /// Clients stay at their version. Mirrors of reactors whose types differ are not compared, and
    /// invariants on the root's state are not checked after the upgrade if its type differs:
    /// state them over the tree.
    public func upgrade(to next: @escaping () -> any Reactor) { setup.makeNext = next }
}

// MARK: - Conditions
extension Simulation {
    /// Adds a condition that the root's state must meet after every transaction.
    public func invariant(_ claim: String, _ holds: @escaping (Root.State) -> Bool) {
        setup.rootConditions.append(.init(claim: claim, holds: holds))
    }

    /// Adds a condition that the states of all reactors together must meet after every
    /// transaction.
    public func invariant(ofTree claim: String, _ holds: @escaping (SimulatedTree) -> Bool) {
        setup.treeConditions.append(.init(claim: claim, holds: holds))
    }

    /// Adds a condition that must hold for every client whenever its mirrors have changed or an
    /// action has its outcome.
    public func invariant(ofClients claim: String, _ holds: @escaping (SimulatedView) -> Bool) {
        setup.clientConditions.append(.init(claim: claim, holds: holds))
    }

    /// Makes every client mirror the child at `path` too, which must exist from the start.
    public func follow<C: Reactor>(_ make: @escaping () -> C, at path: String) {
        setup.follow(make, at: path)
    }

    /// Makes every client mirror the derived value at `path`, which is of the type of `initial`.
    public func follow<Value>(derived initial: Value, at path: String)
    where Value: WireCodable & Equatable & Sendable {
        follow({ DerivedValue(initial) }, at: path)
    }

    /// Makes every client follow the children in the collections that match `pattern`: see
    /// ``SimulatedView/children(of:at:)``.
    public func follow(childrenOf pattern: String) {
        if !setup.collections.contains(pattern) { setup.collections.append(pattern) }
    }

    /// Makes the run fail unless at least `sent` actions were sent, and `applied` actions applied,
    /// of the traffic to `path`; `/` is that of the root, and the name of batches theirs. A batch
    /// counts as one action.
    ///
    /// An action cannot be sent if its client knows no recipient.
    public func demand(sentAtLeast sent: Int = 0, appliedAtLeast applied: Int = 0, to path: String)
    {
        setup.demands.append(.init(path: path, sentMin: sent, appliedMin: applied))
    }
}

// MARK: - Traffic
extension Simulation {
    /// Makes clients send `percent` percent of the actions to the node at `path`.
    public func traffic(
        to path: String, percent: Int, _ make: @escaping (inout SeededRandom) -> some WireCodable
    ) {
        setup.traffic.append(
            .init(path: path, percent: percent, type: ObjectIdentifier(Simulation.self)) {
                random, _ in .action(make(&random), to: path)
            })
    }

    /// Makes clients send `percent` percent of the actions to the reactor of type `type` at `path`;
    /// their outcomes are then known by type: see ``SimulatedView/outcomes(of:)``.
    public func traffic<C: Reactor>(
        to path: String, of type: C.Type, percent: Int,
        _ make: @escaping (inout SeededRandom) -> C.Action?
    ) {
        traffic(to: path, of: type, percent: percent) { random, _ in make(&random) }
    }

    /// Makes clients send `percent` percent of the actions to the reactor of type `type` at `path`;
    /// `make` also receives the client that sends.
    public func traffic<C: Reactor>(
        to path: String, of type: C.Type, percent: Int,
        _ make: @escaping (inout SeededRandom, SimulatedView) -> C.Action?
    ) {
        setup.traffic.append(
            .init(path: path, percent: percent, type: ObjectIdentifier(type)) { random, view in
                make(&random, view).map { .action($0, to: path) }
            })
    }

    /// Makes clients send `percent` percent of the actions to children in the collections that
    /// match `pattern`, in which `*` stands for any name: `/projects/*/runs`.
    ///
    /// Each action goes to a random child among those that its client knows, which may be gone by
    /// then. `make` returns an action for the child with this key, whose state is that in the
    /// client's view; nil skips a step. An action without a child is counted as unsent: see
    /// ``demand(sentAtLeast:appliedAtLeast:to:)``.
    ///
    ///     simulation.traffic(toChildrenOf: "/runs", of: Run.self, keys: Int.self, percent: 40) {
    ///         random, number, run in
    ///         number.isMultiple(of: 2) ? .cancel : nil
    ///     }
    ///
    /// *Traps* if the key of a child is not of the type.
    public func traffic<C: Reactor, Key: ChildKey>(
        toChildrenOf pattern: String, of type: C.Type, keys: Key.Type,
        percent: Int, _ make: @escaping (inout SeededRandom, Key, C.State) -> C.Action?
    ) {
        traffic(toChildrenOf: pattern, of: type, percent: percent) { random, _, path, state in
            guard let key = Key(wireKeyText: path.components.last?.text ?? "") else {
                preconditionFailure("\(path): the key is not of type \(Key.self)")
            }
            return make(&random, key, state)
        }
    }

    /// Makes clients send `percent` percent of the actions to children in the collections that
    /// match `pattern`; `make` receives each child's key as text.
    public func traffic<C: Reactor>(
        toChildrenOf pattern: String, of type: C.Type, percent: Int,
        _ make: @escaping (inout SeededRandom, WireKey, C.State) -> C.Action?
    ) {
        traffic(
            toChildrenOf: pattern, of: type, keys: WireKey.self, percent: percent, make)
    }

    /// Makes clients send `percent` percent of the actions to children in the collections that
    /// match `pattern`; `make` receives the client that sends, and the child's path and state.
    ///
    ///     simulation.traffic(toChildrenOf: "/runs", of: Run.self, percent: 40) {
    ///         random, client, path, run in
    ///         client.ownedKeys(at: "\(path)").isEmpty ? nil : .finish
    ///     }
    public func traffic<C: Reactor>(
        toChildrenOf pattern: String, of type: C.Type, percent: Int,
        _ make: @escaping (inout SeededRandom, SimulatedView, SlicePath, C.State) -> C.Action?
    ) {
        follow(childrenOf: pattern)
        setup.traffic.append(
            .init(path: pattern, percent: percent, type: ObjectIdentifier(type)) { random, view in
                let children = view.children(of: type, at: pattern)
                guard let child = children.randomElement(using: &random) else { return .noChild }
                return make(&random, view, child.path, child.state).map {
                    .action($0, to: "\(child.path)")
                }
            })
    }
}

// MARK: - Batches
extension Simulation {
    /// Makes clients send `percent` percent of the actions as batches, whose actions are all
    /// applied, at one revision, or none is. `make` fills the batch; one without actions skips a
    /// step.
    ///
    ///     simulation.traffic(ofBatches: "freeze", percent: 5) { random, client, batch in
    ///         batch.send(Settings.Action.runsMax(0), to: "/settings")
    ///         for project in client.children(of: Project.self, at: "/projects") {
    ///             batch.send(Project.Action.pause, to: "\(project.path)")
    ///         }
    ///     }
    ///
    /// The name stands for the batches in ``demand(sentAtLeast:appliedAtLeast:to:)``.
    public func traffic(
        ofBatches name: String, percent: Int,
        _ make: @escaping (inout SeededRandom, SimulatedView, inout SimulatedBatch) -> Void
    ) {
        setup.traffic.append(
            .init(path: name, percent: percent, type: nil) { random, view in
                var batch = SimulatedBatch()
                make(&random, view, &batch)
                return batch.parts.isEmpty ? nil : .parts(batch.parts)
            })
    }
}

// MARK: - Running
extension Simulation {
    /// Sends `steps` actions from random clients, ends the disturbances, and compares the final
    /// states.
    ///
    /// `action` returns the actions; nil skips a step. Returns the violations, which are also
    /// reported as a failure of the test.
    @discardableResult
    public func run(
        steps: Int, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column, _ action: (inout SeededRandom) -> Root.Action?
    ) -> [String] {
        run(
            steps: steps, fileID: fileID, filePath: filePath, line: line, column: column
        ) { random, _ in action(&random) }
    }

    /// Sends actions that depend on the state in their client's mirror, which may be outdated.
    @discardableResult
    public func run(
        steps: Int, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column, _ action: (inout SeededRandom, Root.State) -> Root.Action?
    ) -> [String] {
        let run = SimulationRun(setup)
        // The steps have random choices of their own, so that fewer steps change no delay.
        var random = SeededRandom(seed: (seed &+ 1) &* 0x2545_f491_4f6c_dd1d)
        for index in 0..<steps where run.violations.isEmpty {
            run.draw(&random, index, of: steps, action)
        }
        if run.violations.isEmpty { run.finish() }
        counts = run.counts
        if let first = run.violations.first {
            let location = CodeLocation(
                fileID: fileID, filePath: filePath, line: line, column: column)
            report(
                text(first, run, steps) + shortened(run), at: location)
        }
        return run.violations
    }

    private func text(_ first: String, _ run: SimulationRun<Root>, _ steps: Int) -> String {
        "\(first)\n(\(run.violations.count) findings; \(counts.sent) of \(steps) actions by "
            + "\(setup.clientCount) clients, \(counts.brokenConnections) broken connections, "
            + "\(counts.deaths) deaths, \(counts.restarts) restarts without and "
            + "\(counts.recoveries) with a history; seed \(seed) reproduces the run)"
    }

    /// Describes the shortest run that fails in the same way.
    private func shortened(_ run: SimulationRun<Root>) -> String {
        // Fewer steps exercise even less.
        if run.lacksTraffic { return "" }
        let failure = run.failure
        var shortest: SimulationRun<Root>?
        var shortener = StepShortener(attemptsMax: shorteningRuns) { [setup] steps in
            let attempt = SimulationRun(setup)
            for step in steps where attempt.violations.isEmpty { attempt.perform(step) }
            // Time passes at the end, so that a step that only waited can be left out.
            if attempt.violations.isEmpty { attempt.finish() }
            guard attempt.failure == failure else { return nil }
            if attempt.trace.steps.count <= shortest?.trace.steps.count ?? .max {
                shortest = attempt
            }
            return attempt.trace.steps
        }
        _ = shortener.shorten(run.trace.steps)
        guard let shortest, let last = shortest.violations.first else {
            return "\nthe last steps:\n"
                + run.trace.lines.suffix(Self.shownStepsMax).joined(separator: "\n")
        }
        let lines = shortest.trace.lines
        return "\nthe shortest failing run that was found has \(lines.count) of "
            + "\(run.trace.steps.count) steps:\n"
            + lines.suffix(Self.shownStepsMax).joined(separator: "\n") + "\nand ends with \(last)"
    }

    /// Maximum number of steps in a report.
    private static var shownStepsMax: Int { 40 }
}

/// How often something happened in a ``Simulation``.
public struct SimulationCounts: Equatable, Sendable {
    /// Actions that were sent.
    public internal(set) var sent = 0
    /// Actions without a recipient, or that a client could not send.
    public internal(set) var unsent = 0
    /// Actions that were applied, as far as their clients know.
    public internal(set) var applied = 0
    /// Actions that were rejected.
    public internal(set) var rejected = 0
    /// Actions whose answer a reactor still defers at the end.
    public internal(set) var unanswered = 0
    /// Connections that were broken between two steps.
    public internal(set) var brokenConnections = 0
    /// Clients that died.
    public internal(set) var deaths = 0
    /// Restarts without the history.
    public internal(set) var restarts = 0
    /// Restarts with the history.
    public internal(set) var recoveries = 0

    init() {}
}
