#if Cluster
    import Glibc
    import ReactorThreads

    /// Passes bytes between clients and a socket; on request, drops the answers and cuts
    /// connections.
    ///
    /// *Shape*: one thread for the proxy's socket and one for each connection; they end with it.
    final class CuttingProxy: Sendable {
        let path: String
        private let target: String
        private let listener: Int32
        /// Raised while answers are dropped.
        private let isDeaf = Flag()
        /// Descriptors of open connections, so that the end of the proxy ends their threads.
        private let open = Guarded<Set<Int32>>([])

        /// Listens at `path` and connects clients to `target`.
        init(at path: String, to target: String) throws {
            self.path = path
            self.target = target
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            self.listener = listener
            let isBound = unsafe Self.succeeds(at: path) { unsafe bind(listener, $0, $1) }
            guard isBound, listen(listener, 16) == 0 else {
                throw Failure(call: "bind \(path)", code: errno)
            }
            _ = try WorkThread(name: "proxy") { [weak self] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { return }
                    guard let self else {
                        close(client)
                        return
                    }
                    pass(client)
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
            cut()
        }

        /// Drops the bytes of the server from now on, until ``cut()``.
        func swallowAnswers() { isDeaf.raise() }

        /// Cuts all connections; clients may connect again, and get answers.
        func cut() {
            open.withLock { open in
                for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
            _ = isDeaf.take()
        }

        private func pass(_ client: Int32) {
            let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard unsafe Self.succeeds(at: target, { unsafe connect(server, $0, $1) }) else {
                close(client)
                close(server)
                return
            }
            open.withLock { $0.formUnion([client, server]) }
            let (open, isDeaf) = (open, isDeaf)
            _ = try? WorkThread(name: "proxied") {
                Self.copy(client, server, isDeaf)
                open.withLock { open in
                    open.subtract([client, server])
                    close(client)
                    close(server)
                }
            }
        }

        /// Copies in both directions until one side ends; drops the server's bytes while the flag
        /// is raised.
        private static func copy(_ client: Int32, _ server: Int32, _ isDeaf: Flag) {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                var waits = [
                    pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: server, events: Int16(POLLIN), revents: 0),
                ]
                if unsafe poll(&waits, 2, -1) < 0 {
                    guard errno == EINTR else { return }
                    continue
                }
                for (wait, to) in [(waits[0], server), (waits[1], client)] where wait.revents != 0 {
                    let count = unsafe read(wait.fd, &buffer, buffer.count)
                    guard count > 0 else { return }
                    if wait.fd == server, isDeaf.isUp { continue }
                    var sent = 0
                    while sent < count {
                        let rest = Array(buffer[sent..<count])
                        let more = unsafe send(to, rest, rest.count, Int32(MSG_NOSIGNAL))
                        guard more > 0 else { return }
                        sent += more
                    }
                }
            }
        }

        /// Makes a call with the address of the socket at `path`; returns whether it succeeded.
        private static func succeeds(
            at path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Bool {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) {
                unsafe $0.copyBytes(from: bytes)
            }
            let status = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            return status == 0
        }

        /// A call of the system failed.
        struct Failure: Error {
            let call: String
            let code: Int32
        }
    }
#endif
