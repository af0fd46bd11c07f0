public import ReactorCore
import ReactorLoop
import ReactorThreads

/// A connection to the daemon that mends itself, for any number of tasks.
///
///     let client = try await Client.connect()
///     let visits = try await client.mirror(Visits.self, at: "/visits")
///     let outcome = await visits.dispatch(.increment(by: 5))
///
/// When the connection is lost it connects again, with pauses, and goes on where it was: mirrors
/// catch up, actions without an outcome are sent again under their old numbers and are applied
/// once. It ends with ``close()``, or when nobody holds it any more, nor a mirror of it.
///
/// *Place*: a facade over a ``LoopClient`` on a thread of its own. *Owner*: any thread; a process
/// that was forked after ``connect(to:options:)`` is refused, ``ClientError/forked(pid:)``.
public final class Client: Sendable {
    let port: ActionPort
    private let board: MirrorBoard
    private let lastWatch = Guarded<UInt64>(0)
    /// What the daemon said of itself and its limits when the client connected first.
    public let welcome: Welcome
    /// The socket that was connected to first.
    public let socketPath: String
    /// News that answers no call: effects that failed, loops that were cut, a lost past.
    public let notices: ClientNotices
    /// What happened to the client so far.
    public var statistics: ClientStatistics { board.statistics.withLock { $0 } }

    private init(
        _ port: ActionPort, _ board: MirrorBoard, _ welcome: Welcome, _ socketPath: String
    ) {
        self.port = port
        self.board = board
        notices = ClientNotices(feed: board.news)
        self.welcome = welcome
        self.socketPath = socketPath
    }

    /// Connects to the daemon at the socket `path`, or to the first that accepts at one of the
    /// usual places.
    public static func connect(
        to path: String? = nil, options: ClientOptions = ClientOptions()
    ) async throws(ClientError) -> Client {
        let mark = ForkMark()
        return try await connect(to: path, options: options) { !mark.isCurrent }
    }

    /// Connects; `isForked` says whether the calling process is a child of the client's.
    static func connect(
        to path: String?, options: ClientOptions, isForked: @escaping @Sendable () -> Bool
    ) async throws(ClientError) -> Client {
        let (port, core, board) = try startThread(path, options, isForked)
        do throws(ClientError) {
            let (welcome, socketPath) = try await port.ask { (_, then) in
                let client = core.open()
                client.start { result in
                    then(result.map { ($0, client.socketPath ?? "") })
                }
            }
            return Client(port, board, welcome, socketPath)
        } catch {
            port.end()
            throw error
        }
    }

    private static func startThread(
        _ path: String?, _ options: ClientOptions, _ isForked: @escaping @Sendable () -> Bool
    ) throws(ClientError) -> (ActionPort, Confined<LoopClient>, MirrorBoard) {
        let loop: EventLoop
        do throws(LoopError) {
            loop = try EventLoop(spin: options.spin)
        } catch {
            throw .system("\(error)")
        }
        do {
            let core = try LoopClient(on: loop, to: path, options: options)
            let board = core.machine.board
            let confined = Confined(core)
            let port = ActionPort(.loop(confined, loop.handle), options, isForked: isForked)
            // because the port ends the thread when nobody holds it any more
            _ = try WorkThread(name: "reactor-client") {
                let loop = confined.open().loop
                loop.run()
                loop.close()
            }
            return (port, confined, board)
        } catch {
            loop.close()
            throw error as? ClientError ?? .system("\(error)")
        }
    }

    /// Ends the client: its session is forgotten, actions without an outcome are unknown, mirrors
    /// and watchers end.
    public func close() { port.end() }

    /// Waits until every action sent so far has an outcome, and until the effects of those that were
    /// performed have ended.
    public func drain() async throws(ClientError) {
        try await ask { client, then in client.drain { then(.success(())) } }
    }

    /// The number of the connection that is in use, by which presence, locks and queues name their
    /// holders. A client that lost its connection has another number afterwards.
    public func connectionNumber() async throws(ClientError) -> UInt64 {
        try await ask { client, then in
            then(client.welcome.map { .success($0.connection) } ?? .failure(.ended))
        }
    }

    /// Asks for a sign of life.
    public func ping() async throws(ClientError) {
        try await port.ping()
    }

    /// Asks something on the client's thread.
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
    /// A client on a loop with a thread of its own, which ends with it.
    fileprivate static func loop(
        _ core: Confined<LoopClient>, _ handle: LoopHandle
    ) -> PortShell {
        PortShell { job in
            handle.post {
                let client = core.open()
                job(client.machine)
                client.note()
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
