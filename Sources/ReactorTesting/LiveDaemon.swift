import FoundationEssentials
public import ReactorCore
import ReactorDaemon
import ReactorLoop
public import ReactorServer
import ReactorThreads

/// A daemon on a real socket and a thread of its own, inside the test's process: for code that
/// brings its own `Client`.
///
///     let stub = Stub(Counter.self)
///     let daemon = try LiveDaemon(stub)
///     let client = try await Client.connect(to: daemon.path)
///
/// It ends when nobody holds it, and takes its socket along.
public final class LiveDaemon: Sendable {
    /// The path of its socket.
    public let path: String
    private let folder: String
    private let handle: LoopHandle
    private let core: Confined<LiveDaemonCore>
    private let thread: WorkThread
    private let isStopped = Flag()

    /// Starts a daemon of `root`; `whenOpen` is as with a daemon's program: called once the reactors
    /// have begun, and before anybody is served.
    ///
    /// *Throws*: where the system refuses a folder, a socket or a thread; what `whenOpen` throws.
    public init(
        _ root: some Reactor, epoch: UInt64 = 1, limits: ServerLimits = ServerLimits(),
        whenOpen: (Tree) throws -> Void = { _ in }
    ) throws {
        // because a socket's path is at most 107 bytes long
        folder = "/tmp/reactor-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        path = folder + "/s"
        let core = try LiveDaemonCore(root, epoch, limits, at: path, whenOpen)
        handle = core.shell.loop.handle
        let confined = Confined(core)
        self.core = confined
        thread = try WorkThread(name: "live-daemon") {
            let loop = confined.open().shell.loop
            loop.run()
            loop.close()
        }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends it at once: whoever is connected finds its socket closed.
    public func stop() {
        guard !isStopped.isUp else { return }
        isStopped.raise()
        handle.stop()
        thread.join()
    }

    /// Closes every connection; clients come back by themselves.
    public func cut() {
        let core = core
        _ = handle.post { core.open().shell.cut() }
    }
}

/// What of a live daemon lives on its own thread.
private final class LiveDaemonCore {
    let shell: ServerShell
    private let listener: Listener

    init(
        _ root: some Reactor, _ epoch: UInt64, _ limits: ServerLimits, at path: String,
        _ whenOpen: (Tree) throws -> Void
    ) throws {
        let loop = try EventLoop()
        shell = ServerShell(root, on: loop, epoch: epoch, limits: limits, name: "live") {
            UInt64.random(in: .min ... .max)
        }
        try whenOpen(shell.server.tree)
        listener = try Listener(at: UnixAddress(path), on: loop)
        listener.onAccept = { [shell] in shell.accept($0) }
        listener.resumeAccepting()
        shell.begin()
    }
}
