import ReactorBytes
import ReactorClient
import ReactorCore
import ReactorServer

/// One run of a ``Simulation``: the world, its clients, and the checks.
///
/// *Owner*: the test's isolation. ``perform(_:)`` and ``draw(_:_:)`` add steps, ``finish()`` ends
/// the run. The same setup and steps give the same run.
final class SimulationRun<Root: Reactor> {
    /// The steps so far.
    private(set) var trace = SimulationTrace()
    /// How often something happened.
    private(set) var counts = SimulationCounts()
    private let setup: SimulationSetup<Root>
    private let world: SimulatedWorld
    private let effects: ManualWorld
    private let record = TreeRecord()
    private let lookups: SimulatedLookups
    private var members: [SimulatedMember] = []
    /// Revisions that clients received as outcomes.
    private var revisions: Set<Revision> = []
    /// Sent and applied actions by the path of their traffic.
    private var tallies: [String: SimulationCounts] = [:]
    /// Fingerprints of the mirrored reactors in the first version, by path.
    private var fingerprints: [String: UInt64] = [:]
    private var isUpgraded = false
    /// The condition that was violated first.
    private var brokenClaim: String?
    /// Time since the last step, if no event followed it.
    private var pause: UInt64 = 0

    init(_ setup: SimulationSetup<Root>) {
        self.setup = setup
        lookups = SimulatedLookups(
            collections: setup.collections, isUpgraded: setup.makeNext != nil)
        effects = ManualWorld(seed: setup.seed)
        let tree = Tree(
            setup.makeRoot(), epoch: setup.seed | 1, environment: effects.environment())
        let begin = { [record] (recovery: Recovery) in record.begin(recovery.tree) }
        if setup.keepsHistory {
            world = SimulatedWorld(
                seed: setup.seed, tree,
                in: SimulatedJournal(seed: setup.seed, epoch: setup.seed | 1),
                limits: setup.limits, effects: effects, weather: SimulatedWeather(),
                onRecovered: begin)
        } else {
            record.begin(tree)
            world = SimulatedWorld(
                seed: setup.seed, tree, limits: setup.limits, effects: effects)
        }
        world.appends.limit(to: setup.journalDelayMax)
        world.hooks.onRecovered = begin
        world.hooks.onBatch = { [unowned self] batch in look(at: batch) }
        for follow in setup.follows {
            let node = (try? SlicePath(follow.path)).flatMap { tree.node(at: $0) }
            fingerprints[follow.path] = node?.fingerprint
        }
        for index in 0..<setup.clientCount { members.append(join(index)) }
    }

    /// Violations so far, with their times.
    var violations: [String] { world.violations }

    /// Names the condition that was violated first; nil without violations.
    var failure: String? { violations.isEmpty ? nil : brokenClaim ?? "the protocol" }

    /// Whether the run exercises too little, and violates nothing else.
    var lacksTraffic: Bool { brokenClaim == Self.trafficClaim }

    private static var trafficClaim: String { "enough traffic" }
    private static var lookupClaim: String { "look-ups find what they name" }

    private func expect(
        _ condition: Bool, _ claim: String, _ text: @autoclosure () -> String
    ) {
        if !condition, violations.isEmpty { brokenClaim = claim }
        world.expect(condition, text())
    }
}

// MARK: - Steps
extension SimulationRun {
    /// Draws the step `index` of a run of `stepCount` steps, and performs it.
    func draw(
        _ random: inout SeededRandom, _ index: Int, of stepCount: Int,
        _ action: (inout SeededRandom, Root.State) -> Root.Action?
    ) {
        let time = UInt64.random(in: 0...setup.pauseMax, using: &random)
        world.run(for: time)
        pause += time
        // About twice the maximum number of events is drawn, so that few runs have none.
        func isDue(_ count: Int, _ countMax: Int) -> Bool {
            count < countMax && Int.random(in: 0..<max(stepCount, 1), using: &random) < 2 * countMax
        }
        if counts.restarts < setup.restartsMax, random.chance(1) { add(.restart) }
        if isDue(counts.recoveries, setup.recoveriesMax) { add(.recover) }
        // Each version gets at least a third of the steps.
        if setup.makeNext != nil, !isUpgraded, index >= stepCount / 3,
            isDue(0, 1) || index > stepCount * 2 / 3
        {
            add(.upgrade)
        }
        guard let client = members.indices.randomElement(using: &random) else { return }
        if random.chance(2) { add(.disconnect(client: client)) }
        if isDue(counts.deaths, setup.deathsMax) { add(.die(client: client)) }
        if let drawn = drawAction(of: client, &random, action) { add(.send(drawn)) }
    }

