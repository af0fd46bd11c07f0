import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorClient

/// Clients of a server with a history that crashes repeatedly, and the invariants.
final class HistoryCrowd {
    let world: SimulatedWorld
    let journal: SimulatedJournal
    /// The world in which promises and planned times run.
    private let effects = ManualWorld()
    let chronicle: Chronicle
    let ledger: OutcomeLedger
    var members: [Member] = []
    /// The last value given to an action; each is used once.
    var lastToken = 0
    var tokens = Tokens()
    var exchanges: [Linearization.Exchange] = []
    /// The highest sequence that any client has received.
    var toldSequence: UInt64 = 0
    /// Numbers of outcomes by kind.
    var counts = Counts()
    /// Whether the journal is relaxed and the power fails.
    let isRelaxed: Bool
    private(set) var hasEnded = false
    /// Whether a power cut lost acknowledged rows.
    private(set) var hasLost = false
    let size: Size

    /// The amount of work in a run.
    struct Size {
        var clients: Int
        var nanoseconds: UInt64
        var crashes: Int
        /// Number of times the disk is full.
        var fills: Int
        /// Maximum time in nanoseconds between two actions of a client.
        var pauseMax: UInt64
    }

    /// A client with its mirrors.
    struct Member {
        var client: SimulatedClient
        var nodes: [String: NodeID] = [:]
        /// Functions that return the encoded states of mirrors, by path.
        var readers: [String: () -> [UInt8]?] = [:]
        /// The results of requested mirrors, by path.
        var mirrorFates: [String: String] = [:]
        /// Values of slices by path, and the revision last shown of each.
        var feeds: [String: WatchFeed] = [:]
        var shownValues: [String: Revision] = [:]
        var shown = Revision(epoch: 0, sequence: 0)
        var lockTokens: [UInt64] = []
        var claims: [UInt64] = []
        var leases: [LeaseClaim] = []
        var waits = 0
        /// Whether the client leaves soon, with a goodbye.
        var isVisitor = false
    }

    /// Values appended to the list, by their outcome.
    struct Tokens {
        var applied: [Int: UInt64] = [:]
        var refused: Set<Int> = []
        var unknown: Set<Int> = []
        /// Sums added to two counters at once: acknowledged, pending, and unknown.
        var added: Int64 = 0
        var openAdded: Int64 = 0
        var unknownAdded: Int64 = 0
    }

    struct Counts {
        var applied = 0
        var rejected = 0
        var unknown = 0
    }

    /// Maximum number of clients in one run.
    private static let membersMax = 24

    static let paths = [
        "/left", "/right", "/map", "/list", "/set", "/value", "/jobs", "/lock", "/here", "/nest",
        "/nest/cells/a", "/nest/cells/b", "/nest/tally", "/nest/rooms/x",
    ]

    static func tree(epoch: UInt64, _ environment: TreeEnvironment = .inert) -> Tree {
        Tree(
            ReactorGroup([
                ("left", Counter()), ("right", Counter()), ("map", Map()), ("list", List()),
                ("set", MemberSet()), ("value", Value()), ("jobs", Queue()), ("lock", Lock()),
                ("here", Presence()), ("nest", Nest()),
            ]), epoch: epoch, environment: environment)
    }

    /// A new tree for a start of the daemon.
    private func newTree() -> Tree { Self.tree(epoch: 0, effects.environment()) }

    static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.queueBytesMax = 4_000
        limits.undrainedBytesMax = 4_000
        limits.writeBytesMax = 4_000
        limits.ringBytesMax = 20_000
        limits.snapshotCacheBytesMax = 20_000
        limits.inFlightMax = 40
        limits.sessionsMax = 5
        limits.handshakesMax = 2
        limits.framesPerTurnMax = 30
        return limits
    }

    init(seed: UInt64, size: Size? = nil, fault: PlantedFault? = nil) {
        var random = SeededRandom(seed: seed &* 0x2545_f491_4f6c_dd1d)
        self.size = size ?? Size.drawn(seed, &random)
        isRelaxed = random.chance(15) || fault == .keptEpoch
        let history = fault.flatMap { $0.isOfHistory ? $0 : nil }
        var habits = SimulatedHabits()
        habits.snapshotPercent = [1, 10, 40].randomElement(using: &random) ?? 10
        habits.gatherPercent = [20, 60, 100].randomElement(using: &random) ?? 60
        habits.gatherCountMax = [1, 5, 100].randomElement(using: &random) ?? 5
        habits.trimPercent = Int.random(in: 0...100, using: &random)
        habits.olderPercent = Int.random(in: 0...60, using: &random)
        journal = SimulatedJournal(
            seed: seed, epoch: seed | 1, habits: habits,
            faults: history.map { HistorySaboteur($0) })
        world = SimulatedWorld(
            seed: seed, Self.tree(epoch: seed | 1, effects.environment()), in: journal,
            limits: Self.limits, effects: effects, weather: .drawn(from: &random),
            faults: fault.map { Saboteur($0) })
        world.appends.limit(
            to: [0, 300_000, 3_000_000, 12_000_000].randomElement(using: &random) ?? 0)
        chronicle = Chronicle(world)
        ledger = OutcomeLedger(world)
        listen()
        for _ in 0..<self.size.clients { join(isVisitor: false) }
        visitLater()
        crashLater()
        fillLater()
    }

    private func listen() {
        var limits = Self.limits
        // Sessions of connected clients are not evicted, and remain when the clients leave.
        limits.sessionsMax = Self.membersMax
        world.hooks.check(MemoryAudit(limits, stateBytesMax: 64_000, turnBytesMax: 48_000))
        world.hooks.onBatch = { [unowned self] batch in
            let facts = (try? TurnFact.list(batch.facts.span)) ?? []
            ledger.note(facts)
            chronicle.note(batch, facts)
        }
        world.hooks.onWrite = { [unowned self] id, bytes in ledger.read(bytes, to: id) }
        world.hooks.onRecovered = { [unowned self] recovery in
            chronicle.compare(recovery)
            ledger.crash()
        }
        chronicle.confirmed = { [unowned self] secret in
            let member = members.first { $0.client.machine.figures.session == secret }
            return member?.client.machine.figures.contiguous ?? .max
        }
    }
}

