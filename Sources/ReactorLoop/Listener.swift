import CLibUV
import Glibc

/// A listening Unix socket on a loop.
///
/// *Place*: the daemon opens one per address, while it holds the address's ``LockFile``, and gets a
/// ``Connection`` per client.
///
/// It polls and accepts itself instead of using `uv_listen`: when the process has no free
/// descriptor, libuv's accept loop takes and drops every waiting client, or spins if its spare
/// descriptor is gone. Here, clients wait in the backlog.
///
/// *Owner*: the loop's thread.
package final class Listener: LoopResource {
    /// Maximum clients accepted in one turn; the rest waits for the next.
    package static let acceptsPerTurnMax = 64
    /// Maximum clients taken from the backlog in one turn, including those that have disconnected
    /// by then: a burst of connects must not keep the backlog full.
    package static let looksPerTurnMax = 1_024
    /// Pause of accepting after the process ran out of descriptors.
    package static let parkDuration = Duration.milliseconds(100)
    /// Default length of the backlog; the system's `somaxconn` may reduce it.
    package static let backlogDefault: Int32 = 4_096

    /// Receives each new connection, paused.
    package var onAccept: ((Connection) -> Void)?
    /// Called when the listener is closed, with the error that closed it, if there is one. Always
    /// the last callback.
    package var onClosed: ((LoopError?) -> Void)?

    /// The address; `nil` for an inherited socket without a path.
    package let address: UnixAddress?
    /// The socket file that the listener created; `nil` if the socket was inherited.
    package let identity: FileIdentity?
    /// Number of pauses for lack of descriptors.
    package private(set) var parkCount = 0
    /// Whether the listener accepts clients, except during such a pause.
    package private(set) var isAccepting = false

    /// The socket, for a process that takes it over.
    package let descriptor: Int32
    private let parking: LoopTimer
    private var failure: LoopError?

    /// Binds `address`, with mode 0600 from the start and then with `permissions`, and listens;
    /// ``resumeAccepting()`` starts accepting.
    ///
    /// An existing file makes it throw `EADDRINUSE`: see ``SocketFile``.
    package convenience init(
        at address: UnixAddress, on loop: EventLoop, backlog: Int32 = backlogDefault,
        permissions: SocketPermissions = SocketPermissions()
    ) throws(LoopError) {
        try loop.checkIsOpen(for: address.path)
        let descriptor = try UnixSocket.listen(
            at: address, backlog: backlog, permissions: permissions)
        try self.init(
            on: loop, descriptor: descriptor, address: address,
            identity: FileIdentity(at: address.path))
    }

    /// Gives the socket's file a group and a mode, if it is still at the socket's path.
    package func setPermissions(_ permissions: SocketPermissions) throws(LoopError) {
        guard let address, isPathOurs else { return }
        try UnixSocket.setPermissions(permissions, of: address)
    }

    /// Takes over the listening socket `descriptor` that a supervisor or predecessor opened.
    ///
    /// *Throws*: ``LoopError/notAListener(descriptor:)``; the caller still owns the descriptor
    /// then.
    package convenience init(
        on loop: EventLoop, adopting descriptor: Int32
    ) throws(LoopError) {
        try loop.checkIsOpen(for: "listener")
        let address = try UnixSocket.inheritListener(descriptor)
        try self.init(on: loop, descriptor: descriptor, address: address, identity: nil)
    }

    /// Takes over the listening socket `descriptor` with the file at its path, which a former process
    /// of this daemon has bound.
    ///
    /// *Throws*: as for an inherited socket; the caller still owns the descriptor then.
    package convenience init(
        on loop: EventLoop, succeedingAt descriptor: Int32
    ) throws(LoopError) {
        try loop.checkIsOpen(for: "listener")
        let address = try UnixSocket.inheritListener(descriptor)
        try self.init(
            on: loop, descriptor: descriptor, address: address,
            identity: address.flatMap { FileIdentity(at: $0.path) })
    }

    private init(
        on loop: EventLoop, descriptor: Int32, address: UnixAddress?, identity: FileIdentity?
    ) throws(LoopError) {
        self.descriptor = descriptor
        self.address = address
        self.identity = identity
        parking = try LoopTimer(on: loop)
        unsafe super.init(on: loop, as: uv_poll_t.self)
        let code = unsafe uv_poll_init(loop.raw, poll, descriptor)
        guard code == 0 else {
            parking.close()
            Glibc.close(descriptor)
            throw .call(CallFailure(call: "uv_poll_init", code: code, subject: "listener"))
        }
        adopt()
        parking.onFire = { [unowned self] in watch() }
    }

    private var poll: UnsafeMutablePointer<uv_poll_t> {
        unsafe memory.assumingMemoryBound(to: uv_poll_t.self)
    }

    /// Whether the listener pauses until descriptors become free.
    package var isParked: Bool { parking.isStarted }

    /// Starts accepting clients.
    package func resumeAccepting() {
        guard !isAccepting, !isClosed else { return }
        isAccepting = true
        watch()
    }

    /// Leaves new clients in the backlog.
    package func pauseAccepting() {
        guard isAccepting else { return }
        isAccepting = false
        parking.stop()
        unsafe uv_poll_stop(poll)
    }

    /// Whether the path still leads to the socket of this listener, and not to that of a successor.
    package var isPathOurs: Bool {
        guard let address, let identity else { return false }
        return FileIdentity(at: address.path) == identity
    }

    /// Removes the socket file, unless the path leads to another file by now.
    ///
    /// Call it while the ``LockFile`` is held: only that prevents a successor from binding between
    /// the check and the removal. ``close()`` never removes the file.
    @discardableResult
    package func unlinkIfOurs() -> Bool {
        guard isPathOurs, let address else { return false }
        return unsafe unlink(address.path) == 0
    }

    override func willClose() {
        isAccepting = false
        parking.close()
        unsafe uv_poll_stop(poll)
        Glibc.close(descriptor)
    }

    override func didClose() {
        let onClosed = onClosed
        onAccept = nil
        self.onClosed = nil
        onClosed?(failure)
    }

    private func watch() {
        guard isAccepting, !isClosed else { return }
        let code = unsafe uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { poll, status, _ in
            guard let data = unsafe poll?.pointee.data else { return }
            let listener = unsafe Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue()
            listener.acceptWaiting(status)
        }
        if code != 0 { fail("uv_poll_start", code) }
    }

    private func acceptWaiting(_ status: Int32) {
        loop.noteTraffic()
        guard status == 0 else { return fail("uv_poll", status) }
        var count = 0
        for _ in 0..<Self.looksPerTurnMax where isAccepting && !isParked {
            guard count < Self.acceptsPerTurnMax else { return }
            let accepted = reactor_accept(descriptor)
            if accepted >= 0 {
                guard !UnixSocket.isAbandoned(accepted) else {
                    Glibc.close(accepted)
                    continue
                }
                count += 1
                welcome(accepted)
            } else {
                switch errno {
                case EAGAIN: return
                case EINTR, ECONNABORTED: continue
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: park()
                default: return fail("accept4", -errno)
                }
            }
        }
    }

    // A client whose connection cannot be opened affects only itself.
    private func welcome(_ accepted: Int32) {
        guard let connection = try? Connection(on: loop, adopting: accepted) else { return }
        if let onAccept { onAccept(connection) } else { connection.close() }
    }

    private func park() {
        parkCount += 1
        unsafe uv_poll_stop(poll)
        parking.start(after: Self.parkDuration)
    }

    private func fail(_ call: String, _ code: Int32) {
        failure = .call(
            CallFailure(call: call, code: code, subject: address?.path ?? "inherited listener"))
        close()
    }
}
