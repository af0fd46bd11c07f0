public import ReactorCore
import ReactorLoop
import ReactorThreads

/// A connection to the daemon that reconnects by itself, for any number of tasks.
///
///     let client = try await Client.connect()
///     let visits = try await client.mirror(Visits.self, at: "/visits")
///     let outcome = await visits.dispatch(.increment(by: 5))
///
/// When the connection is lost, the client connects again, with pauses, and continues its session:
/// mirrors catch up, and actions without an outcome are sent again under their old numbers and are
/// applied once. The client ends with ``close()``, or with the last reference to it and to its
/// mirrors.
///
/// *Place*: a facade over a ``LoopClient`` on a separate thread. *Owner*: any thread. In a
/// process that was forked after ``connect(to:options:)``, calls throw
/// ``ClientError/forked(pid:)``.
public final class Client: Sendable {
    let port: ActionPort
    let shared: SharedState
    private let lastWatch = Guarded<UInt64>(0)
    /// The daemon's welcome to the first connection: its identity and its limits.
    public let welcome: Welcome
    /// Path of the socket of the first connection.
    public let socketPath: String
    /// News that belong to no call: effects that failed, action loops that the daemon cut, a lost
    /// part of the history.
    public let notices: ClientNotices
    /// Runs tasks on the client's own thread while that thread exists.
    ///
    /// A task that prefers this executor awaits an outcome without a change of threads:
    ///
    ///     await withTaskExecutorPreference(client.executor) {
    ///         for visit in visits { _ = await counter.dispatch(.increment(by: visit)) }
    ///     }
    ///
    /// The thread also reads the socket and updates the mirrors: a task that blocks or computes for
    /// long there delays every caller of this client. After the client has ended, jobs run on the
    /// thread that enqueues them.
    public let executor: any TaskExecutor
    /// Counters of this client's life so far.
    public var statistics: ClientStatistics { shared.statistics.withLock { $0 } }

    private init(
        _ port: ActionPort, _ executor: any TaskExecutor, _ shared: SharedState,
        _ welcome: Welcome, _ socketPath: String
    ) {
        self.port = port
        self.executor = executor
        self.shared = shared
        notices = ClientNotices(feed: shared.news)
        self.welcome = welcome
        self.socketPath = socketPath
    }

    /// Connects to the daemon at the socket `path`, and tries no other. Where that is `nil`, connects
    /// to `reactord` at one of its default paths: see ``DaemonAddress/daemon(_:)``.
    public static func connect(
        to path: String? = nil, options: ClientOptions = ClientOptions()
    ) async throws(ClientError) -> Client {
        try await connect(to: path.map { .socket($0) } ?? .reactord, options: options)
    }

    /// Connects to the daemon at a place:
    ///
    ///     let client = try await Client.connect(to: .daemon("tracker-daemon"))
    public static func connect(
        to place: DaemonAddress, options: ClientOptions = ClientOptions()
    ) async throws(ClientError) -> Client {
        let mark = ForkMark()
        return try await connect(to: place, options: options) { !mark.isCurrent }
    }

    /// Connects; `isForked` is true in a process that was forked from the client's.
    static func connect(
        to place: DaemonAddress, options: ClientOptions, isForked: @escaping @Sendable () -> Bool
    ) async throws(ClientError) -> Client {
        let (port, core, executor, shared) = try startThread(place, options, isForked)
        do throws(ClientError) {
            let (welcome, socketPath) = try await port.ask { (_, then) in
                let client = core.open()
                client.start { result in
                    then(result.map { ($0, client.socketPath ?? "") })
                }
            }
            return Client(port, executor, shared, welcome, socketPath)
        } catch {
            port.end()
            throw error
        }
    }

    private static func startThread(
        _ place: DaemonAddress, _ options: ClientOptions, _ isForked: @escaping @Sendable () -> Bool
    ) throws(ClientError) -> (ActionPort, Confined<LoopClient>, any TaskExecutor, SharedState) {
        let loop: EventLoop
        do throws(LoopError) {
            loop = try EventLoop(spin: options.spin)
        } catch {
            throw .system("\(error)")
        }
        do {
            let core = try LoopClient(on: loop, to: place, options: options)
            let shared = core.machine.shared
            let confined = Confined(core)
            let port = ActionPort(.loop(confined, loop.handle), options, isForked: isForked)
            // The port's deinitialiser ends the thread.
            _ = try WorkThread(name: "reactor-client") {
                let loop = confined.open().loop
                loop.run()
                loop.close()
            }
            return (port, confined, loop.handle.executor, shared)
        } catch {
            loop.close()
            throw error as? ClientError ?? .system("\(error)")
        }
    }

