import ArgumentParser
import DeployExample
import ReactorClient
import ReactorCore

/// `deploy work`: a worker, which performs the scripts of runs.
struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work", abstract: "Perform runs until the program is stopped.")

    @OptionGroup var connection: DeployConnection
    @Option(help: "The worker's name, for people.") var name = "worker"

    func run() async throws {
        let client = try await connection.client()
        let workers = try await client.mirror(Coordinator.workersPath)
        while true {
            switch await workers.dispatch(.next(name: name)) {
            case .applied(_, let reply?): try await perform(reply.run, client)
            // The connection has ended, and with it the wait, or the ownership of the run. The
            // client has a new connection.
            case .ownerEnded: continue
            case .rejected(let rejection) where rejection.code == FaultCode.ownerEnded.rawValue:
                continue
            case let outcome: try outcome.get()
            }
        }
    }

    private func perform(_ id: RunID, _ client: Client) async throws {
        StandardOutput.write("performs \(id)")
        let run = try await client.mirror(id.path)
        let result = try await Shell.run(run.order.script, environment: ["DEPLOY_RUN": "\(id)"])
        for line in result.lines where !run.send(.log(line)) {
            // The queue is full: wait for this line.
            _ = await run.dispatch(.log(line))
        }
        switch await run.dispatch(.finish(exitCode: result.status)) {
        case .applied: break
        case .rejected(let rejection): StandardOutput.write("\(id): \(rejection.message)")
        case let outcome: try outcome.get()
        }
    }
}
