import Foundation

/// The servers of one placement, and functions that apply loads to them.
final class Bench {
    /// The amount of work in a run.
    struct Effort {
        var rounds: Int
        var seconds: Double
        /// Requests of one `redis-benchmark`, per unit of its window.
        var requestsPerWindow: Int
        var fanOutDeliveries: Int
        /// Windows of one `redis-benchmark` whose replies wait for the disk.
        var commits: Int
        /// The size of histories and states; each measure multiplies it.
        var history: Int

        static let quick = Effort(
            rounds: 1, seconds: 0.2, requestsPerWindow: 4_000, fanOutDeliveries: 50_000,
            commits: 500, history: 100)
        static let full = Effort(
            rounds: 5, seconds: 1, requestsPerWindow: 20_000, fanOutDeliveries: 500_000,
            commits: 5_000, history: 1_000)
    }

    let placement: Placement
    let effort: Effort
    let daemon: ServerProcess
    let redis: ServerProcess
    private let daemonPath: String
    /// The directory for sockets, whose paths must be short.
    private let directory: String
    /// The directory for data, on a disk.
    private let dataDirectory: String
    private var directoryCount = 0

    init(
        _ placement: Placement, _ effort: Effort, daemonPath: String, in directory: String,
        data dataDirectory: String
    ) throws {
        self.placement = placement
        self.effort = effort
        self.daemonPath = daemonPath
        self.directory = directory
        self.dataDirectory = dataDirectory
        daemon = try .daemon(daemonPath, DaemonSetup(), in: directory, placement)
        redis = try .redis(durability: .memory, in: directory, data: directory, placement)
    }

    /// Starts another daemon in this placement, with a new data directory unless `setup` names
    /// one.
    func daemon(_ setup: DaemonSetup) throws -> ServerProcess {
        var setup = setup
        if setup.durability != .memory, setup.dataDirectory == nil {
            setup.dataDirectory = try freshDataDirectory()
        }
        return try .daemon(daemonPath, setup, in: freshDirectory(), placement)
    }

    /// Starts another Redis in this placement, with a new data directory.
    func redis(_ durability: ReplyDurability) throws -> ServerProcess {
        try .redis(
            durability: durability, in: freshDirectory(), data: freshDataDirectory(), placement)
    }

    /// Creates a directory on the measured disk.
    func freshDataDirectory() throws -> String { try freshDirectory(in: dataDirectory) }

    private func freshDirectory() throws -> String { try freshDirectory(in: directory) }

    private func freshDirectory(in parent: String) throws -> String {
        directoryCount += 1
        let path = "\(parent)/\(directoryCount)"
        // A daemon requires a data directory that only its user can read.
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        return path
    }

    /// Runs a load in a child process and returns its results.
    func load(_ words: [String]) throws -> [String: Double] {
        let command = ["timeout", "120", CommandLine.arguments[0]] + words
        let text = try ChildProcess(command, onCore: placement.loadCore).finish()
        var results: [String: Double] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2 { results[String(parts[0])] = Double(parts[1]) }
        }
        return results
    }

    /// Runs a load for the duration of a round.
    func timed(_ name: String, on server: ServerProcess, _ words: [String] = []) throws
        -> [String: Double]
    {
        try load(
            [name, "--socket", server.socket, "--seconds", String(effort.seconds)] + words)
    }

    /// Starts a load that runs until its input ends, and waits until it is ready.
    func lasting(_ name: String, on server: ServerProcess, _ words: [String]) throws
        -> ChildProcess
    {
        let command = [CommandLine.arguments[0], name, "--socket", server.socket] + words
        let child = try ChildProcess(command, onCore: placement.loadCore)
        try child.waitForOutput()
        return child
    }

    /// Returns the requests per second that `redis-benchmark` measures for `INCR`.
    func redisBenchmark(
        on server: ServerProcess? = nil, window: Int, clients: Int, requests: Int? = nil
    ) throws -> Double {
        // A small window takes longer for the same number of requests.
        let few = max(effort.requestsPerWindow * 16, effort.requestsPerWindow * window / 4)
        let command = [
            "redis-benchmark", "-s", (server ?? redis).socket, "-t", "incr", "-P", String(window),
            "-c", String(clients), "-n", String(requests ?? few), "--csv",
        ]
        let text = try ChildProcess(command, onCore: placement.loadCore).finish()
        let cells = text.split(separator: "\n").last?.split(separator: ",") ?? []
        guard cells.count > 1, let rate = Double(cells[1].filter { $0 != "\"" }) else {
            throw LoadError("redis-benchmark: expected a line of CSV, got \(text)")
        }
        return rate
    }
}
