import ReactorBytes
import ReactorClient
public import ReactorCore
public import ReactorServer

/// A reactor, its daemon and several clients under random disturbances, determined by one seed.
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
/// up. Connections break and return, batches are appended late, and the daemon restarts. Effects
/// run too, reproducibly if they use the clock and executor of their environment. The simulation
/// checks that
///
/// - each invariant holds after every transaction,
/// - every mirror shows, at each revision, the daemon's state at that revision,
/// - `reduce` is deterministic: repeated on a copy, it leads to the same state,
/// - a client's revision never decreases in an epoch, and no two actions get the same revision,
/// - a `perform` completes after the action's effects have ended, and not before,
/// - at the end every client is connected, has all its outcomes, and shows the daemon's state.
///
/// A failure contains the seed, which reproduces it.
///
/// *Owner*: the test's isolation; call ``run(steps:fileID:filePath:line:column:_:)`` once.
public final class Simulation<Root: Reactor> {
    /// The seed of all random choices.
    public let seed: UInt64
    /// Maximum number of restarts of the daemon without its history.
    public var restartsMax: Int {
        get { allowedRestarts }
        set { allowedRestarts = newValue }
    }
    private var allowedRestarts = 1
    /// Maximum time in nanoseconds until a batch is appended.
    public var journalDelayMax: UInt64 {
        get { world.appends.delayMax }
        set { world.appends.limit(to: newValue) }
    }
    let world: SimulatedWorld
    private let effects = ManualWorld()
    private let makeRoot: () -> Root
    private let report: FailureReport
    private var ledger: StateLedger
    private var history = StateHistory()
    private var invariants: [(claim: String, holds: (Root.State) -> Bool)] = []
    private var follows: [Follow] = []
    private var traffic: [Traffic] = []
    private var members: [Member] = []
    private var mirrors: [Int: Mirror<Root>] = [:]
    /// Revisions that clients received as outcomes.
    private var outcomes: Set<Revision> = []
    private var sentCount = 0

    /// Creates a daemon of the reactor that `root` returns, and `clients` clients; failures go to
    /// `report`.
    public init(
        seed: UInt64, clients: Int = 3, limits: ServerLimits = ServerLimits(),
        report: FailureReport = .standard, root: @escaping () -> Root
    ) {
        self.seed = seed
        self.report = report
        makeRoot = root
        let tree = Tree(root(), epoch: seed | 1, environment: effects.environment())
        ledger = StateLedger(tree)
        history.begin(tree)
        world = SimulatedWorld(seed: seed, tree, limits: limits, effects: effects)
        world.hooks.onBatch = { [unowned self] batch in look(at: batch) }
        follow(root, at: "/") { [unowned self] index, mirror in mirrors[index] = mirror }
        for _ in 0..<clients { members.append(Member(client: world.client(Self.options))) }
    }

    private static var options: ClientOptions {
        var options = ClientOptions()
        options.pauseMin = 5_000_000
        options.pauseMax = 100_000_000
        return options
    }
}

/// A node that every client mirrors.
private struct Follow {
    var path: String
    /// Starts mirroring for a client, by its index; the callback receives a function that reads
    /// the mirror's encoded state.
    var begin: (Int, ClientMachine, @escaping (@escaping () -> [UInt8]) -> Void) -> Void
}

/// Random actions for a node below the root.
private struct Traffic {
    var path: String
    var percent: Int
    var make: (inout SeededRandom) -> [UInt8]
}

/// One client of a simulation.
private struct Member {
    var client: SimulatedClient
    var nodes: [String: NodeID] = [:]
    /// Functions that return the encoded state of a mirror, by path.
    var readers: [String: () -> [UInt8]] = [:]
    var shown = Revision(epoch: 0, sequence: 0)
}

// MARK: - Conditions
extension Simulation {
    /// Adds a condition that the root's state must meet after every transaction.
    public func invariant(_ claim: String, _ holds: @escaping (Root.State) -> Bool) {
        invariants.append((claim, holds))
    }

    /// Makes every client mirror the child at `path` too, which must exist from the start.
    public func follow<C: Reactor>(_ make: @escaping () -> C, at path: String) {
        follow(make, at: path) { _, _ in }
    }

    /// Makes clients send `percent` percent of the actions to the node at `path`.
    public func traffic(
        to path: String, percent: Int, _ make: @escaping (inout SeededRandom) -> some WireCodable
    ) {
        traffic.append(Traffic(path: path, percent: percent) { make(&$0).wireBytes() })
    }

