import ArgumentParser
import DeployExample
import Foundation
import ReactorClient
import ReactorCore

/// `deploy trigger`: creates a token with which a program builds a project.
struct TriggerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trigger", abstract: "Print a new token that builds a project: see fire.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The project.") var project: String

    func run() async throws {
        let coordinator = try await connection.coordinator()
        let reply = try await coordinator.dispatch(.openTrigger(project: project)).get().reply
        if let reply { StandardOutput.write(reply.trigger) }
    }
}

/// `deploy fire`: builds the project of a token.
struct FireCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fire", abstract: "Build the project of a token.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The token.") var token: String

    func run() async throws {
        guard let id = UUID(uuidString: token) else {
            throw ValidationError("expected a token as deploy trigger prints it, got \(token)")
        }
        let trigger = try await connection.explained("no project has the token \(token)") {
            try await connection.client().mirror(Coordinator.path(ofTrigger: id))
        }
        try await trigger.dispatch(.fire).get()
        if let reason = trigger.lastRefusal { throw Complaint(reason) }
    }
}
