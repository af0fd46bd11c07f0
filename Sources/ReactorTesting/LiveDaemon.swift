import FoundationEssentials
public import ReactorCore
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

    /// Starts a daemon of `root`.
    ///
    /// *Throws*: where the system refuses a folder, a socket or a thread.
    public init(
        _ root: some Reactor, epoch: UInt64 = 1, limits: ServerLimits = ServerLimits()
    ) throws {
        // because a socket's path is at most 107 bytes long
        folder = "/tmp/reactor-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        path = folder + "/s"
        let core = try LiveDaemonCore(root, epoch, limits, at: path)
        handle = core.loop.handle
        let confined = Confined(core)
        self.core = confined
        thread = try WorkThread(name: "live-daemon") {
            let loop = confined.open().loop
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
        _ = handle.post { core.open().cut() }
    }
}

/// What of a live daemon lives on its own thread.
private final class LiveDaemonCore {
    let loop: EventLoop
    private let server: Server
    private let listener: Listener
    private let inbox: Mailbox<@Sendable (Tree) -> Void>
    private var links: [ConnectionID: Connection] = [:]
    private var lastLink: UInt64 = 0

    init(
        _ root: some Reactor, _ epoch: UInt64, _ limits: ServerLimits, at path: String
    ) throws {
        loop = try EventLoop()
        inbox = Mailbox(ring: { [handle = loop.handle] in handle.post {} })
        let tree = Tree(
            root, epoch: epoch, environment: TreeEnvironment(post: { [inbox] in inbox.post($0) }))
        server = Server(tree, limits: limits, daemonName: "live") {
            UInt64.random(in: .min ... .max)
        }
        listener = try Listener(at: UnixAddress(path), on: loop)
        listener.onAccept = { [unowned self] in accept($0) }
        loop.onTurnEnd = { [unowned self] in endTurn() }
        listener.resumeAccepting()
        endTurn()
    }

    func cut() { for link in links.values { link.close() } }

    private func accept(_ link: Connection) {
        lastLink += 1
        let id = ConnectionID(lastLink)
        links[id] = link
        server.connect(
            id, Peer(uid: link.peer.uid, gid: link.peer.gid, pid: link.peer.pid), at: loop.now)
        link.onBytes = { [unowned self] bytes in server.receive(id, bytes, at: loop.now) }
        link.onEnd = { [unowned self] in server.endInput(id) }
        link.onWritten = { [unowned self] in server.written(id, at: loop.now) }
        link.onClosed = { [unowned self] _ in
            links[id] = nil
            server.disconnect(id, at: loop.now)
        }
        link.resumeReading()
    }

    private func endTurn() {
        for job in inbox.drain() { server.perform(job) }
        repeat {
            server.endTurn(at: loop.now)
            carryOut()
        } while server.needsTurn
    }

    private func carryOut() {
        while true {
            let outputs = server.takeOutputs()
            if outputs.isEmpty { return }
            for output in outputs { carryOut(output) }
        }
    }

    private func carryOut(_ output: ServerOutput) {
        switch output {
        case .write(let id, let slices):
            guard let link = links[id] else { return }
            link.write(slices)
            if !link.isWriting, !link.isClosed { server.written(id, at: loop.now) }
        case .pauseReading(let id): links[id]?.pauseReading()
        case .resumeReading(let id): links[id]?.resumeReading()
        case .close(let id): links[id]?.finish()
        case .append(let batch): server.appended(batch.turn, at: loop.now)
        case .log: break
        }
    }
}
