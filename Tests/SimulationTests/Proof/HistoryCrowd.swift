import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorClient

/// Clients of a server that keeps history, and dies again and again; and what must hold all along.
final class HistoryCrowd {
    let world: SimulatedWorld
    let journal: SimulatedJournal
    /// Where promises are kept, and planned times come.
    private let effects = ManualWorld()
    let chronicle: Chronicle
    let ledger: OutcomeLedger
    var members: [Member] = []
    /// Values given to actions so far, each once.
    var lastToken = 0
    var tokens = Tokens()
    var exchanges: [Linearization.Exchange] = []
    /// The highest sequence that anybody was told so far.
    var toldSequence: UInt64 = 0
    /// Outcomes by what they were.
    var counts = Counts()
    /// Whether the journal does not wait for the disk, and the power fails.
    let isRelaxed: Bool
    private(set) var hasEnded = false
    /// Whether a power cut took back what had been told.
    private(set) var hasLost = false
    let size: Size

    /// How much happens.
    struct Size {
        var clients: Int
        var nanoseconds: UInt64
        var crashes: Int
        /// How often the disk is full.
        var fills: Int
        /// Nanoseconds between two of a client's looks at its work, at most.
        var pauseMax: UInt64
    }

    /// A client, and what it shows.
    struct Member {
        var client: SimulatedClient
        var nodes: [String: NodeID] = [:]
        /// Encoded states of mirrors, by path.
        var readers: [String: () -> [UInt8]?] = [:]
        /// What became of the mirrors it wants, by path.
        var mirrorFates: [String: String] = [:]
        /// Values of slices, by path, and when they were shown last.
        var feeds: [String: WatchFeed] = [:]
        var shownValues: [String: Revision] = [:]
        var shown = Revision(epoch: 0, sequence: 0)
        var lockTokens: [UInt64] = []
        var claims: [UInt64] = []
        var leases: [LeaseClaim] = []
        var waits = 0
        /// Whether it leaves soon, and says so.
        var isVisitor = false
    }

    /// What was put into the list, as its senders know.
    struct Tokens {
        var applied: [Int: UInt64] = [:]
        var refused: Set<Int> = []
        var unknown: Set<Int> = []
        /// Sums put into two counters at once: told, not told yet, and unknown.
        var added: Int64 = 0
        var openAdded: Int64 = 0
        var unknownAdded: Int64 = 0
    }

    struct Counts {
        var applied = 0
        var rejected = 0
        var unknown = 0
    }

    /// Clients that come in one run, at most.
    private static let membersMax = 24

    static let paths = [
        "/left", "/right", "/map", "/list", "/set", "/value", "/jobs", "/lock", "/here", "/nest",
        "/nest/cells/a", "/nest/cells/b", "/nest/tally", "/nest/rooms/x",
    ]

    static func tree(epoch: UInt64, _ environment: TreeEnvironment = .inert) -> Tree {
        Tree(
            Group([
                ("left", Counter()), ("right", Counter()), ("map", Map()), ("list", List()),
                ("set", MemberSet()), ("value", Value()), ("jobs", Queue()), ("lock", Lock()),
                ("here", Presence()), ("nest", Nest()),
            ]), epoch: epoch, environment: environment)
    }

    /// What a start of the daemon begins with.
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
        journal = SimulatedJournal(seed: seed, epoch: seed | 1, fault: history)
        journal.snapshotPercent = [1, 10, 40].randomElement(using: &random) ?? 10
        journal.gatherPercent = [20, 60, 100].randomElement(using: &random) ?? 60
        journal.gatherCountMax = [1, 5, 100].randomElement(using: &random) ?? 5
        journal.trimPercent = Int.random(in: 0...100, using: &random)
        journal.olderPercent = Int.random(in: 0...60, using: &random)
        world = SimulatedWorld(
            seed: seed, Self.tree(epoch: seed | 1, effects.environment()), in: journal,
            limits: Self.limits, effects: effects, weather: .drawn(from: &random), fault: fault)
        world.journalDelayMax =
            [0, 300_000, 3_000_000, 12_000_000].randomElement(using: &random) ?? 0
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
        // because those who are there are not evicted, and stay when they leave
        limits.sessionsMax = Self.membersMax
        world.audit = MemoryAudit(limits, stateBytesMax: 64_000, turnBytesMax: 48_000)
        world.onBatch = { [unowned self] batch in
            let facts = (try? TurnFact.list(batch.facts.span)) ?? []
            ledger.note(facts)
            chronicle.note(batch, facts)
        }
        world.onWrite = { [unowned self] id, bytes in ledger.read(bytes, to: id) }
        world.onRecovered = { [unowned self] recovery in
            chronicle.compare(recovery)
            ledger.crash()
        }
        chronicle.confirmed = { [unowned self] secret in
            let member = members.first { $0.client.machine.session == secret }
            return member?.client.machine.pending.contiguous ?? .max
        }
    }
}

extension HistoryCrowd.Size {
    /// Most runs are short; one in a hundred is long.
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

// MARK: - Those who come and go
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

    /// Has a client name a node, as soon as there is one at the path.
    func open(_ path: String, _ machine: ClientMachine, _ index: Int) {
        machine.open(path) { [unowned self] in members[index].nodes[path] = try? $0.get() }
    }

    /// Has a client follow the value at a path.
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

    /// Has a client mirror what stands at a path, and be compared from then on.
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
            guard world.isStormy, members.count < Self.membersMax else { return }
            join(isVisitor: true)
            visitLater()
        }
    }

    private func leaveLater(_ index: Int) {
        let pause = UInt64.random(in: 1_000_000...15_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.random.chance(50) else {
                // because a program may die while it has half-closed and waits for an answer
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
            guard world.isStormy, !hasEnded else { return }
            crash()
            // because a start may end before its first turn, or just behind it
            if world.random.chance(30) {
                let soon = UInt64.random(in: 0...400_000, using: &world.random)
                world.timeline.after(soon) { [unowned self] in if world.isStormy { crash() } }
            }
            crashLater()
        }
    }

    /// Has the disk be full for a while, now and then.
    private func fillLater() {
        guard size.fills > 0 else { return }
        let pause = UInt64.random(
            in: 1_000_000...(size.nanoseconds / UInt64(size.fills)), using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.isStormy, !hasEnded else { return }
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

    /// What was told of a history that lost its end may be true no more.
    private func forgetTold() {
        hasLost = true
        toldSequence = 0
    }
}

// MARK: - At every moment
extension HistoryCrowd {
    /// What every reader may rely on at every moment.
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

    /// What is shown of a slice's value is what stood there, and none older than before.
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

    /// What everybody watches is what stands there now.
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

    /// Compares a state that somebody shows with the one that the server had.
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
