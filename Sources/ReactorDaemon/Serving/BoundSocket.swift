import ReactorLoop

/// The socket's path with the parts that guard it: its directory, its lock, its listener.
///
/// *Place*: opened at the start, in that order, and held until the process ends. A stale socket
/// is removed, the socket of a running daemon never. A socket that a service manager has opened is
/// adopted with its path: this object never locks, removes or binds that path.
final class BoundSocket {
    let address: UnixAddress
    /// The directory and the lock in it; nil for an adopted socket.
    private let guards: (directory: RuntimeDirectory, lock: LockFile)?
    private(set) var listener: Listener
    private let loop: EventLoop
    private let permissions: SocketPermissions
    /// Whether a former process may go on with the socket.
    private var isShared = false

    /// Locks and binds `path`.
    ///
    /// *Throws*: ``ReactorLoop/LoopError`` with the reason: the directory is not safe, another
    /// daemon is running, or another file is at the path.
    init(
        _ path: String, makesDirectory: Bool, permissions: SocketPermissions = SocketPermissions(),
        on loop: EventLoop
    ) throws(LoopError) {
        address = try UnixAddress(path)
        self.loop = loop
        self.permissions = permissions
        let directory =
            makesDirectory
            ? try RuntimeDirectory.openOrMake(at: address.directory)
            : try RuntimeDirectory(at: address.directory)
        let lock = try LockFile(for: address, in: directory)
        guards = (directory, lock)
        try SocketFile.removeStale(at: address, in: directory, holding: lock)
        listener = try Listener(at: address, on: loop, permissions: permissions)
    }

    /// Adopts a listening socket. `path` is the configured path, if there is one.
    ///
    /// *Throws*: ``ReactorLoop/LoopError`` if it is not a listening Unix stream socket with a path,
    /// or has another path.
    init(
        adopting descriptor: Int32, at path: String?, on loop: EventLoop
    ) throws(LoopError) {
        self.loop = loop
        permissions = SocketPermissions()
        guards = nil
        listener = try Listener(on: loop, adopting: descriptor)
        guard let address = listener.address else {
            listener.close()
            throw .unfitActivation(reason: "the socket has no path: set ListenStream= to one")
        }
        guard path == nil || address.path == path else {
            listener.close()
            throw .unfitActivation(
                reason: "the socket is at \(address.path), expected \(path ?? ""), the configured "
                    + "path: set ListenStream= to it")
        }
        self.address = address
    }

    /// Refuses an adopted socket whose file admits users that it must not admit. The configuration
    /// says nothing about that file, so its check does not find it.
    ///
    /// *Throws*: ``ReactorLoop/LoopError/unfitActivation(reason:)`` if `mask`, a set of permission
    /// bits, has one of the file's; `remedy` is the end of its text.
    func refuseMode(_ mask: UInt32, _ remedy: String) throws(LoopError) {
        guard guards == nil, let mode = SocketFile.mode(at: address), mode & mask != 0 else {
            return
        }
        throw .unfitActivation(
            reason: "the socket at \(address.path) has mode 0\(String(mode, radix: 8)), \(remedy)")
    }

    /// Takes over a socket from a former process, which shares it until ``claim()``.
    init(
        succeedingTo handed: HandedSocket, permissions: SocketPermissions = SocketPermissions(),
        on loop: EventLoop
    ) throws(LoopError) {
        address = try UnixAddress(handed.path)
        self.loop = loop
        self.permissions = permissions
        isShared = true
        guard let lock = handed.lock else {
            guards = nil
            listener = try Listener(on: loop, adopting: handed.listener)
            return
        }
        let directory = try RuntimeDirectory(at: address.directory)
        guards = (
            directory, try LockFile(succeedingAt: lock, for: address, in: directory)
        )
        listener = try Listener(on: loop, succeedingAt: handed.listener)
    }

    /// Gives the file of a socket from a former process the group and the mode of this process's
    /// configuration; a service manager's keeps those of its unit.
    func applyPermissions() throws(LoopError) {
        if guards != nil { try listener.setPermissions(permissions) }
    }

    /// Makes this process the only one with the socket: the former one ends.
    func claim() {
        isShared = false
        guards?.lock.claim()
    }

    /// The socket for a process that takes it over.
    func handed(as role: HandedSocket.Role) -> HandedSocket {
        HandedSocket(
            role: role, path: address.path, listener: listener.descriptor,
            lock: guards?.lock.descriptor)
    }

    /// Binds the socket again if its file was removed; returns whether it did.
    func rebindIfLost() throws(LoopError) -> Bool {
        guard let (directory, lock) = guards, !listener.isClosed, !listener.isPathOurs else {
            return false
        }
        let onAccept = listener.onAccept
        try SocketFile.removeStale(at: address, in: directory, holding: lock)
        let successor = try Listener(at: address, on: loop, permissions: permissions)
        listener.close()
        listener = successor
        successor.onAccept = onAccept
        successor.resumeAccepting()
        return true
    }

    /// Stops listening, and removes the socket's file unless the socket was adopted, or a former
    /// process still has it.
    func close() {
        if !isShared { listener.unlinkIfOurs() }
        listener.close()
    }
}

extension BoundSocket {
    /// Returns the path to bind for this user, and whether the daemon makes its directory.
    ///
    /// *Throws*: if the configured path cannot be a socket's, or no path can be made from the
    /// daemon's name.
    static func choose(
        _ config: DaemonConfig, environment: [String: String], uid: UInt32
    ) throws(DaemonError) -> (path: String, makesDirectory: Bool) {
        if let configured = config.socket {
            if let refusal = SocketPathError(configured) { throw .socketPath(refusal) }
            return (configured, false)
        }
        let candidate = try candidate(of: config.name, environment: environment, uid: uid)
        return (candidate.path, candidate.isDirectoryCreated)
    }

    /// Returns the path to bind for this user if the configuration names none.
    static func candidate(
        of daemon: String, environment: [String: String], uid: UInt32
    ) throws(DaemonError) -> SocketCandidate {
        // The environment may name a path for a daemon whose name makes none.
        let isNamed = SocketCandidates.named(in: environment) != nil
        let name: DaemonName
        do throws(DaemonNameError) {
            name = if isNamed { .reactord } else { try DaemonName(daemon) }
        } catch {
            throw .name(error)
        }
        do throws(SocketPathError) {
            return try SocketCandidates.forDaemon(name, environment: environment, uid: uid) {
                FileSystem.isOwned($0, by: uid)
            }
        } catch {
            throw .socketPath(error)
        }
    }
}
