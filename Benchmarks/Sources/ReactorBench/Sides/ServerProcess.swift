import CBench
import Foundation
import Glibc

/// A running `reactord` or `redis-server` and its socket.
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
            // A short pause, since start times are measured with this loop.
            usleep(500)
        }
    }

    deinit { child.terminate() }

    var residentBytes: Double { child.residentBytes }

    /// Sends SIGKILL and waits for the end, so that the server writes nothing more.
    func kill() { child.kill() }

    /// Sends SIGTERM and waits for the end.
    func terminate() { child.terminate() }

    /// Starts a daemon, and waits until it listens. `wrap` returns the command line to run.
    static func daemon(
        _ executable: String, _ setup: DaemonSetup, in directory: String, _ placement: Placement,
        _ wrap: ([String]) -> [String] = { $0 }
    ) throws -> ServerProcess {
        let socket = "\(directory)/reactord.sock"
        let path = "\(directory)/reactord.yaml"
        try setup.text(socket: socket).write(toFile: path, atomically: false, encoding: .utf8)
        return try ServerProcess(wrap([executable, "--config", path]), socket, placement)
    }

    /// Starts Redis, which stores any files in `dataDirectory`. `wrap` returns the command
    /// line to run.
    static func redis(
        durability: ReplyDurability, in directory: String, data dataDirectory: String,
        _ placement: Placement, _ wrap: ([String]) -> [String] = { $0 }
    ) throws -> ServerProcess {
        let socket = "\(directory)/redis.sock"
        return try ServerProcess(
            wrap(
                [
                    "redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                    "--maxclients", "10000", "--dir", dataDirectory, "--daemonize", "no",
                    "--loglevel", "warning",
                ] + durability.redisOptions), socket, placement)
    }
}
