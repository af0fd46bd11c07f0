import Foundation

/// A placement's servers, and how loads are put on them.
final class Bench {
    /// How much of everything a run does.
    struct Effort {
        var rounds: Int
        var seconds: Double
        /// Requests of one `redis-benchmark`, per unit of its window.
        var requestsPerWindow: Int
        var fanOutDeliveries: Int

        static let quick = Effort(
            rounds: 1, seconds: 0.2, requestsPerWindow: 4_000, fanOutDeliveries: 50_000)
        static let full = Effort(
            rounds: 5, seconds: 1, requestsPerWindow: 20_000, fanOutDeliveries: 500_000)
    }

    let placement: Placement
    let effort: Effort
    let daemonPath: String
    let directory: String
    let daemon: ServerProcess
    let redis: ServerProcess
    private var directoryCount = 0

    init(
        _ placement: Placement, _ effort: Effort, daemonPath: String, in directory: String
    ) throws {
        self.placement = placement
        self.effort = effort
        self.daemonPath = daemonPath
        self.directory = directory
        daemon = try .daemon(daemonPath, in: directory, placement)
        redis = try .redis(in: directory, placement)
    }

    /// Another daemon in this placement.
    func daemon(reactors: Int = 0, polls: Bool = true) throws -> ServerProcess {
        try .daemon(daemonPath, in: directory, placement, reactors: reactors, polls: polls)
    }

    /// A directory for one more server.
    func freshDirectory() throws -> String {
        directoryCount += 1
        let path = "\(directory)/\(directoryCount)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    /// Runs a load of our own and answers its results.
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

    /// A load of our own for as long as a round is.
    func timed(_ name: String, on server: ServerProcess, _ words: [String] = []) throws
        -> [String: Double]
    {
        try load(
            [name, "--socket", server.socket, "--seconds", String(effort.seconds)] + words)
    }

    /// Starts a load that lasts until it is told to end, and waits until it is ready.
    func lasting(_ name: String, on server: ServerProcess, _ words: [String]) throws
        -> ChildProcess
    {
        let command = [CommandLine.arguments[0], name, "--socket", server.socket] + words
        let child = try ChildProcess(command, onCore: placement.loadCore)
        try child.waitForOutput()
        return child
    }

    /// What `redis-benchmark` says of `INCR`, in requests per second.
    func redisBenchmark(window: Int, clients: Int) throws -> Double {
        // because with few connections a small window takes longer for as many requests
        let requests = max(effort.requestsPerWindow * 16, effort.requestsPerWindow * window / 4)
        let command = [
            "redis-benchmark", "-s", redis.socket, "-t", "incr", "-P", String(window), "-c",
            String(clients), "-n", String(requests), "--csv",
        ]
        let text = try ChildProcess(command, onCore: placement.loadCore).finish()
        let cells = text.split(separator: "\n").last?.split(separator: ",") ?? []
        guard cells.count > 1, let rate = Double(cells[1].filter { $0 != "\"" }) else {
            throw LoadError("redis-benchmark: expected a line of CSV, got \(text)")
        }
        return rate
    }
}
