import ArgumentParser

/// `deploy`: the client of `deploy-daemon`.
@main
struct DeployProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy",
        abstract: "Builds and deploys the projects of this host.",
        version: "1.0",
        subcommands: [
            AddCommand.self, RemoveCommand.self, SetCommand.self, UndoCommand.self,
            LimitCommand.self, BuildCommand.self, ReleaseCommand.self, FreezeCommand.self,
            CancelCommand.self, ShowCommand.self, RunsCommand.self, FollowCommand.self,
            TargetsCommand.self, AnnounceCommand.self, TriggerCommand.self, FireCommand.self,
            DashboardCommand.self, WorkCommand.self,
        ])
}
