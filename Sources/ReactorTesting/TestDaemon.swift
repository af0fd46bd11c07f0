public import ReactorClient
public import ReactorCore
public import ReactorServer

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
    private let effects = ManualWorld()
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
        let client = TestClient(self, world.client(options))
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

    /// Does all that can be done now: after something outside, a ``Stub`` for one, posted to it.
    public func settle() { world.run(for: 0) }

    /// Starts another daemon, of `root`, in the place of this, which is gone with all it knew.
    ///
    /// Clients come back by themselves, after a pause: ``advance(by:)``.
    public func restart(_ root: some Reactor) {
        lastEpoch += 1
        world.restart(Tree(root, epoch: lastEpoch, environment: effects.environment()))
        settle()
    }
}
