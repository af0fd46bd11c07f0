public import ArgumentParser
import DeployExample
import Foundation
import ReactorClient
import ReactorCore

/// The option of every command: the daemon's socket.
struct DeployConnection: ParsableArguments {
    @Option(help: "The daemon's socket; by default the usual places of deploy-daemon.")
    var socket: String?

    /// Connects to the daemon.
    func client() async throws -> Client {
        try await Client.connect(
            to: socket.map { .socket($0) } ?? .daemon("deploy-daemon"),
            options: ClientOptions(program: "deploy"))
    }

    /// Mirrors the coordinator.
    func coordinator() async throws -> Mirror<Coordinator> {
        try await client().mirror(Coordinator.self, at: "/")
    }

    /// Mirrors the project with this name.
    func project(_ name: String) async throws -> Mirror<Project> {
        try await explained("no project is called \(name)") {
            try await client().mirror(Coordinator.path(of: name))
        }
    }

    /// Mirrors a run.
    func run(_ number: Int, of project: String) async throws -> Mirror<Run> {
        try await explained("\(project) has no run \(number)") {
            try await client().mirror(RunID(project: project, number: number).path)
        }
    }

    /// Runs `body`, and throws `complaint` if the daemon knows no such node.
    func explained<Value: Sendable>(
        _ complaint: String, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch ClientError.refused(let refusal) where refusal.code == .notFound {
            throw Complaint(complaint)
        }
    }
}

extension RunPhase: ExpressibleByArgument {}
extension Environment: ExpressibleByArgument {}

/// The reason why a command failed, as one line for the user.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The lines that the commands print.
enum StandardOutput {
    /// Writes a line without buffering.
    static func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
