/// Source files that have no test file of their own, and why.
///
/// A file that has got its test, or is gone, must leave this list.
enum Exemptions {
    static let untested: [String: String] = [
        "ReactorClient/ClientOutput.swift": "orders without logic; the machine's tests read them",
        "ReactorCore/ReactorCore.swift": "re-exports ReactorWire and holds nothing else",
        "ReactorMacros/Plugin.swift": "lists the macros; every expansion test goes through it",
        "ReactorServer/ServerOutput.swift": "orders without logic; the server's tests read them",
        "ReactorServer/ServerStats.swift": "counters without logic; each is tested where it counts",
        "ReactorWire/WireLimits.swift": "constants; each is tested where it limits",
        "reactorctl/ConnectionOptions.swift": "tested end to end, as a process",
        "reactorctl/DescribeCommand.swift": "tested end to end, as a process",
        "reactorctl/DispatchCommand.swift": "tested end to end, as a process",
        "reactorctl/GetCommand.swift": "tested end to end, as a process",
        "reactorctl/HoldCommand.swift": "tested end to end, as a process",
        "reactorctl/PingCommand.swift": "tested end to end, as a process",
        "reactorctl/Reactorctl.swift": "tested end to end, as a process",
        "reactorctl/StatsCommand.swift": "tested end to end, as a process",
        "reactorctl/TreeCommand.swift": "tested end to end, as a process",
        "reactorctl/WaitCommand.swift": "tested end to end, as a process",
        "reactorctl/WatchCommand.swift": "tested end to end, as a process",
        "reactord/ReactordCommand.swift": "tested end to end, as a process",
        "reactord/StockKinds.swift": "a table; every kind is built from the example configuration",
    ]
}
