import ArgumentParser
import Foundation
import ReactorClient
import ReactorCore
import TrackerExample

/// The options of every command: the daemon's socket, and the mirrors behind it.
struct TrackerConnection: ParsableArguments {
    @Option(help: "The daemon's socket; by default the usual places of tracker-daemon.")
    var socket: String?

    /// Mirrors the tracker.
    func tracker() async throws -> Mirror<Tracker> {
        try await connect().mirror(Tracker.self, at: "/")
    }

    /// Mirrors the issue with this number.
    func issue(_ number: Int) async throws -> Mirror<Issue> {
        let client = try await connect()
        do {
            return try await client.mirror(Issue.self, at: "/issues/\(number)")
        } catch {
            guard case .refused(let refusal) = error, refusal.code == .notFound else { throw error }
            throw Complaint("no issue has the number \(number)")
        }
    }

    private func connect() async throws(ClientError) -> Client {
        try await Client.connect(
            to: socket.map { .socket($0) } ?? .daemon("tracker-daemon"),
            options: ClientOptions(program: "tracker"))
    }
}

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
