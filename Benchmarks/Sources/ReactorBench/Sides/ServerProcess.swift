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
            usleep(10_000)
        }
    }

    deinit { child.terminate() }

    var residentBytes: Double { child.residentBytes }

    /// Starts the daemon with as many counters under /many as `reactors` says.
    ///
    /// It polls after traffic as long as it does by default, or never.
    static func daemon(
        _ executable: String, in directory: String, _ placement: Placement, reactors: Int = 0,
        polls: Bool = true
    ) throws -> ServerProcess {
        let name = "reactord-\(reactors)\(polls ? "" : "-sleeps")"
        let socket = "\(directory)/\(name).sock"
        var config = """
            socket: \(socket)
            log:
              level: error
            limits:
              connectionsMax: 8192
              connectionsPerUIDMax: 8192
              handshakesMax: 8192
              nodesPerConnectionMax: 200000

            """
        if !polls { config += "loop: {spin: 0}\n" }
        config += "reactors:\n  counter: {kind: counter}\n"
        if reactors > 0 {
            config += "  many:\n    children:\n"
            for index in 0..<reactors { config += "      c\(index): {kind: counter}\n" }
        }
        let path = "\(directory)/\(name).yaml"
        try config.write(toFile: path, atomically: false, encoding: .utf8)
        return try ServerProcess([executable, "--config", path], socket, placement)
    }

    /// Starts Redis with nothing that writes to a disk.
    static func redis(in directory: String, _ placement: Placement) throws -> ServerProcess {
        let socket = "\(directory)/redis.sock"
        return try ServerProcess(
            [
                "redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                "--appendonly", "no", "--maxclients", "10000", "--dir", directory,
                "--daemonize", "no", "--loglevel", "warning",
            ], socket, placement)
    }
}
