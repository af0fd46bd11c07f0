/// Source files that have no test file of their own, and why.
///
/// A file that has got its test, or is gone, must leave this list.
enum Exemptions {
    static let untested: [String: String] = [
        "Examples/Login/login-daemon/LoginDaemon.swift": "tested end to end, as a process",
        "Examples/Login/login-demo/ShowCommand.swift": "tested end to end, as a process",
        "Examples/Login/login-demo/TypeCommand.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker-daemon/TrackerDaemon.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/CloseCommand.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/CommentCommand.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/Complaint.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/ListCommand.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/OpenCommand.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/RemindCommand.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/SearchCommand.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/TrackerConnection.swift": "tested end to end, as a process",
        "Examples/Tracker/tracker/WatchCommand.swift": "tested end to end, as a process",
        "ReactorClient/ClientOutput.swift": "orders without logic; the machine's tests read them",
        "ReactorClient/ClientStatistics.swift":
            "four counters; the tests of rollbacks, journals and checks read them",
        "ReactorClient/HeldLease.swift":
            "a part of the client; LeaseTests drive it, through real daemons",
        "ReactorClient/MirrorSagaHost.swift":
            "a part of a mirror's sagas; Mirror+SagasTests drive it",
        "ReactorClient/MirrorSagas.swift":
            "a part of a mirror's sagas; Mirror+SagasTests drive it",
        "ReactorClient/PendingActions.swift":
            "a part of the client; ClientMachineTests and ReconnectTests drive it",
        "ReactorClient/PendingRecord.swift": "PendingStateTests flip each of its bits",
        "ReactorClient/PendingStore.swift": "a protocol; AppendFileTests drive what is behind it",
        "ReactorClient/SentActions.swift":
            "a part of the client; ClientMachineTests and ReconnectTests drive it",
        "ReactorCore/ReactorCore.swift": "re-exports ReactorWire and holds nothing else",
        "ReactorCore/Scales.swift": "a part of a turn; ShrinkTests of the server have it weigh",
        "ReactorCore/ChildFailure.swift":
            "what a parent is told; RunningEffectTests and the faults' tests drive it",
        "ReactorCore/Durable/TaskTable.swift": "a part of the tree; DurableTaskTests drive it",
        "ReactorCore/History/NodePlace.swift": "two fields; TreeRecoveryTests place nodes by them",
        "ReactorCore/History/KeptPlace.swift":
            "what is kept of a node; KeptReactorTests compare and read it",
        "ReactorCore/History/OwnershipFact.swift": "a list; TreeRecoveryTests replay each case",
        "ReactorCore/History/RecoveryError.swift": "a list; TreeRecoveryTests meet each case",
        "ReactorCore/History/SavedNode.swift": "a part of a snapshot; TreeSnapshotTests take some",
        "ReactorServer/History/HistoryQuestion.swift":
            "six fields; SliceResumeTests have it answered",
        "ReactorServer/History/HistoryRow.swift": "five fields; RecoveryTests replay rows",
        "ReactorServer/History/SnapshotPart.swift":
            "the form of a snapshot; ServerSnapshotTests restore one",
        "ReactorServer/History/TurnFact.swift": "a list; RecoveryTests replay each case",
        "ReactorDaemon/History/ServerSnapshot+Write.swift":
            "the last snapshot of a daemon; HistoryCommandTests and DaemonKillTests start from it",
        "ReactorDaemon/History/SnapshotRun.swift":
            "a part of a running daemon; the tests of daemons that restart drive it",
        "ReactorCore/History/StateProbe.swift": "a server takes it; ProbeTests compare its sums",
        "ReactorCore/History/StateImport.swift":
            "states from elsewhere; HistoryCommandTests import some, in real processes",
        "ReactorDaemon/History/ArchiveClerk.swift":
            "the work of an archive's thread; HistoryArchiveTests ask it",
        "ReactorDaemon/History/HistoryDoctor.swift":
            "a doctor's words; HistoryCommandTests hear them, in real processes",
        "ReactorDaemon/History/OfflineHistory.swift":
            "behind subcommands; HistoryCommandTests and DivergenceTests run each, as processes",
        "ReactorDaemon/History/PastError.swift": "a list; HistoryCommandTests meet its cases",
        "ReactorDaemon/History/PastTree.swift":
            "a tree of the past; HistoryCommandTests look at some, in real processes",
        "ReactorDaemon/History/SavedState.swift":
            "a line of an import; HistoryCommandTests import good and bad ones",
        "ReactorCore/NeverCancels.swift": "an answer; RunningEffectTests' F48 gets it",
        "ReactorCore/Redux/ErasedAction.swift":
            "the actions of a root reactor; RootReactorTests drive it",
        "ReactorCore/Pipeline/NodeRules.swift":
            "what a node keeps; the tests of transforms, middleware and effects drive it",
        "ReactorCore/Pipeline/NodeTap.swift": "what sagas stand on; their tests drive it",
        "ReactorCore/Redux/Reducers.swift":
            "the reducers of a root reactor; RootReactorTests drive it",
        "ReactorCore/Pipeline/StreamGate.swift": "the way into a stream; TransformTests drive it",
        "ReactorCore/Pipeline/TokenList.swift":
            "the list behind middleware and taps; their tests drive it",
        "ReactorCore/Pipeline/TransformRun.swift": "a transform at work; TransformTests drive it",
        "ReactorCore/TreeClock.swift": "a clock without its type; every test of time turns one",
        "ReactorCore/TreeEnvironment.swift":
            "what is handed in; EffectTests hand in a world of their own",
        "ReactorThreads/StandardError.swift": "one system call; StoreSendingTests reach it",
        "ReactorCore/Store/StoreCore.swift": "a part of the store, whose tests drive it",
        "ReactorCore/Saga/SagaDesk.swift":
            "where sagas hear; SagaSourceTests and SagaChannelTests drive it",
        "ReactorCore/Saga/SagaError.swift": "a list; each case is met where it is thrown",
        "ReactorCore/Saga/SagaHandle.swift": "what a test of a saga holds; all of them use it",
        "ReactorCore/Saga/SagaHandler.swift": "SagaSource+HandlersTests drive each policy",
        "ReactorCore/Saga/SagaHost.swift": "a protocol; a tree and a mirror have the tests",
        "ReactorCore/Saga/SagaLog.swift": "what sagas have not heard yet; SagaSourceTests drive it",
        "ReactorCore/Saga/SagaRoom.swift": "counters that the tests of sagas read",
        "ReactorCore/Saga/SagaScope.swift":
            "what sagas hang on; SagaContext+ChildrenTests and SagaTests drive it",
        "ReactorCore/Saga/SagaWait.swift": "one answer; every wait of a saga goes through it",
        "ReactorCore/Saga/TreeSagaHost.swift": "a tree's sagas; SagaContextTests drive it",
        "ReactorDaemon/DaemonError.swift": "tested end to end, as a process",
        "ReactorDaemon/ReactorRoot.swift": "tested end to end, as a process",
        "ReactorDaemon/ServerShell.swift":
            "a daemon's turns; every live daemon of the tests, and every process, runs on it",
        "ReactorDaemon/SocketHome.swift": "tested end to end, as a process",
        "ReactorDaemon/TreeInbox.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/DaemonArguments.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/DaemonReactors.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/DaemonLog.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/DaemonOptions.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/DoctorCommand.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/ImportCommand.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/RebaselineCommand.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/ReplayCommand.swift": "tested end to end, as a process",
        "ReactorDaemonCommand/StockCatalog.swift":
            "a table; every kind is built from the example configuration",
        "ReactorJournal/BatchTable.swift": "a table's statements; JournalReaderTests drive it",
        "ReactorJournal/Journal.swift": "a protocol; its twin in memory has the tests",
        "ReactorJournal/JournalAlarm.swift": "three cases; JournalUpkeepTests meet them",
        "ReactorJournal/JournalCommitter.swift":
            "the journal's thread; SQLiteJournalTests drive it",
        "ReactorJournal/JournalDatabase.swift": "a connection; every test of the room opens one",
        "ReactorJournal/JournalDurability.swift": "two cases; SQLiteJournalTests write in both",
        "ReactorJournal/JournalFailure.swift": "two cases; SQLiteJournalTests meet both",
        "ReactorJournal/JournalFile.swift":
            "JournalFormatTests and WriteAheadLogTests open what they have spoilt",
        "ReactorJournal/JournalInstance.swift": "a number; JournalReaderTests' J54 swaps it",
        "ReactorJournal/JournalLog.swift":
            "the log's begin and end; WriteAheadLogTests look at what it leaves",
        "ReactorJournal/JournalPosition.swift": "a value; JournalReaderTests start behind many",
        "ReactorJournal/JournalRetention.swift": "two values; JournalTrimmerTests keep by both",
        "ReactorJournal/JournalRow.swift": "ChecksumTests change each of its fields",
        "ReactorJournal/JournalSchema.swift":
            "tables; GoldenHistoryTests open every format, JournalFormatTests' J69 upgrade one",
        "ReactorJournal/JournalTuning.swift": "sizes, and the faults that tests plant",
        "ReactorJournal/MetaTable.swift":
            "JournalReaderTests and SnapshotReaderTests flip its bits",
        "ReactorJournal/Row+Columns.swift": "JournalReaderTests read what bits were flipped in",
        "ReactorJournal/SnapshotHeader.swift": "a value; SnapshotReaderTests flip its bits",
        "ReactorJournal/SnapshotTask.swift": "a snapshot's thread; SnapshotWriterTests drive it",
        "ReactorJournal/System/BatchStatement.swift":
            "SQLite's calls for a row; JournalReaderTests read what bits were flipped in",
        "ReactorJournal/System/BootID.swift": "a number; JournalMarkTests read it",
        "ReactorJournal/System/Database+System.swift":
            "a few calls; JournalUpkeepTests and SQLiteJournalTests' J58 meet what they answer",
        "ReactorJournal/System/FileIdentity.swift":
            "two numbers; DataDirectoryTests and SQLiteJournalTests' J65 replace files",
        "ReactorJournal/System/OpenFile.swift":
            "one call; SQLiteJournalTests count it where batches are durable in `relaxed`",
        "ReactorJournal/System/SystemFailure.swift": "JournalErrorTests tell its codes apart",
        "ReactorJournal/System/WallClock.swift": "one system call; rows bear its answer",
        "ReactorMacros/Plugin.swift": "lists the macros; every expansion test goes through it",
        "ReactorServer/History/ProbeBook.swift": "when a probe is due; ProbeTests count with it",
        "ReactorServer/Desk.swift": "what the server keeps in one place; all of its tests use it",
        "ReactorTesting/ManualWorld.swift": "a part of the test store, whose tests turn it",
        "ReactorTesting/PlantedFault.swift": "a list; CanaryTests plant each of it",
        "ReactorTesting/Saboteur.swift": "plants faults; CanaryTests see each of them found",
        "ReactorTesting/ProxyBehavior.swift": "does nothing; ProxyReactorTests override it",
        "ReactorTesting/SimulatedClient.swift":
            "a part of the simulation, which fails if it is wrong",
        "ReactorTesting/HistorySaboteur.swift":
            "plants faults; CanaryTests see each of them found",
        "ReactorTesting/SimulatedJournal.swift":
            "a part of the world that keeps history; HistoryTests crash it",
        "ReactorTesting/SimulatedWeather.swift": "a list of chances; HistoryTests draw from it",
        "ReactorTesting/SimulatedWorld+Journal.swift":
            "HistoryTests crash through it, and CanaryTests see that it notices",
        "ReactorTesting/SimulatedLink.swift":
            "a part of the simulation, which fails if it is wrong",
        "ReactorTesting/SimulatedWorld.swift":
            "SimulationTests storm through it, and CanaryTests see that it notices",
        "ReactorTesting/StateHistory.swift": "a part of the simulation, whose tests look into it",
        "ReactorTesting/StateLedger.swift":
            "TestStoreTests and SimulationTests plant what it is to find",
        "ReactorTesting/TestStep.swift": "a part of the test store, whose tests read its text",
        "ReactorThreads/Guarded.swift": "a lock around a value; every room above goes through it",
        "ReactorWire/WireLimits.swift": "constants; each is tested where it limits",
        "reactorctl/Patience.swift": "tested end to end, as a process",
        "ReactorLoop/HeldCommand.swift": "HoldTests run commands by it, as processes",
        "ReactorLoop/HeldCommandCore.swift": "HoldTests run commands by it, as processes",
        "ReactorLoop/ProgramSpawn.swift": "HoldTests start programs by it",
        "ReactorLoop/StandardStream.swift":
            "ReactorctlTests and ReactorctlEndTests read and write by it, as processes",
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
        "reactorctl/BackupCommand.swift": "tested end to end, as a process",
        "reactorctl/ExportCommand.swift": "tested end to end, as a process",
        "reactorctl/LogCommand.swift": "tested end to end, as a process",
        "reactorctl/SnapshotCommand.swift": "tested end to end, as a process",
        "reactorctl/StatsCommand.swift": "tested end to end, as a process",
        "reactorctl/TreeCommand.swift": "tested end to end, as a process",
        "reactorctl/WaitCommand.swift": "tested end to end, as a process",
        "reactorctl/WatchCommand.swift": "tested end to end, as a process",
        "reactord/Reactord.swift": "tested end to end, as a process",
    ]
}
