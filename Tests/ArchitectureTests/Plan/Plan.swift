/// The plan of the package: every target, its level, and the modules it may import.
///
/// The manifest declares the same dependencies for the compiler. The tests compare it with this
/// copy, so that a new dependency is decided in two places.
enum Plan {
    /// A target in `Sources`.
    struct Room {
        let name: String
        /// The level, from 0; a dependency always leads to a lower level.
        let floor: Int
        /// Targets of this package that the target may import.
        var rooms: Set<String> = []
        /// Modules of other packages that the target may import.
        var products: Set<String> = []
        /// Modules of the tool chain and the system that the target may import.
        var system: Set<String> = []
        /// Folders of `Tests` with its tests.
        var tests: [String]

        init(
            _ name: String, floor: Int, rooms: Set<String> = [], products: Set<String> = [],
            system: Set<String> = [], tests: [String]? = nil
        ) {
            self.name = name
            self.floor = floor
            self.rooms = rooms
            self.products = products
            self.system = system
            self.tests = tests ?? ["\(name)Tests"]
        }

        /// All modules that a file of the target may import.
        var importable: Set<String> { rooms.union(products).union(system) }
    }

    static let rooms: [Room] = [
        // Headers of libuv; must not know any other target.
        Room("CLibUV", floor: 0, tests: ["ReactorLoopTests"]),
        // Headers of xxHash; must not know any other target.
        Room("CXXHash", floor: 0, tests: ["ReactorJournalTests"]),
        // LZ4 blocks.
        Room("CLZ4", floor: 0, tests: ["ReactorJournalTests"]),
        // SQLite.
        Room("CSQLite", floor: 0, tests: ["ReactorJournalTests"]),
        // libyaml.
        Room("CLibYAML", floor: 0, tests: ["ReactorYAMLTests"]),
        // HTTP/2 connections.
        Room("CNGHTTP2", floor: 0, tests: ["ReactorEtcdTests"]),
        // Memory for bytes and for the most used values; must not know any target above.
        Room("ReactorBytes", floor: 0, system: ["Glibc", "Darwin"]),
        // The compiler plug-in; must not know the run time.
        Room(
            "ReactorMacros", floor: 0,
            products: [
                "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder",
                "SwiftSyntaxMacros",
            ]),
        // Lock, doorbell queue, executor; must not know any target above.
        Room("ReactorThreads", floor: 0, system: ["Glibc", "Darwin", "Synchronization"]),
        // Bytes of the wire format; must not know sockets, reactors, Foundation.
        Room("ReactorWire", floor: 1, rooms: ["ReactorBytes", "ReactorMacros"]),
        // libyaml in Swift: a text as a tree; must not know the meaning of the tree.
        Room("ReactorYAML", floor: 1, rooms: ["CLibYAML"]),
        // libuv in Swift; must not know frames, reactors.
        Room(
            "ReactorLoop", floor: 1, rooms: ["CLibUV", "ReactorBytes", "ReactorThreads"],
            system: ["Glibc", "Darwin", "Synchronization"],
            tests: ["ReactorLoopTests", "ReactorDaemonTests"]),
        // The authoring model; must not know sockets, disks.
        Room(
            "ReactorCore", floor: 2,
            rooms: ["ReactorBytes", "ReactorWire", "ReactorMacros", "ReactorThreads"],
            products: ["DequeModule", "HashTreeCollections"]),
        // The log between daemons and the leadership, without I/O; must not know reactors,
        // SQLite, clocks, threads, or the engine's client.
        Room(
            "ReactorCluster", floor: 2, rooms: ["ReactorBytes"],
            tests: ["ReactorClusterTests", "SimulationTests"]),
        // Foundation's types on the wire; must not know the server.
        Room(
            "ReactorFoundation", floor: 3, rooms: ["ReactorCore", "ReactorWire"],
            system: ["Foundation", "FoundationEssentials"]),
        // Ready-made reactors; must not know the server.
        Room("StockReactors", floor: 3, rooms: ["ReactorCore"], products: ["HashTreeCollections"]),
        // Durable batches; must not know sockets.
        Room(
            "ReactorJournal", floor: 3,
            rooms: ["CLZ4", "CSQLite", "CXXHash", "ReactorBytes", "ReactorThreads"],
            system: ["Glibc", "Darwin"]),
        // The cluster's log in etcd; must not know reactors, the server.
        Room(
            "ReactorEtcd", floor: 3,
            rooms: ["CNGHTTP2", "ReactorCluster", "ReactorLoop", "ReactorThreads"],
            products: ["SwiftProtobuf"],
            system: ["FoundationEssentials"]),
        // The server's state machine, without I/O; must not know concrete reactors, clocks,
        // threads.
        Room(
            "ReactorServer", floor: 3, rooms: ["ReactorBytes", "ReactorCore", "ReactorWire"],
            products: ["DequeModule"]),
        // The client's state machine and its shell; must not know the server.
        Room(
            "ReactorClient", floor: 3,
            rooms: [
                "ReactorBytes", "ReactorCore", "ReactorWire", "ReactorLoop", "ReactorThreads",
            ],
            products: ["DequeModule"],
            system: ["Glibc", "Darwin", "Observation"]),
        // Joins server, loop and journal; must not know concrete reactors.
        Room(
            "ReactorDaemon", floor: 4,
            rooms: [
                "ReactorBytes", "ReactorServer", "ReactorLoop", "ReactorJournal", "ReactorCluster",
                "ReactorEtcd", "ReactorCore", "ReactorWire", "ReactorThreads", "ReactorYAML",
            ],
            products: ["CoreMetrics", "DequeModule", "Logging"], system: ["Glibc", "Darwin"]),
        // A daemon as a program: its command line; must not know an author's reactors.
        Room(
            "ReactorDaemonCommand", floor: 5,
            rooms: [
                "ReactorDaemon", "ReactorCore", "ReactorLoop", "ReactorThreads", "StockReactors",
            ],
            products: ["ArgumentParser", "Logging"],
            system: ["FoundationEssentials", "Glibc", "Darwin"],
            tests: ["ReactorDaemonTests", "ExamplesTests"]),
        // Argument parsing and little more.
        Room("reactord", floor: 6, rooms: ["ReactorDaemonCommand"], tests: ["ReactorDaemonTests"]),
        Room(
            "reactorctl", floor: 6,
            rooms: ["ReactorClient", "ReactorCore", "ReactorLoop", "ReactorWire"],
            products: ["ArgumentParser"],
            system: ["Glibc", "Darwin", "Synchronization"],
            tests: ["ReactorDaemonTests"]),
        // Tools for authors' tests.
        Room(
            "ReactorTesting", floor: 5,
            rooms: [
                "ReactorBytes", "ReactorCore", "ReactorServer", "ReactorClient", "ReactorDaemon",
                "ReactorWire", "ReactorLoop", "ReactorThreads",
            ],
            system: ["FoundationEssentials", "Testing"],
            tests: ["ReactorTestingTests", "SimulationTests"]),
        // Example programs; must know only the public libraries.
        Room("LoginExample", floor: 6, rooms: ["ReactorCore"], tests: ["ExamplesTests"]),
        Room(
            "login-daemon", floor: 7, rooms: ["LoginExample", "ReactorDaemonCommand"],
            tests: ["ExamplesTests"]),
        Room(
            "login-demo", floor: 7, rooms: ["LoginExample", "ReactorClient", "ReactorCore"],
            products: ["ArgumentParser"], system: ["Foundation"],
            tests: ["ExamplesTests"]),
        Room("TrackerExample", floor: 6, rooms: ["ReactorCore"], tests: ["ExamplesTests"]),
        Room(
            "tracker-daemon", floor: 7,
            rooms: ["TrackerExample", "ReactorCore", "ReactorDaemonCommand"],
            system: ["Foundation"], tests: ["ExamplesTests"]),
        Room(
            "tracker", floor: 7, rooms: ["TrackerExample", "ReactorClient", "ReactorCore"],
            products: ["ArgumentParser"], system: ["Foundation"],
            tests: ["ExamplesTests"]),
        Room(
            "DeployExample", floor: 6, rooms: ["ReactorCore", "ReactorFoundation"],
            system: ["Foundation"],
            tests: ["ExamplesTests"]),
        Room(
            "deploy-daemon", floor: 7, rooms: ["DeployExample", "ReactorDaemonCommand"],
            system: ["Foundation"], tests: ["ExamplesTests"]),
        Room(
            "deploy", floor: 7, rooms: ["DeployExample", "ReactorClient", "ReactorCore"],
            products: ["ArgumentParser"], system: ["Foundation"],
            tests: ["ExamplesTests"]),
        // A cluster in memory; its files are beside the tests.
        Room(
            "ClusterSimulation", floor: 6, rooms: ["ReactorCluster", "ReactorTesting"],
            tests: ["SimulationTests"]),
        // Programs that tests start; their files are beside the tests.
        Room("TestPrograms", floor: 0, tests: []),
        Room(
            "stubborn-daemon", floor: 6, rooms: ["ReactorCore", "ReactorDaemonCommand"],
            products: ["Metrics"], system: ["Glibc"], tests: []),
        Room(
            "fickle-daemon", floor: 6, rooms: ["ReactorCore", "ReactorDaemonCommand"],
            system: ["Foundation"], tests: []),
        // The files that the tutorial's reader writes.
        Room("GuestbookCore", floor: 6, rooms: ["ReactorCore"], tests: []),
        Room(
            "guestbook-daemon", floor: 7, rooms: ["GuestbookCore", "ReactorDaemonCommand"],
            tests: []),
        Room("sign", floor: 7, rooms: ["GuestbookCore", "ReactorClient"], tests: []),
        Room(
            "journal-writer", floor: 4,
            rooms: ["ReactorBytes", "ReactorJournal", "ReactorThreads"],
            system: ["Glibc"], tests: []),
        // Measures the cluster's log; its files are beside the benchmarks.
        Room(
            "etcd-bench", floor: 5, rooms: ["ReactorCluster", "ReactorEtcd", "ReactorLoop"],
            products: ["ArgumentParser"], system: ["Foundation", "Glibc"], tests: []),
        Room(
            "client-writer", floor: 4, rooms: ["ReactorClient", "StockReactors"],
            system: ["Glibc"], tests: []),
    ]

    /// Test targets that belong to no single target.
    static let houseTests: Set = [
        "SimulationTests", "ArchitectureTests", "ExamplesTests", "GuideTests", "GuestbookTests",
    ]

    /// Targets from a guide, with the settings that the guide's reader has.
    static let guests: Set = ["GuestbookCore", "guestbook-daemon", "sign", "GuestbookTests"]

    /// Entries allowed at the top, besides names that begin with a dot.
    static let topLevel: Set = [
        "Package.swift", "Sources", "Tests", "Config", "Benchmarks", "README.md",
    ]

    /// Maximum number of lines of a Swift file.
    static let fileLinesMax = 500
    /// Maximum number of lines of a function, from its first word to its last brace.
    static let functionLinesMax = 70

    /// The target called `name`.
    static func room(_ name: String) -> Room? { rooms.first { $0.name == name } }
}