    private func drawAction(
        of client: Int, _ random: inout SeededRandom,
        _ action: (inout SeededRandom, Root.State) -> Root.Action?
    ) -> SimulatedAction? {
        let view = view(client, members[client])
        let awaitsEffects = random.chance(10)
        var left = Int.random(in: 0..<100, using: &random)
        for traffic in setup.traffic {
            left -= traffic.percent
            guard left < 0 else { continue }
            switch traffic.draw(&random, view) {
            case .parts(let parts):
                return SimulatedAction(
                    client: client, parts: parts, type: traffic.type,
                    awaitsEffects: awaitsEffects, origin: traffic.path)
            case .noChild:
                count(traffic.path) { $0.unsent += 1 }
                return nil
            case nil: return nil
            }
        }
        let state = view.state(of: Root.self) ?? setup.makeRoot().initialState
        guard let action = action(&random, state) else { return nil }
        return SimulatedAction(
            client: client, parts: [SimulatedAction.Part(action, to: "/")],
            type: ObjectIdentifier(Root.self), awaitsEffects: awaitsEffects, origin: "/")
    }

    private func add(_ event: SimulatedEvent) {
        let step = SimulatedStep(pause: pause, event: event)
        pause = 0
        cause(step)
    }

    /// Lets time pass, and causes the step's event.
    func perform(_ step: SimulatedStep) {
        world.run(for: step.pause)
        cause(step)
    }

    private func cause(_ step: SimulatedStep) {
        let index = trace.add(step)
        switch step.event {
        case .send(let action): send(action, index)
        case .disconnect(let client):
            if let link = members[client].client.link {
                counts.brokenConnections += 1
                world.reset(link, members[client].client)
            }
        case .die(let client):
            counts.deaths += 1
            members[client].client.vanish()
            members[client] = join(client)
        case .restart:
            counts.restarts += 1
            let tree = tree(of: nextRoot(), epoch: world.newEpoch())
            if !setup.keepsHistory { record.begin(tree) }
            world.restart(tree)
        case .recover:
            counts.recoveries += 1
            world.crash(tree(of: nextRoot(), epoch: 0))
        case .upgrade:
            isUpgraded = true
            world.crash(tree(of: nextRoot(), epoch: 0))
        }
    }

    private func nextRoot() -> any Reactor {
        if isUpgraded, let next = setup.makeNext?() { return next }
        return setup.makeRoot()
    }

    private func tree(of root: some Reactor, epoch: UInt64) -> Tree {
        Tree(root, epoch: epoch, environment: effects.environment())
    }

    private func count(_ path: String, _ change: (inout SimulationCounts) -> Void) {
        change(&counts)
        change(&tallies[path, default: SimulationCounts()])
    }
}

// MARK: - Clients
extension SimulationRun {
    /// Connects the client with this number.
    private func join(_ index: Int) -> SimulatedMember {
        var options = ClientOptions()
        options.pauseMin = 5_000_000
        options.pauseMax = 100_000_000
        let member = SimulatedMember(world.client(options))
        member.client.act { machine in
            for follow in setup.follows {
                follow.begin(machine) { [unowned member] in member.keep($0, of: follow.path) }
            }
        }
        for pattern in setup.collections { member.follow(pattern) }
        member.client.onChange = { [unowned self, unowned member] in look(index, member) }
        return member
    }

    private func view(_ index: Int, _ member: SimulatedMember) -> SimulatedView {
        SimulatedView(index, member, record.model, of: world.server.tree)
    }

    private func send(_ action: SimulatedAction, _ index: Int) {
        let member = members[action.client]
        member.client.act { [unowned self] _ in open(action, index, member, []) }
    }

    /// Makes the nodes of the action's parts addressable, one after the other, and submits it.
    private func open(
        _ action: SimulatedAction, _ index: Int, _ member: SimulatedMember, _ holds: [NodeHold]
    ) {
        guard holds.count < action.parts.count else { return submit(action, index, member, holds) }
        member.client.machine.hold(action.parts[holds.count].path) {
            [unowned self, unowned member] result in
            do throws(ClientError) {
                open(action, index, member, holds + [try result.get()])
            } catch {
                miss(action, index, error)
            }
        }
    }

