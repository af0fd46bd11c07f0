public import ReactorClient
public import ReactorCore
public import ReactorServer
import ReactorThreads

/// A daemon in memory with any number of clients: the real server and the real client machines, with
/// no socket, no thread and no waiting between them.
///
///     let daemon = TestDaemon(Counter())
///     let ann = daemon.connect()
///     let bob = daemon.connect()
///     let shown = try ann.mirror(Counter.self)
///     _ = try bob.dispatch(Counter.Action.increment(by: 2))
///     #expect(shown.state.count == 2)
///
/// When a call returns, all that follows from it has happened, up to what needs time:
/// ``advance(by:)`` brings that. A bad journey (splits, delays, broken connections) is what
/// ``Simulation`` is for.
///
/// *Owner*: the test's isolation.
public final class TestDaemon {
    let effects = ManualWorld()
    let world: SimulatedWorld
    private var lastEpoch: UInt64

    /// Starts a daemon of `root`, at an epoch of its own.
    public init(
        _ root: some Reactor, epoch: UInt64 = 1, limits: ServerLimits = ServerLimits()
    ) {
        lastEpoch = epoch
        let tree = Tree(root, epoch: epoch, environment: effects.environment())
        world = SimulatedWorld(
            seed: epoch, tree, limits: limits, effects: effects, isCalm: true)
        settle()
    }

    /// The tree of reactors.
    public var tree: Tree { world.server.tree }

    /// The time by which the tree's effects wait.
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

    /// The state of the reactor of type `type` at `path`, if one stands there.
    public func state<R: Reactor>(of type: R.Type, at path: String = "/") -> R.State? {
        let node = (try? SlicePath(path)).flatMap { tree.node(at: $0) }
        return (node as? Node<R>)?.state
    }

    /// Lets time pass, for effects, for the pauses of clients, for the server's own deadlines.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        world.run(
            for: UInt64(clamping: seconds) * 1_000_000_000
                + UInt64(clamping: attoseconds / 1_000_000_000))
    }

    /// Does all that can be done now: after something outside, a ``Stub`` or a mirror for one, posted
    /// to it.
    public func settle() { world.run(for: 0) }

    /// Runs code that waits for the daemon, and gives what comes of it:
    ///
    ///     let outcome = try daemon.run { await shown.dispatch(.increment(by: 2)) }
    ///
    /// Where it has not ended when nothing more can be done now, `duration` passes at once.
    /// *Throws*: what `body` throws; ``StillWaiting`` where it has not ended even then, and is
    /// cancelled.
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

    /// Starts another daemon, of `root`, in the place of this, which is gone with all it knew.
    ///
    /// Clients come back by themselves, after a pause: ``advance(by:)``.
    public func restart(_ root: some Reactor) {
        lastEpoch += 1
        world.restart(Tree(root, epoch: lastEpoch, environment: effects.environment()))
        settle()
    }
}

/// Code that a test ran waits for more than there was time for.
public struct StillWaiting: Error, Equatable, CustomStringConvertible {
    /// How much time passed.
    public var duration: Duration

    public var description: String {
        "the code still waits, after all that could be done within \(duration)"
    }
}
