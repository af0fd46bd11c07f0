import ArgumentParser

/// Compares the daemon with Redis on this machine, in one run.
@main
struct ReactorBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reactor-bench",
        abstract: "Compares reactord with Redis over Unix sockets.",
        subcommands: [
            RunCommand.self, InstructionsCommand.self, ActionsLoad.self, RoundTripLoad.self,
            AwaitLoad.self,
            RedisRoundTripLoad.self, FloorLoad.self, VisibleLoad.self, RedisVisibleLoad.self,
            FanOutLoad.self, RedisFanOutLoad.self, IdleLoad.self, LocalLoad.self,
            CommitsLoad.self, PingLoad.self, SlicesLoad.self, FillLoad.self, CountedLoad.self,
        ],
        defaultSubcommand: RunCommand.self)
}