    private func submit(
        _ action: SimulatedAction, _ index: Int, _ member: SimulatedMember, _ holds: [NodeHold]
    ) {
        do throws(ClientError) {
            let outgoing = action.outgoing(to: holds.map(\.node))
            try member.client.machine.submit(outgoing) { [unowned self, unowned member] outcome in
                for hold in holds { hold.keep() }
                conclude(action, index, member, outcome)
            }
            count(action.origin) { $0.sent += 1 }
        } catch {
            // A client whose queue is full skips the action, as an author's program would.
            miss(action, index, error)
        }
    }

    private func miss(_ action: SimulatedAction, _ index: Int, _ error: ClientError) {
        trace.conclude(index, "not sent, \(error)")
        count(action.origin) { $0.unsent += 1 }
    }

    private func conclude(
        _ action: SimulatedAction, _ index: Int, _ member: SimulatedMember,
        _ outcome: ActionOutcome
    ) {
        trace.conclude(index, outcome.shortText)
        member.conclude(action, outcome)
        let client = action.client
        if case .rejected = outcome { count(action.origin) { $0.rejected += 1 } }
        if let revision = outcome.revision {
            count(action.origin) { $0.applied += 1 }
            // A deferred answer has the revision of the action that led to it.
            expect(
                outcome.hasReply || revisions.insert(revision).inserted,
                "one revision for each action",
                "client \(client) has the outcome revision \(revision), which is that of another "
                    + "action")
            if action.awaitsEffects { checkDone(revision, client) }
        }
        check(client, member)
    }
}

// MARK: - Checks at every step
extension SimulationRun {
    private func look(at batch: Batch) {
        let findings = record.read(batch) { transaction in
            for change in transaction.changes { checkRoot(change) }
            guard !setup.treeConditions.isEmpty else { return }
            let revision = Revision(epoch: batch.epoch, sequence: transaction.sequence)
            let tree = SimulatedTree(record.model, revision, of: world.server.tree, lookups)
            for condition in setup.treeConditions { check(condition, tree, transaction) }
        }
        lookups.lookAtCollections(of: record.model)
        for finding in findings { expect(false, "reduce is a function", finding) }
    }

    private func check(
        _ condition: SimulationSetup<Root>.Condition<SimulatedTree>, _ tree: SimulatedTree,
        _ transaction: TreeRecord.Transaction
    ) {
        lookups.begin(condition.claim)
        let holds = condition.holds(tree)
        // A look-up of another type is the cause of whatever the condition found.
        if let mistake = lookups.takeMistake() { expect(false, Self.lookupClaim, mistake) }
        expect(
            holds, condition.claim,
            "\"\(condition.claim)\" does not hold after transaction \(transaction.sequence), "
                + transaction.changes.map(\.text).joined(separator: "; "))
    }

    private func checkRoot(_ change: NodeChange) {
        guard change.node is Node<Root>, change.node.parent == nil,
            let state = try? Root.State(wireBytes: change.after)
        else { return }
        for condition in setup.rootConditions where !condition.holds(state) {
            expect(
                false, condition.claim,
                "\"\(condition.claim)\" does not hold after transaction \(change.sequence), "
                    + "\(WireValue.texts(of: change.mutations)): "
                    + WireValue.texts(of: change.after))
        }
    }

    /// Checks a client's revision and mirrors after every change.
    private func look(_ index: Int, _ member: SimulatedMember) {
        let revision = member.client.machine.revision
        guard revision != member.shown else { return }
        let before = member.show(revision)
        expect(
            revision.epoch != before.epoch || revision.sequence > before.sequence,
            "revisions never decrease", "client \(index) went back from \(before) to \(revision)")
        for (path, reader) in member.readers { compare(index, path, reader, revision) }
        check(index, member)
    }

    private func check(_ index: Int, _ member: SimulatedMember) {
        if setup.clientConditions.isEmpty { return }
        let view = view(index, member)
        for condition in setup.clientConditions where !condition.holds(view) {
            expect(
                false, condition.claim,
                "\"\(condition.claim)\" does not hold for client \(index), which shows revision "
                    + "\(view.revision.sequence)")
        }
    }

    private func compare(
        _ index: Int, _ path: String, _ reader: SimulatedMember.Reader, _ revision: Revision
    ) {
        guard isOfFirstVersion(path), let expected = record.state(at: path, revision) else {
            return
        }
        let got = reader.bytes()
        expect(
            got == expected, "mirrors show states of the daemon",
            "client \(index) shows another state of \(path) at \(revision) than the daemon had\n"
                + Difference(expected: expected, got: got).text)
    }