extension HistoryCrowd.Size {
    /// Draws the size of a run: most are short, one in a hundred is long.
    static func drawn(_ seed: UInt64, _ random: inout SeededRandom) -> Self {
        let isLong = seed % 100 == 7
        return Self(
            clients: Int.random(in: 1...(isLong ? 6 : 3), using: &random),
            nanoseconds: isLong
                ? 200_000_000 : UInt64.random(in: 8...25, using: &random) * 1_000_000,
            crashes: Int.random(in: 1...(isLong ? 9 : 3), using: &random),
            fills: random.chance(30) ? Int.random(in: 1...2, using: &random) : 0,
            pauseMax: [1_000_000, 4_000_000, 8_000_000].randomElement(using: &random) ?? 4_000_000)
    }
}

// MARK: - Joining and leaving
extension HistoryCrowd {
    func join(isVisitor: Bool) {
        var options = ClientOptions(program: isVisitor ? "visitor" : "client")
        options.pauseMin = 500_000
        options.pauseMax = 10_000_000
        let client = world.client(options)
        let index = members.count
        members.append(Member(client: client, isVisitor: isVisitor))
        client.act { machine in
            for path in Self.paths where !isVisitor || world.random.chance(40) {
                open(path, machine, index)
            }
        }
        client.onChange = { [unowned self] in look(index) }
        if !isVisitor { mirrorSome(index) }
        if isVisitor { leaveLater(index) }
        work(index)
    }

    /// Opens a node for a client as soon as it exists.
    func open(_ path: String, _ machine: ClientMachine, _ index: Int) {
        machine.open(path) { [unowned self] in members[index].nodes[path] = try? $0.get() }
    }

    /// Makes a client follow the value at a path.
    private func watch(_ path: String, _ index: Int) {
        let feed = WatchFeed {}
        members[index].feeds[path] = feed
        members[index].client.act {
            $0.follow(path, .value, WatchSink(UInt64(index), feed))
        }
    }

    private func mirrorSome(_ index: Int) {
        if world.random.chance(50) {
            let paths = ["/left", "/map", "/value", "/list"]
            watch(paths[Int.random(in: 0..<paths.count, using: &world.random)], index)
        }
        mirror(Counter(), "/left", index)
        mirror(Nest(), "/nest", index)
        for _ in 0..<2 {
            switch Int.random(in: 0..<8, using: &world.random) {
            case 0: mirror(Map(), "/map", index)
            case 1: mirror(List(), "/list", index)
            case 2: mirror(MemberSet(), "/set", index)
            case 3: mirror(Queue(), "/jobs", index)
            case 4: mirror(Lock(), "/lock", index)
            case 5: mirror(Presence(), "/here", index)
            case 6: mirror(Counter(), "/nest/tally", index)
            default: mirror(Value(), "/value", index)
            }
        }
    }

    /// Makes a client mirror a path, and compares the mirror from then on.
    func mirror<R: Reactor>(_ reactor: R, _ path: String, _ index: Int) {
        guard members[index].mirrorFates.updateValue("asked for", forKey: path) == nil else {
            return
        }
        members[index].client.act { machine in
            machine.mirror(reactor, at: path) { [unowned self] in
                members[index].mirrorFates[path] = "\($0)"
                guard let mirror = try? $0.get() else { return }
                members[index].readers[path] = {
                    mirror.phase == .live ? mirror.state.wireBytes() : nil
                }
            }
        }
    }

