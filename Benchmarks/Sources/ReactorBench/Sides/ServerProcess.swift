import CBench
import Foundation
import Glibc

/// A running `reactord` or `redis-server` of this run's own, on a socket of its own.
final class ServerProcess {
    let socket: String
    private let child: ChildProcess

    private init(_ command: [String], _ socket: String, _ placement: Placement) throws {
        self.socket = socket
        child = try ChildProcess(command, onCore: placement.serverCore)
        let deadline = Date(timeIntervalSinceNow: 60)
        while true {
            let descriptor = bench_connect(socket)
            if descriptor >= 0 {
                close(descriptor)
                return
            }
            guard child.isRunning, Date() < deadline else {
                throw LoadError("\(command[0]): does not listen at \(socket)")
            }
            // because a start is measured by this as well
            usleep(500)
        }
    }

    deinit { child.terminate() }

    var residentBytes: Double { child.residentBytes }

    /// Ends it as a crash would: it writes nothing any more.
    func kill() { child.kill() }

    /// Ends it in an orderly way.
    func terminate() { child.terminate() }

    /// Starts a daemon, and waits until its socket is there.
    static func daemon(
        _ executable: String, _ setup: DaemonSetup, in directory: String, _ placement: Placement
    ) throws -> ServerProcess {
        let socket = "\(directory)/reactord.sock"
        let path = "\(directory)/reactord.yaml"
        try setup.text(socket: socket).write(toFile: path, atomically: false, encoding: .utf8)
        return try ServerProcess([executable, "--config", path], socket, placement)
    }

    /// Starts Redis, which keeps its files in `dataDirectory` if it writes any.
    static func redis(
        keeping: Keeping, in directory: String, data dataDirectory: String,
        _ placement: Placement
    ) throws -> ServerProcess {
        let socket = "\(directory)/redis.sock"
        return try ServerProcess(
            [
                "redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                "--maxclients", "10000", "--dir", dataDirectory, "--daemonize", "no", "--loglevel",
                "warning",
            ] + keeping.redisOptions, socket, placement)
    }
}
