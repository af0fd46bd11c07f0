import FoundationEssentials
public import ReactorCore
import ReactorDaemon
import ReactorLoop
public import ReactorServer
import ReactorThreads

/// A daemon on a real socket and its own thread, inside the test's process, for code that opens
/// its own `Client`.
///
///     let stub = Stub(Counter.self)
///     let daemon = try LiveDaemon(stub)
///     let client = try await Client.connect(to: daemon.path)
///
/// It stops when it is released, and removes its socket.
public final class LiveDaemon: Sendable {
    /// The path of the daemon's socket.
    public let path: String
    private let folder: String
    private let handle: LoopHandle
    private let core: Confined<LiveDaemonCore>
    private let thread: WorkThread
    private let isStopped = Flag()

    /// Starts a daemon of `root`, which continues the history in `directory` if there is one; without
    /// it, all state is in memory. `whenOpen` is called as in a daemon's program: once the
    /// reactors have started and before clients are served.
    ///
    /// *Throws*: if the system refuses a folder, a socket or a thread, or if the history cannot be
    /// continued; errors of `whenOpen`.
    public init(
        _ root: some Reactor, epoch: UInt64 = 1, limits: ServerLimits = ServerLimits(),
        keeping directory: String? = nil, whenOpen: (Tree) throws -> Void = { _ in }
    ) throws {
        // A short folder: a socket's path is at most 107 bytes long.
        folder = "/tmp/reactor-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        path = folder + "/s"
        let core = try LiveDaemonCore(root, epoch, limits, directory, at: path, whenOpen)
        handle = core.shell.loop.handle
        let confined = Confined(core)
        self.core = confined
        thread = try WorkThread(name: "live-daemon") {
            let shell = confined.open().shell
            shell.loop.run()
            // With a history, this writes a snapshot.
            shell.close()
            shell.loop.close()
            shell.releaseDirectory()
        }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Stops it at once; connected clients find their sockets closed. Afterwards another daemon can
    /// continue its history.
    public func stop() {
        guard !isStopped.isUp else { return }
        isStopped.raise()
        handle.stop()
        thread.join()
    }

    /// Closes every connection; clients reconnect by themselves.
    public func cut() {
        let core = core
        _ = handle.post { core.open().shell.cut() }
    }
}

/// The part of a live daemon that is confined to its thread.
private final class LiveDaemonCore {
    let shell: ServerShell
    private let listener: Listener

    init(
        _ root: some Reactor, _ epoch: UInt64, _ limits: ServerLimits, _ directory: String?,
        at path: String, _ whenOpen: (Tree) throws -> Void
    ) throws {
        let loop = try EventLoop()
        let random = { UInt64.random(in: .min ... .max) }
        shell =
            if let directory {
                try ServerShell(
                    root, on: loop, keeping: directory, limits: limits, name: "live", random: random
                )
            } else {
                ServerShell(
                    root, on: loop, epoch: epoch, limits: limits, name: "live", random: random)
            }
        try whenOpen(shell.server.tree)
        listener = try Listener(at: UnixAddress(path), on: loop)
        listener.onAccept = { [shell] in shell.accept($0) }
        listener.resumeAccepting()
        shell.begin()
    }
}
