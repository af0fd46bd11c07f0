#if Cluster
    import Foundation
    import Glibc
    import ReactorThreads
    import TestPrograms

    /// Real etcd members of one cluster, for one test: killed when the last reference is released.
    ///
    /// Clients and members speak over Unix sockets in the test's directory, so that tests need no
    /// ports and do not collide.
    final class EtcdProcesses: Sendable {
        /// Where Debian installs etcd, or another one to test.
        static let program: String = {
            let named = ProcessInfo.processInfo.environment["REACTORD_ETCD"] ?? ""
            return named.isEmpty ? "/usr/bin/etcd" : named
        }()

        let directory = TestDirectory()
        let count: Int
        private let arguments: [String]
        private let processes: Guarded<[ChildProcess?]>

        /// Starts `count` members, and returns once each accepts clients. It may not answer yet: a
        /// member that is killed before it has answered a look never finds a leader again.
        static func start(_ count: Int, arguments: [String] = []) async throws -> EtcdProcesses {
            let etcd = try prepare(count, arguments: arguments)
            for member in 0..<count { try etcd.start(member) }
            for member in 0..<count { try await etcd.accept(member) }
            return etcd
        }

        /// Prepares `count` members, without starting them.
        static func prepare(
            _ count: Int, arguments: [String] = [], program: String = program
        ) throws -> EtcdProcesses {
            guard FileManager.default.isExecutableFile(atPath: program) else {
                throw Failure(
                    description: "the tests of the cluster's log need etcd, expected at "
                        + "\(program): install it with Config/setup cluster")
            }
            return EtcdProcesses(count, arguments)
        }

        private init(_ count: Int, _ arguments: [String]) {
            self.count = count
            self.arguments = arguments
            processes = Guarded(Array(repeating: nil, count: count))
        }

        /// The path of the socket at which a member accepts clients.
        func socket(_ member: Int) -> String { directory.path("client-\(member):1") }

        /// Starts a member that does not run, with the data that it has.
        func start(_ member: Int) throws {
            // etcd refuses sockets with a path, and creates them in its working directory.
            let process = try ChildProcess(
                "/usr/bin/env",
                [
                    "--chdir=\(directory.path)", Self.program, "--name=\(member)",
                    "--data-dir=data-\(member)", "--log-level=warn",
                    "--listen-client-urls=unix://client-\(member):1",
                    "--advertise-client-urls=unix://client-\(member):1",
                    "--listen-peer-urls=unix://peer-\(member):1",
                    "--initial-advertise-peer-urls=unix://peer-\(member):1",
                    "--initial-cluster="
                        + (0..<count).map { "\($0)=unix://peer-\($0):1" }.joined(separator: ","),
                    // On a busy machine, a member may not run for tenths of seconds.
                    "--heartbeat-interval=50", "--election-timeout=\(count == 1 ? 250 : 2_500)",
                ] + arguments, in: directory, name: "etcd-\(member)")
            processes.withLock { $0[member] = process }
        }

        /// Waits until a member accepts clients.
        func accept(_ member: Int) async throws {
            let path = socket(member)
            guard let process = processes.withLock({ $0[member] }),
                await holds({ DaemonProcess.accepts(path) || !process.isRunning }),
                process.isRunning
            else {
                throw Failure(
                    description: "etcd does not accept at \(path); it said:\n"
                        + directory.read("etcd-\(member).err"))
            }
        }

        /// Kills a member as a crash does, and waits for its end.
        func kill(_ member: Int) async {
            let process = processes.withLock { processes in
                defer { processes[member] = nil }
                return processes[member]
            }
            process?.signal(SIGKILL)
            _ = await process?.ended()
            // etcd does not start where the socket of its last run is left.
            for kind in ["client", "peer"] {
                try? FileManager.default.removeItem(atPath: directory.path("\(kind)-\(member):1"))
            }
        }

        /// A member does not run, or is not there.
        struct Failure: Error, CustomStringConvertible {
            let description: String
        }

        /// Sends a signal to a member, without waiting.
        func signal(_ signal: Int32, to member: Int) {
            processes.withLock { $0[member] }?.signal(signal)
        }
    }
#endif
