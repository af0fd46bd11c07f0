public import ReactorClient
public import ReactorCore
public import ReactorServer
import ReactorThreads

/// A daemon in memory with any number of clients: the real server and the real client machines,
/// without sockets, threads and waiting.
///
///     let daemon = TestDaemon(Counter())
///     let ann = daemon.connect()
///     let bob = daemon.connect()
///     let shown = try ann.mirror(Counter.self)
///     _ = try bob.dispatch(Counter.Action.increment(by: 2))
///     #expect(shown.state.count == 2)
///
/// When a call returns, all its consequences have happened, except those that need time, which
/// ``advance(by:)`` brings. To test splits, delays and broken connections, use ``Simulation``.
///
/// *Owner*: the test's isolation.
public final class TestDaemon {
    let effects: ManualWorld
    let world: SimulatedWorld
    private var lastEpoch: UInt64
    private var root: any Reactor

    /// Starts a daemon of `root` with the given epoch, which also selects the numbers of
    /// ``ReactorContext/random``. It keeps its history in memory.
    public init(
        _ root: some Reactor, epoch: UInt64 = 1, limits: ServerLimits = ServerLimits()
    ) {
        lastEpoch = epoch
        self.root = root
        effects = ManualWorld(seed: epoch)
        var habits = SimulatedHabits()
        habits.snapshotPercent = 0
        world = SimulatedWorld(
            seed: epoch, Tree(root, epoch: epoch, environment: effects.environment()),
            in: SimulatedJournal(seed: epoch, epoch: epoch, habits: habits), limits: limits,
            effects: effects, isCalm: true, weather: SimulatedWeather())
        settle()
    }

    /// The daemon's tree of reactors.
    public var tree: Tree { world.server.tree }

    /// The clock that the tree's effects use.
    public var clock: ManualClock { effects.clock }

    /// Connects another client.
    public func connect(_ options: ClientOptions = ClientOptions()) -> TestClient {
        var options = options
        options.clock = TreeClock(clock)
        options.spawn = TreeEnvironment.spawn(on: effects.executor)
        let client = TestClient(self, world.client(options), options)
        settle()
        return client
    }

    /// The state of the reactor of type `type` at `path`, or nil if there is none.
    public func state<R: Reactor>(of type: R.Type, at path: String = "/") -> R.State? {
        let node = (try? SlicePath(path)).flatMap { tree.node(at: $0) }
        return (node as? Node<R>)?.state
    }

    /// The derived value of type `type` at `path`, or nil if there is none.
    public func value<Value: WireCodable>(of type: Value.Type, at path: String) -> Value? {
        let node = (try? SlicePath(path)).flatMap { tree.node(at: $0) }
        guard let node, node.isDerived else { return nil }
        return try? Value(wireBytes: StateLedger.state(of: node))
    }

    /// Advances the time for effects, for clients' pauses, and for the server's deadlines.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        world.run(
            for: UInt64(clamping: seconds) * 1_000_000_000
                + UInt64(clamping: attoseconds / 1_000_000_000))
    }

    /// Does all pending work. Call it after an object outside, such as a ``Stub`` or a mirror,
    /// has posted work.
    public func settle() { world.run(for: 0) }

    /// Runs asynchronous code that waits for the daemon, and returns its result:
    ///
    ///     let outcome = try daemon.run { await shown.dispatch(.increment(by: 2)) }
    ///
    /// If the code still waits when no more work is pending, the time advances by `duration`.
    /// *Throws*: errors of `body`; ``StillWaiting`` if the code still waits after that, which
    /// also cancels it.
    public func run<Value: Sendable>(
        for duration: Duration = .zero, _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let result = Guarded<Result<Value, any Error>?>(nil)
        let task = Task(executorPreference: effects.executor) {
            let end: Result<Value, any Error>
            do { end = .success(try await body()) } catch { end = .failure(error) }
            result.withLock { $0 = end }
        }
        settle()
        if result.withLock({ $0 == nil }) { advance(by: duration) }
        guard let end = result.withLock({ $0 }) else {
            task.cancel()
            settle()
            throw StillWaiting(duration: duration)
        }
        return try end.get()
    }

    /// Replaces the daemon by a new daemon of `root`; the state of the old one is lost.
    ///
    /// Clients reconnect by themselves, after a pause: ``advance(by:)``.
    public func restart(_ root: some Reactor) {
        lastEpoch += 1
        self.root = root
        world.restart(Tree(root, epoch: lastEpoch, environment: effects.environment()))
        settle()
    }

    /// Restarts the daemon with its history, as after a crash: states, sessions, outcomes and plans
    /// continue, effects end, and what connections owned is released.
    ///
    /// Clients reconnect by themselves, after a pause: ``advance(by:)``.
    /// *Throws*: ``UnreadableHistory`` if the reactor does not accept what it has written.
    public func restart() throws(UnreadableHistory) { try recover(root) }

    /// Restarts the daemon with its history, and with `next` as its root: the next version of the
    /// reactor.
    ///
    /// *Throws*: ``UnreadableHistory`` if `next` cannot continue the history; the daemon then
    /// serves no client any more.
    public func upgrade(to next: some Reactor) throws(UnreadableHistory) {
        root = next
        try recover(next)
    }

    private func recover(_ root: some Reactor) throws(UnreadableHistory) {
        _ = tree.dismissEffects()
        let tree = Tree(root, epoch: 0, environment: effects.environment())
        guard world.crash(tree) else {
            throw UnreadableHistory(reason: world.violations.last ?? "")
        }
        settle()
    }
}

/// Thrown if a reactor cannot continue the history of a ``TestDaemon``.
public struct UnreadableHistory: Error, Equatable, CustomStringConvertible {
    /// The part of the history that cannot be read, and why.
    public var reason: String

    public var description: String { "the history cannot be continued: \(reason)" }
}

/// Thrown by ``TestDaemon/run(for:_:)`` if the code has not ended in time.
public struct StillWaiting: Error, Equatable, CustomStringConvertible {
    /// The time that passed.
    public var duration: Duration

    public var description: String {
        "the code still waits, after all that could be done within \(duration)"
    }
}
