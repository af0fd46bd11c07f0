import Glibc
import Logging
import ReactorLoop

/// The sockets where a daemon listens: that for all clients, and that for administrators.
///
///     let sockets = try DaemonSockets(config, environment, uid, on: loop)
///     sockets.begin(shell)
///
/// Only the daemon's user and root can connect to the administrators' socket. It has its own backlog
/// and its own number of connections, so that clients in any number leave it free.
///
/// *Owner*: the loop's thread.
final class DaemonSockets {
    /// The socket for all clients.
    let main: BoundSocket
    /// The socket for administrators, if the configuration names one.
    let admin: BoundSocket?

    /// Adopts the sockets that a service manager has opened, and binds the others.
    ///
    /// *Throws*: if one of them cannot be adopted or bound; none is open then.
    init(
        _ config: DaemonConfig, _ environment: [String: String], _ uid: UInt32, on loop: EventLoop,
        after predecessor: Predecessor? = nil
    ) throws(DaemonError) {
        if let predecessor {
            (main, admin) = try Self.succeed(predecessor, config, environment, uid, on: loop)
        } else {
            (main, admin) = try Self.open(config, environment, uid, on: loop)
        }
        do throws(LoopError) {
            try Self.checkModes(main, admin, hasRules: config.access != nil)
        } catch {
            close()
            throw .loop(error)
        }
    }

    private static func open(
        _ config: DaemonConfig, _ environment: [String: String], _ uid: UInt32, on loop: EventLoop
    ) throws(DaemonError) -> (main: BoundSocket, admin: BoundSocket?) {
        let inherited: InheritedSockets?
        do throws(LoopError) {
            inherited = try InheritedSockets(environment, of: config.name)
        } catch {
            throw .loop(error)
        }
        let main = try openMain(config, inherited?.main, environment, uid, on: loop)
        do throws(LoopError) {
            return (main, try openAdmin(config.adminSocket, inherited?.admin, on: loop))
        } catch {
            main.close()
            throw .loop(error)
        }
    }

    /// Checks the files of adopted sockets as the configuration of bound ones is checked.
    private static func checkModes(
        _ main: BoundSocket, _ admin: BoundSocket?, hasRules: Bool
    ) throws(LoopError) {
        if !hasRules {
            try main.refuseMode(
                0o002,
                "which lets every user connect and do everything: add `access:`, or set "
                    + "SocketMode=0660")
        }
        try admin?.refuseMode(
            0o022, "and administrators are the daemon's user and root: set SocketMode=0600")
    }

    /// Takes over the sockets of a former process.
    private static func succeed(
        _ predecessor: Predecessor, _ config: DaemonConfig, _ environment: [String: String],
        _ uid: UInt32, on loop: EventLoop
    ) throws(DaemonError) -> (main: BoundSocket, admin: BoundSocket?) {
        let path =
            config.socket == nil && predecessor.isAdopted(.main)
            ? nil : try BoundSocket.choose(config, environment: environment, uid: uid).path
        guard let handed = try predecessor.socket(.main, at: path) else {
            throw .handover("the former process has no socket")
        }
        let handedAdmin = try predecessor.socket(.admin, at: config.adminSocket)
        do throws(LoopError) {
            let main = try BoundSocket(
                succeedingTo: handed, permissions: config.permissions, on: loop)
            guard let handedAdmin else {
                return (main, try openAdmin(config.adminSocket, nil, on: loop))
            }
            return (main, try BoundSocket(succeedingTo: handedAdmin, on: loop))
        } catch {
            throw .loop(error)
        }
    }

    /// The sockets for a process that takes them over.
    var handed: [HandedSocket] {
        [main.handed(as: .main)] + (admin.map { [$0.handed(as: .admin)] } ?? [])
    }

    /// Applies the configured groups and modes to sockets from a former process.
    func applyPermissions() throws(LoopError) {
        try main.applyPermissions()
        try admin?.applyPermissions()
    }

    /// Makes this process the only one with the sockets: the former one ends.
    func claim() {
        main.claim()
        admin?.claim()
    }

    /// Leaves new clients in the backlog until this is called with false.
    func hold(_ isHeld: Bool) {
        for socket in [main, admin].compactMap(\.self) {
            if isHeld {
                socket.listener.pauseAccepting()
            } else {
                socket.listener.resumeAccepting()
            }
        }
    }

    private static func openMain(
        _ config: DaemonConfig, _ descriptor: Int32?, _ environment: [String: String],
        _ uid: UInt32, on loop: EventLoop
    ) throws(DaemonError) -> BoundSocket {
        do throws(LoopError) {
            if let descriptor {
                return try BoundSocket(adopting: descriptor, at: config.socket, on: loop)
            }
        } catch {
            throw .loop(error)
        }
        let path = try BoundSocket.choose(config, environment: environment, uid: uid)
        do throws(LoopError) {
            return try BoundSocket(
                path.path, makesDirectory: path.makesDirectory, permissions: config.permissions,
                on: loop)
        } catch {
            throw .loop(error)
        }
    }

    private static func openAdmin(
        _ path: String?, _ descriptor: Int32?, on loop: EventLoop
    ) throws(LoopError) -> BoundSocket? {
        if let descriptor { return try BoundSocket(adopting: descriptor, at: path, on: loop) }
        return try path.map { (path) throws(LoopError) in
            try BoundSocket(path, makesDirectory: false, on: loop)
        }
    }

    /// Number of pauses of accepting for lack of descriptors.
    var parkCount: Int { main.listener.parkCount + (admin?.listener.parkCount ?? 0) }

    /// The paths and the process, for the log.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "socket": "\(main.address.path)", "pid": "\(getpid())",
        ]
        if let admin { metadata["admin"] = "\(admin.address.path)" }
        return metadata
    }

    /// Accepts clients from here on.
    func begin(_ shell: ServerShell) {
        main.listener.onAccept = { [shell] in shell.accept($0) }
        admin?.listener.onAccept = { [shell] in shell.accept($0, isAtAdminSocket: true) }
        main.listener.resumeAccepting()
        admin?.listener.resumeAccepting()
    }

    /// Binds each socket again whose file was removed; `report` gets its path, and the error if it
    /// cannot be bound.
    func rebindLost(_ report: (_ path: String, LoopError?) -> Void) {
        for socket in [main, admin].compactMap(\.self) {
            do throws(LoopError) {
                if try socket.rebindIfLost() { report(socket.address.path, nil) }
            } catch {
                report(socket.address.path, error)
            }
        }
    }

    /// Stops listening, and removes the files of sockets that were not adopted.
    func close() {
        main.close()
        admin?.close()
    }
}
