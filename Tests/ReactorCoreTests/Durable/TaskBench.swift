import ReactorCore
import Synchronization

/// A tree whose planned times run when the test checks, at the time of day that the test sets.
final class TaskBench {
    let tree: Tree
    let world: TaskWorld
    private let manual = ManualWorld()
    private let places: [NodeRecord]
    private var facts: [TaskFact] = []
    private var deltas: [UInt8] = []

    /// Serves `root`, recovered from the facts and deltas of `former`.
    init(
        _ root: some Reactor, at time: Int64 = 0, after former: TaskBench? = nil
    ) throws {
        world = TaskWorld(time)
        let (manual, world) = (manual, world)
        let environment = TreeEnvironment(
            post: manual.environment.post, spawn: manual.environment.spawn,
            clock: TreeClock(InstantClock(world)), wallClock: { world.time })
        tree = Tree(root, epoch: 1, environment: environment)
        places = tree.staticRecords
        if let former {
            let recovery = TreeRecovery(of: tree)
            try recovery.assign(former.places)
            try recovery.replay(former.deltas.span)
            // Facts may be replayed twice, if a snapshot already contains them.
            for fact in former.facts + former.facts.suffix(2) { recovery.replay(fact) }
            try recovery.finish(epoch: 1, sequence: former.tree.turn.sequence)
            (facts, deltas) = (former.facts, former.deltas)
        }
        tree.turn.recordFacts()
        tree.resumeTasks()
        tree.open()
        commit()
    }

    /// The pending promises.
    var promised: [String] {
        tree.copyTasks()().map { fact in
            switch fact {
            case .timer(_, let name, let id, let planned, _, _, _, _): "\(name)#\(id) at \(planned)"
            case .effect(_, let name, let id, _): "\(name)#\(id)"
            case .done(_, let name): "done \(name)"
            }
        }
    }

    /// Ends the turn as committed, and starts the work that waited for the commit.
    func commit() {
        facts += tree.turn.facts.compactMap { if case .task(let fact) = $0 { fact } else { nil } }
        deltas += tree.turn.deltaBytes
        let effects = tree.turn.effects
        tree.turn.begin()
        tree.start(effects)
    }

    func send(_ action: some WireCodable) throws -> String {
        defer { commit() }
        return try tree.send(action)
    }

    /// Runs pending work to its end, and commits the results.
    func run() async {
        await manual.runEffects()
        manual.deliver(to: tree)
        commit()
    }
}

/// The time of day, and the requested waits.
final class TaskWorld: Sendable {
    private let state: Mutex<(time: Int64, waits: [Duration])>

    init(_ time: Int64) { state = Mutex((time, [])) }

    var time: Int64 {
        get { state.withLock { $0.time } }
        set { state.withLock { $0.time = newValue } }
    }

    var waits: [Duration] { state.withLock { $0.waits } }

    func wait(_ duration: Duration) { state.withLock { $0.waits.append(duration) } }
}

/// A clock whose sleeps return immediately.
struct InstantClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let world: TaskWorld

    init(_ world: TaskWorld) { self.world = world }

    var now: Instant { Instant(offset: .zero) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        world.wait(deadline.offset)
        try Task.checkCancellation()
    }
}
