import CLibUV
import Glibc

/// Which users may connect to a socket, by the mode and the group of its file.
package struct SocketPermissions: Equatable, Sendable {
    /// The permission bits; connecting takes the right to write.
    package var mode: UInt32
    /// The file's group; nil leaves the process's own.
    package var gid: UInt32?

    /// Lets the process's own user and root connect, and further users by `mode`.
    package init(mode: UInt32 = 0o600, gid: UInt32? = nil) {
        self.mode = mode
        self.gid = gid
    }
}

/// The system calls behind listeners and connections, each with its error.
///
/// Not by libuv, which cuts long paths, binds without a mode, and on close unlinks the path even if
/// another process listens there by then.
enum UnixSocket {
    /// Makes a socket bound to `address` with mode 0600 from the start, gives it its group and its
    /// mode, and listens.
    static func listen(
        at address: UnixAddress, backlog: Int32,
        permissions: SocketPermissions = SocketPermissions()
    ) throws(LoopError) -> Int32 {
        let descriptor = try make(for: address)
        // `bind` gives the file the socket's own mode: 0600 from the start, without changing the
        // umask of the whole process.
        guard fchmod(descriptor, 0o600) == 0 else {
            throw refusing(descriptor, "fchmod", address)
        }
        guard unsafe address.withSocketAddress({ unsafe Glibc.bind(descriptor, $0, $1) }) == 0
        else {
            throw refusing(descriptor, "bind", address)
        }
        if permissions != SocketPermissions() {
            do throws(LoopError) {
                try setPermissions(permissions, of: address)
            } catch {
                close(descriptor)
                unsafe unlink(address.path)
                throw error
            }
        }
        guard Glibc.listen(descriptor, backlog) == 0 else {
            throw refusing(descriptor, "listen", address)
        }
        return descriptor
    }

    /// Gives the file of a socket a group and a mode. Without a group, a file with another one gets
    /// that of the process.
    ///
    /// Makes only the calls that change something: a sandbox may refuse `chown`.
    static func setPermissions(
        _ permissions: SocketPermissions, of address: UnixAddress
    ) throws(LoopError) {
        var file = stat()
        guard unsafe lstat(address.path, &file) == 0 else {
            throw .call(.system("lstat", address.path))
        }
        let gid = permissions.gid ?? getegid()
        if file.st_gid != gid {
            // Removes access first: with the new mode, the former group would get access for a
            // moment.
            guard unsafe chmod(address.path, 0o600) == 0 else {
                throw .call(.system("chmod", address.path))
            }
            guard unsafe lchown(address.path, uid_t.max, gid) == 0 else {
                throw .call(.system("lchown", address.path))
            }
            file.st_mode = 0o600
        }
        guard file.st_mode & 0o7777 != permissions.mode else { return }
        guard unsafe chmod(address.path, permissions.mode) == 0 else {
            throw .call(.system("chmod", address.path))
        }
    }

    /// Makes a socket connected to `address`.
    ///
    /// A Unix socket connects or is refused at once; `EAGAIN` means a full backlog.
    static func connect(to address: UnixAddress) throws(LoopError) -> Int32 {
        let descriptor = try make(for: address)
        while unsafe address.withSocketAddress({ unsafe Glibc.connect(descriptor, $0, $1) }) != 0 {
            if errno == EINTR { continue }
            throw refusing(descriptor, "connect", address)
        }
        return descriptor
    }

    /// Whether the peer of a connected socket has sent no byte and ended its writing side.
    static func isAbandoned(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
        return unsafe recv(descriptor, &byte, 1, flags) == 0
    }

    /// Makes `descriptor` non-blocking and close-on-exec, if it is a listening Unix stream socket.
    /// Returns its address, if it has a path.
    static func inheritListener(_ descriptor: Int32) throws(LoopError) -> UnixAddress? {
        guard option(SO_ACCEPTCONN, of: descriptor) == 1,
            option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
        else { throw .notAListener(descriptor: descriptor) }
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw .call(.system("fcntl", "descriptor \(descriptor)")) }
        return path(of: descriptor)
    }

    private static func path(of descriptor: Int32) -> UnixAddress? {
        var address = sockaddr_un()
        var byteCount = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &byteCount)
            }
        }
        guard code == 0 else { return nil }
        let path = unsafe withUnsafeBytes(of: address.sun_path) { field in
            unsafe String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
        }
        return try? UnixAddress(path)
    }

    /// Reads an integer option of `descriptor`; `nil` if it has none.
    static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var byteCount = socklen_t(MemoryLayout<Int32>.size)
        let code = unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &byteCount)
        return code == 0 ? value : nil
    }

    private static func make(for address: UnixAddress) throws(LoopError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw .call(.system("socket", address.path)) }
        return descriptor
    }

    private static func refusing(
        _ descriptor: Int32, _ call: String, _ address: UnixAddress
    ) -> LoopError {
        let failure = CallFailure.system(call, address.path)
        close(descriptor)
        return .call(failure)
    }
}
