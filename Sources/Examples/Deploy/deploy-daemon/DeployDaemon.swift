import DeployExample
import Foundation
import ReactorDaemonCommand

/// `deploy-daemon`: coordinates builds and deployments for the client `deploy`.
@main
struct DeployDaemon: DaemonCommand {
    static let abstract = "Coordinates the builds and deployments of this host."
    static let version = "1.0"
    static let keepsData = true
    static var reactors: DaemonReactors { .root(Coordinator(hooks: .host)) }
}

extension Hooks {
    /// Deploys by the project's script, and announces by the script in `DEPLOY_ANNOUNCE`, if there
    /// is one. The scripts get the run in `DEPLOY_RUN`, and further facts in other variables.
    fileprivate static let host = Hooks(
        deploy: { deployment in
            try await Shell.succeed(
                deployment.script,
                environment: [
                    "DEPLOY_RUN": "\(deployment.run)", "DEPLOY_TASK": "\(deployment.task)",
                    "DEPLOY_ENVIRONMENT": deployment.environment.rawValue,
                ])
        },
        announce: { news in
            guard let script = ProcessInfo.processInfo.environment["DEPLOY_ANNOUNCE"] else {
                return
            }
            _ = try await Shell.succeed(
                script,
                environment: ["DEPLOY_RUN": "\(news.run)", "DEPLOY_PHASE": news.phase.rawValue])
        })
}
