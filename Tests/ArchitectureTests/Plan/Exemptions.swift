/// Source files that have no test file of their own, and why.
///
/// A file that has got its test, or is gone, must leave this list.
enum Exemptions {
    static let untested: [String: String] = [
        "ReactorClient/ClientOutput.swift": "orders without logic; the machine's tests read them",
        "ReactorClient/HeldLease.swift":
            "a part of the client; LeaseTests drive it, through real daemons",
        "ReactorClient/PendingActions.swift":
            "a part of the client; ClientMachineTests and ReconnectTests drive it",
        "ReactorClient/SentActions.swift":
            "a part of the client; ClientMachineTests and ReconnectTests drive it",
        "ReactorCore/ReactorCore.swift": "re-exports ReactorWire and holds nothing else",
        "ReactorCore/ChildFailure.swift":
            "what a parent is told; RunningEffectTests and the faults' tests drive it",
        "ReactorCore/Redux/ErasedAction.swift":
            "the actions of a root reactor; RootReactorTests drive it",
        "ReactorCore/Pipeline/NodeRules.swift":
            "what a node keeps; the tests of transforms, middleware and effects drive it",
        "ReactorCore/Pipeline/NodeTap.swift": "what sagas stand on; their tests drive it",
        "ReactorCore/Redux/Reducers.swift":
            "the reducers of a root reactor; RootReactorTests drive it",
        "ReactorCore/Pipeline/TokenList.swift":
            "the list behind middleware and taps; their tests drive it",
        "ReactorCore/Pipeline/TransformRun.swift": "a transform at work; TransformTests drive it",
        "ReactorCore/TreeClock.swift": "a clock without its type; every test of time turns one",
        "ReactorCore/TreeEnvironment.swift":
            "what is handed in; EffectTests hand in a world of their own",
        "ReactorThreads/StandardError.swift": "one system call; StoreSendingTests reach it",
        "ReactorCore/Store/StoreCore.swift": "a part of the store, whose tests drive it",
        "ReactorDaemon/Daemon.swift": "tested end to end, as a process",
        "ReactorDaemon/DaemonError.swift": "tested end to end, as a process",
        "ReactorDaemon/ReactorRoot.swift": "tested end to end, as a process",
        "ReactorDaemon/SocketHome.swift": "tested end to end, as a process",
        "ReactorDaemon/TreeInbox.swift": "tested end to end, as a process",
        "ReactorJournal/Journal.swift": "a protocol; its twin in memory has the tests",
        "ReactorMacros/Plugin.swift": "lists the macros; every expansion test goes through it",
        "ReactorServer/Desk.swift": "what the server keeps in one place; all of its tests use it",
        "ReactorTesting/PlantedFault.swift": "a list; SaboteurTests plants each of it",
        "ReactorTesting/SimulatedClient.swift":
            "a part of the simulation, which fails if it is wrong",
        "ReactorTesting/SimulatedLink.swift":
            "a part of the simulation, which fails if it is wrong",
        "ReactorThreads/Guarded.swift": "a lock around a value; every room above goes through it",
        "ReactorWire/WireLimits.swift": "constants; each is tested where it limits",
        "reactorctl/ActionStream.swift": "tested end to end, as a process",
        "reactorctl/ActionTemplate.swift": "tested end to end, as a process",
        "reactorctl/ActionText.swift": "tested end to end, as a process",
        "reactorctl/ConnectionOptions.swift": "tested end to end, as a process",
        "reactorctl/DescribeCommand.swift": "tested end to end, as a process",
        "reactorctl/DispatchCommand.swift": "tested end to end, as a process",
        "reactorctl/Failure.swift": "tested end to end, as a process",
        "reactorctl/GetCommand.swift": "tested end to end, as a process",
        "reactorctl/HoldCommand.swift": "tested end to end, as a process",
        "reactorctl/OutcomeLine.swift": "tested end to end, as a process",
        "reactorctl/Output.swift": "tested end to end, as a process",
        "reactorctl/PingCommand.swift": "tested end to end, as a process",
        "reactorctl/SchemaText.swift": "tested end to end, as a process",
        "reactorctl/StatsCommand.swift": "tested end to end, as a process",
        "reactorctl/TreeCommand.swift": "tested end to end, as a process",
        "reactorctl/WaitCommand.swift": "tested end to end, as a process",
        "reactorctl/WatchCommand.swift": "tested end to end, as a process",
        "reactord/ReactordCommand.swift": "tested end to end, as a process",
        "reactord/StockKinds.swift": "a table; every kind is built from the example configuration",
    ]
}