    private func visitLater() {
        let pause = UInt64.random(in: 1_000_000...20_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.chance.isStormy, members.count < Self.membersMax else { return }
            join(isVisitor: true)
            visitLater()
        }
    }

    private func leaveLater(_ index: Int) {
        let pause = UInt64.random(in: 1_000_000...15_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.random.chance(50) else {
                // A program may die while it has half-closed and waits for an answer.
                let client = members[index].client
                return index.isMultiple(of: 2) ? client.vanish() : client.fade(for: 5_000_000)
            }
            members[index].client.act { $0.close() }
        }
    }

    // MARK: Crashes

    private func crashLater() {
        let pause = UInt64.random(
            in: 1_000_000...(size.nanoseconds / UInt64(size.crashes)), using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.chance.isStormy, !hasEnded else { return }
            crash()
            // A start may end before its first turn, or just after it.
            if world.random.chance(30) {
                let soon = UInt64.random(in: 0...400_000, using: &world.random)
                world.timeline.after(soon) { [unowned self] in
                    if world.chance.isStormy { crash() }
                }
            }
            crashLater()
        }
    }

    /// Fills the disk for some time, repeatedly.
    private func fillLater() {
        guard size.fills > 0 else { return }
        let pause = UInt64.random(
            in: 1_000_000...(size.nanoseconds / UInt64(size.fills)), using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.chance.isStormy, !hasEnded else { return }
            let length = UInt64.random(in: 0...6_000_000, using: &world.random)
            if !world.server.isReadOnly {
                hasEnded = !world.fillDisk(for: length, newTree())
            }
            fillLater()
        }
    }

    func crash() {
        guard !hasEnded else { return }
        let isPowerCut = isRelaxed && world.random.chance(50)
        let epoch = world.server.tree.revision.epoch
        hasEnded = !world.crash(isPowerCut: isPowerCut, newTree())
        if hasEnded || epoch != world.server.tree.revision.epoch { forgetTold() }
    }

    /// Forgets earlier outcomes, which may no longer hold after a history lost its end.
    private func forgetTold() {
        hasLost = true
        toldSequence = 0
    }
}

// MARK: - Checks at every moment
extension HistoryCrowd {
    /// Checks the invariants of every reader.
    private func look(_ index: Int) {
        let machine = members[index].client.machine
        let (revision, before) = (machine.revision, members[index].shown)
        guard revision != before else { return }
        members[index].shown = revision
        world.expect(
            revision.epoch != before.epoch || revision.sequence > before.sequence,
            "client \(index) went back from \(before) to \(revision)")
        guard revision.epoch == world.server.tree.revision.epoch else { return }
        compareValues(index)
        let paths = members[index].readers.keys.sorted()
        guard !paths.isEmpty else { return }
        compare(paths[Int(revision.sequence) % paths.count], index, revision)
    }

    /// Checks that each slice's value is a value that the server had, and never older than the
    /// slice's last value.
    private func compareValues(_ index: Int) {
        for (path, feed) in members[index].feeds.sorted(by: { $0.key < $1.key }) {
            guard let revision = feed.revision else { continue }
            let before = members[index].shownValues.updateValue(revision, forKey: path)
            if before == revision { continue }
            world.expect(
                before?.epoch != revision.epoch || revision.sequence >= before?.sequence ?? 0,
                "client \(index) shows \(path) of \(revision) after \(String(describing: before))")
            guard revision.epoch == world.server.tree.revision.epoch,
                chronicle.isKnown(revision.sequence), let shown = feed.bytes
            else { continue }
            compare(shown, path, revision, "client \(index) watches")
        }
    }

    /// Checks that the last values of all feeds equal the server's current values.
    func compareLastValues(_ index: Int, _ now: Revision) {
        for (path, feed) in members[index].feeds.sorted(by: { $0.key < $1.key }) {
            world.expect(feed.bytes != nil, "client \(index) never got a value of \(path)")
            compare(feed.bytes ?? [], path, now, "in the end client \(index) watches")
        }
    }

    func compare(_ path: String, _ index: Int, _ revision: Revision) {
        guard chronicle.isKnown(revision.sequence),
            let shown = members[index].readers[path]?()
        else { return }
        compare(shown, path, revision, "client \(index) shows")
    }

    /// Compares a client's state with the server's.
    private func compare(_ shown: [UInt8], _ path: String, _ revision: Revision, _ who: String) {
        let state = chronicle.state(at: path, revision.sequence)
        world.expect(
            shown == state,
            "\(who) another \(path) at \(revision) than the server's "
                + Self.difference(state ?? [], shown))
    }

    private static func difference(_ expected: [UInt8], _ got: [UInt8]) -> String {
        guard let expected = try? WireValue(wireBytes: expected.span),
            let got = try? WireValue(wireBytes: got.span)
        else { return "(\(expected.count) and \(got.count) bytes)" }
        return Difference(expected: expected, got: got).text
    }
}