    private func follow<C: Reactor>(
        _ make: @escaping () -> C, at path: String, _ keep: @escaping (Int, Mirror<C>) -> Void
    ) {
        follows.append(
            Follow(path: path) { index, machine, then in
                machine.mirror(make(), at: path) { result in
                    guard let mirror = try? result.get() else { return }
                    keep(index, mirror)
                    then { mirror.state.wireBytes() }
                }
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
        begin()
        for _ in 0..<steps where world.violations.isEmpty {
            world.run(for: UInt64.random(in: 0...2_000_000, using: &world.random))
            if world.counts.restarts < restartsMax, world.random.chance(1) { restart() }
            guard let index = members.indices.randomElement(using: &world.random) else { break }
            if world.random.chance(2), let link = members[index].client.link {
                world.reset(link, members[index].client)
            }
            step(index, action)
        }
        if world.violations.isEmpty { settle() }
        let violations = world.violations
        if let first = violations.first {
            let location = CodeLocation(
                fileID: fileID, filePath: filePath, line: line, column: column)
            report(text(first, violations.count, steps), at: location)
        }
        return violations
    }

    private func text(_ first: String, _ count: Int, _ steps: Int) -> String {
        "\(first)\n(\(count) findings; \(sentCount) of \(steps) actions by \(members.count) clients, "
            + "\(world.counts.resets) broken connections, \(world.counts.restarts) restarts; seed \(seed) "
            + "reproduces the run)"
    }

    private func begin() {
        for index in members.indices {
            let client = members[index].client
            client.act { machine in
                for path in ["/"] + traffic.map(\.path) {
                    machine.open(path) { [unowned self] in
                        members[index].nodes[path] = try? $0.get()
                    }
                }
                for follow in follows {
                    follow.begin(index, machine) { [unowned self] reader in
                        members[index].readers[follow.path] = reader
                    }
                }
            }
            client.onChange = { [unowned self] in look(index) }
        }
    }

    private func step(
        _ index: Int, _ action: (inout SeededRandom, Root.State) -> Root.Action?
    ) {
        if let other = traffic.first(where: { world.random.chance($0.percent) }) {
            return send(other.make(&world.random), to: other.path, index)
        }
        let state = mirrors[index]?.state ?? makeRoot().initialState
        guard let action = action(&world.random, state) else { return }
        send(action.wireBytes(), to: "/", index)
    }

    private func send(_ bytes: [UInt8], to path: String, _ index: Int) {
        guard let node = members[index].nodes[path] else { return }
        members[index].client.act { machine in
            do throws(ClientError) {
                var action = OutgoingAction(encoded: bytes, to: node)
                action.awaitsEffects = world.random.chance(10)
                try machine.submit(action) { [unowned self] outcome in
                    note(outcome, index)
                    if action.awaitsEffects { checkDone(outcome, index) }
                }
                sentCount += 1
            } catch {
                // A client whose queue is full skips the action, as an author's program would.
            }
        }
    }

    private func restart() {
        let tree = Tree(makeRoot(), epoch: world.newEpoch(), environment: effects.environment())
        ledger = StateLedger(tree)
        history.begin(tree)
        world.restart(tree)
    }
}

// MARK: - Checks
extension Simulation {
    private func look(at batch: Batch) {
        let bytes = batch.deltas.storage.span.extracting(batch.deltas.range)
        for change in ledger.read(bytes) {
            history.add(change, epoch: batch.epoch)
            guard change.node === world.server.tree.root, change.structure.isEmpty,
                let state = try? Root.State(wireBytes: change.after)
            else { continue }
            for (claim, holds) in invariants where !holds(state) {
                world.expect(
                    false,
                    "\"\(claim)\" does not hold after transaction \(change.sequence), "
                        + "\(WireValue.texts(of: change.mutations)): "
                        + WireValue.texts(of: change.after))
            }
        }
        for finding in ledger.takeFindings() { world.expect(false, finding) }
    }

    /// Checks a client's revision and mirrors after every change.
    private func look(_ index: Int) {
        let revision = members[index].client.machine.revision
        let before = members[index].shown
        guard revision != before else { return }
        members[index].shown = revision
        world.expect(
            revision.epoch != before.epoch || revision.sequence > before.sequence,
            "client \(index) went back from \(before) to \(revision)")
        for (path, read) in members[index].readers { compare(index, path, read, revision) }
    }

    private func compare(
        _ index: Int, _ path: String, _ read: () -> [UInt8], _ revision: Revision
    ) {
        guard let expected = history.state(at: path, revision) else { return }
        let got = read()
        world.expect(
            got == expected,
            "client \(index) shows another state of \(path) at \(revision) than the daemon had\n"
                + Difference(expected: expected, got: got).text)
    }

    private func note(_ outcome: ActionOutcome, _ index: Int) {
        guard let revision = outcome.revision else { return }
        world.expect(
            outcomes.insert(revision).inserted,
            "client \(index) has the outcome revision \(revision), which is that of another action")
    }

    /// Checks that a `perform` completed only after the action's effects had ended.
    private func checkDone(_ outcome: ActionOutcome, _ index: Int) {
        let tree = world.server.tree
        guard let revision = outcome.revision, revision.epoch == tree.revision.epoch else { return }
        world.expect(
            !tree.runsEffects(of: revision.sequence),
            "client \(index) has the outcome that the effects of \(revision) have ended, and they run"
        )
    }

    /// Ends the disturbances, runs on, and compares the final states.
    private func settle() {
        world.heal()
        world.run(for: 20_000_000_000)
        let target = world.server.tree.revision
        world.run(for: 5_000_000_000)
        for index in members.indices {
            let machine = members[index].client.machine
            world.expect(machine.phase == .live, "client \(index) has not come back")
            world.expect(
                machine.pendingCount == 0,
                "client \(index) still waits for \(machine.pendingCount) outcomes")
            let shown = machine.revision
            world.expect(
                shown.epoch == target.epoch && shown.sequence >= target.sequence,
                "client \(index) shows revision \(shown), long after \(target)")
            for follow in follows {
                guard let read = members[index].readers[follow.path] else {
                    world.expect(false, "client \(index) never got a mirror of \(follow.path)")
                    continue
                }
                compare(index, follow.path, read, shown)
            }
        }
    }
}