    /// Ends the client: the daemon forgets its session, actions without an outcome become unknown,
    /// and mirrors and watches end.
    public func close() { port.end() }

    /// Waits until every action sent so far has an outcome, and until the effects of performed
    /// actions have ended.
    public func drain() async throws(ClientError) {
        try await ask { client, then in client.drain { then(.success(())) } }
    }

    /// Returns the number of the current connection, by which presence, locks and queues name their
    /// holders. A client that lost its connection has another number afterwards.
    public func connectionNumber() async throws(ClientError) -> UInt64 {
        try await ask { client, then in
            then(client.welcome.map { .success($0.connection) } ?? .failure(.ended))
        }
    }

    /// Pings the daemon and waits for its answer.
    public func ping() async throws(ClientError) {
        try await port.ping()
    }

    /// Runs a question on the client's thread and waits for its answer.
    func ask<Value: Sendable>(
        _ body:
            @escaping @Sendable (
                ClientMachine, @escaping (Result<Value, ClientError>) -> Void
            ) -> Void
    ) async throws(ClientError) -> Value {
        try await port.ask(body)
    }

    func newWatchID() -> UInt64 {
        lastWatch.withLock { last in
            last += 1
            return last
        }
    }
}

extension PortShell {
    /// Makes a client on a loop with a separate thread; the client's end also ends loop and
    /// thread.
    fileprivate static func loop(
        _ core: Confined<LoopClient>, _ handle: LoopHandle
    ) -> PortShell {
        PortShell { job in
            handle.post {
                let client = core.open()
                job(client.machine)
                client.expectTurnEnd()
            }
        } end: {
            handle.post {
                let client = core.open()
                client.close()
                client.loop.stop()
            }
        }
    }
}

// MARK: - The connection itself
extension Client {
    /// Returns how many connections the client has had. A number above one means that the daemon
    /// has taken back what an earlier connection owned, such as a lock.
    package func connectionCount() async throws(ClientError) -> UInt64 {
        try await ask { client, then in then(.success(client.connectionCount)) }
    }

    /// True while there is a connection over which the daemon answers.
    package func isLive() async throws(ClientError) -> Bool {
        try await ask { client, then in then(.success(client.phase == .live)) }
    }

    /// Waits until the connection of this number is over: it was lost, or the client has ended.
    ///
    /// *Throws*: if the task is cancelled, or the client had ended before the call.
    package func connectionEnds(_ number: UInt64) async throws(ClientError) {
        try await ask { client, then in
            client.wait { phase, last in
                last != number || phase != .live
            } then: {
                then(.success(()))
            }
        }
    }

    /// Waits until there is a connection over which the daemon answers, or until the client ends.
    package func becomesLive() async throws(ClientError) {
        try await ask { client, then in
            client.wait { phase, _ in
                phase == .live
            } then: {
                then(.success(()))
            }
        }
    }

    /// Sends an encoded action and waits for its outcome. Also returns the number of the connection
    /// that brought the outcome: that connection owns what the action acquired.
    ///
    /// *Throws*: if there is no such node; the action is not sent then.
    package func acquire(
        _ path: String, encoded action: [UInt8]
    ) async throws(ClientError) -> (outcome: ActionOutcome, connection: UInt64) {
        let hold = try await node(at: path)
        let number = Guarded<UInt64>(0)
        let outgoing = OutgoingAction(encoded: action, to: hold.node)
        let outcome = await port.dispatch(outgoing, holding: hold) {
            (client, action, then) throws(ClientError) in
            try client.submit(action) { [unowned client] outcome in
                number.withLock { $0 = client.connectionCount }
                then(outcome)
            }
        }
        return (outcome, number.withLock { $0 })
    }
}