    /// Whether the reactor at `path` is of the type that the clients mirror.
    private func isOfFirstVersion(_ path: String) -> Bool {
        guard isUpgraded, let place = try? SlicePath(path) else { return true }
        return world.server.tree.node(at: place)?.fingerprint == fingerprints[path]
    }

    /// Checks that a `perform` completed only after the action's effects had ended.
    private func checkDone(_ revision: Revision, _ index: Int) {
        let tree = world.server.tree
        guard revision.epoch == tree.revision.epoch else { return }
        expect(
            !tree.runsEffects(of: revision.sequence), "perform waits for effects",
            "client \(index) has the outcome that the effects of \(revision) have ended, and they "
                + "run")
    }
}

// MARK: - The end
extension SimulationRun {
    /// Ends the disturbances, runs on, and compares the final states.
    func finish() {
        world.heal()
        world.run(for: 20_000_000_000)
        let target = world.server.tree.revision
        world.run(for: 5_000_000_000)
        counts.unanswered = members.reduce(0) { $0 + $1.client.machine.pendingCount }
        for (index, member) in members.enumerated() { compareAtEnd(index, member, target) }
        checkOwners()
        guard violations.isEmpty else { return }
        for demand in setup.demands { check(demand) }
        guard violations.isEmpty else { return }
        lookups.lookAtCollections(of: record.model)
        for text in lookups.unmatched { expect(false, Self.trafficClaim, text) }
    }

    private func compareAtEnd(_ index: Int, _ member: SimulatedMember, _ target: Revision) {
        let machine = member.client.machine
        expect(machine.phase == .live, "clients return", "client \(index) has not come back")
        expect(
            machine.pendingCount == 0
                || machine.pendingCount
                    <= machine.welcome.map { world.server.deferredCount(of: $0.client) } ?? 0,
            "actions have outcomes",
            "client \(index) still waits for \(machine.pendingCount) outcomes")
        let shown = machine.revision
        expect(
            shown.epoch == target.epoch && shown.sequence >= target.sequence, "mirrors converge",
            "client \(index) shows revision \(shown), long after \(target)")
        for follow in setup.follows {
            if let reader = member.readers[follow.path] {
                compare(index, follow.path, reader, shown)
            } else {
                // The next version refuses clients of the first one a mirror of another type.
                expect(
                    !isOfFirstVersion(follow.path), "clients get mirrors",
                    "client \(index) never got a mirror of \(follow.path)")
            }
        }
        for pattern in setup.collections { compareChildren(index, member, pattern) }
    }

    private func compareChildren(_ index: Int, _ member: SimulatedMember, _ pattern: String) {
        guard let place = PathPattern(pattern)?.fixed,
            let node = world.server.tree.node(at: place), node.isCollection
        else {
            return expect(
                false, "collections exist",
                "\(pattern) names no collection: write the path of a collection, with * for a key")
        }
        var writer = WireWriter()
        node.encodeValue(into: &writer)
        let expected = (try? WireValue(wireBytes: writer.bytes)) ?? .null
        let got = member.value(at: pattern) ?? .null
        expect(
            got == expected, "collections converge",
            "client \(index) shows other children of \(place) than the daemon has\n"
                + Difference(expected: expected, got: got).text)
    }

    /// Checks that connections that have ended own nothing.
    private func checkOwners() {
        for case .own(let node, let key, let connection, _) in world.server.tree.copyOwnership()()
        where !world.isOpen(connection) {
            let path = world.server.tree.node(node)?.path ?? .root
            expect(
                false, "ownership ends with its connection",
                "connection \(connection) has ended, and still owns \(key.text) of \(path)")
        }
    }

    private func check(_ demand: SimulationSetup<Root>.Demand) {
        let tally = tallies[demand.path] ?? SimulationCounts()
        let isMet = tally.sent >= demand.sentMin && tally.applied >= demand.appliedMin
        expect(
            isMet, Self.trafficClaim,
            "too little was exercised at \(demand.path): \(tally.sent) actions were sent, of "
                + "\(demand.sentMin) demanded, and \(tally.applied) applied, of "
                + "\(demand.appliedMin); \(tally.rejected) were rejected, and \(tally.unsent) "
                + "had no recipient: send more, or lead the other actions to create recipients")
    }
}
