/// The plan of the house: every room, the floor it stands on, and whom it may know.
///
/// The manifest draws the same arrows for the compiler; this copy is what they are compared with,
/// so that a new arrow is a decision made in two places.
enum Plan {
    /// One target of `Sources`.
    struct Room {
        let name: String
        /// Ground floor 0; an arrow leads to a lower floor, always.
        let floor: Int
        /// Rooms of ours that it may import.
        var rooms: Set<String> = []
        /// Modules of other packages that it may import.
        var products: Set<String> = []
        /// Modules of the tool chain and the system that it may import.
        var system: Set<String> = []
        /// Folders of `Tests` that hold its tests.
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

        /// Everything that a file of the room may import.
        var importable: Set<String> { rooms.union(products).union(system) }
    }

    static let rooms: [Room] = [
        // libuv's headers; everything else is above it.
        Room("CLibUV", floor: 0, tests: ["ReactorLoopTests"]),
        // The checksum's header; everything else is above it.
        Room("CXXHash", floor: 0, tests: ["ReactorJournalTests"]),
        // LZ4 blocks.
        Room("CLZ4", floor: 0, tests: ["ReactorJournalTests"]),
        // Memory for bytes and for what is touched most; must not know anything above.
        Room("ReactorBytes", floor: 0),
        // The compiler plug-in; must not know run time.
        Room(
            "ReactorMacros", floor: 0,
            products: [
                "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder",
                "SwiftSyntaxMacros",
            ]),
        // Lock, doorbell queue, executor; must not know anything above.
        Room("ReactorThreads", floor: 0, system: ["Glibc", "Darwin", "Synchronization"]),
        // Bytes; must not know sockets, reactors, Foundation.
        Room("ReactorWire", floor: 1, rooms: ["ReactorBytes", "ReactorMacros"]),
        // libuv in Swift; must not know frames, reactors.
        Room(
            "ReactorLoop", floor: 1, rooms: ["CLibUV", "ReactorBytes", "ReactorThreads"],
            system: ["Glibc", "Darwin", "Synchronization"]),
        // The authoring model; must not know sockets, disks.
        Room(
            "ReactorCore", floor: 2,
            rooms: ["ReactorBytes", "ReactorWire", "ReactorMacros", "ReactorThreads"],
            products: ["DequeModule", "HashTreeCollections"]),
        // Ready-made reactors; must not know the server.
        Room("StockReactors", floor: 3, rooms: ["ReactorCore"], products: ["HashTreeCollections"]),
        // Durable batches; must not know sockets.
        Room(
            "ReactorJournal", floor: 3,
            rooms: ["CLZ4", "CXXHash", "ReactorBytes", "ReactorThreads"],
            products: ["GRDB", "GRDBSQLite"], system: ["Glibc", "Darwin", "FoundationEssentials"]),
        // The daemon's brain, sans-I/O; must not know concrete reactors, clocks, threads.
        Room(
            "ReactorServer", floor: 3, rooms: ["ReactorBytes", "ReactorCore", "ReactorWire"],
            products: ["DequeModule"]),
        // The client's machine and its thin shell; must not know the server.
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
                "ReactorBytes", "ReactorServer", "ReactorLoop", "ReactorJournal", "ReactorCore",
                "ReactorWire", "ReactorThreads",
            ],
            products: ["Logging", "Yams"], system: ["Glibc", "Darwin", "Foundation"]),
        // A daemon as a program: its command line; must not know what an author's serves.
        Room(
            "ReactorDaemonCommand", floor: 5,
            rooms: [
                "ReactorDaemon", "ReactorCore", "ReactorLoop", "ReactorThreads", "StockReactors",
            ],
            products: ["ArgumentParser", "Logging"], system: ["Glibc", "Darwin", "Foundation"],
            tests: ["ReactorDaemonTests", "ExamplesTests"]),
        // Argument parsing and little more.
        Room("reactord", floor: 6, rooms: ["ReactorDaemonCommand"], tests: ["ReactorDaemonTests"]),
        Room(
            "reactorctl", floor: 6,
            rooms: ["ReactorClient", "ReactorCore", "ReactorLoop", "ReactorWire"],
            products: ["ArgumentParser", "Subprocess"],
            system: ["Glibc", "Darwin", "Synchronization"],
            tests: ["ReactorDaemonTests"]),
        // Beside the house: what authors' tests need.
        Room(
            "ReactorTesting", floor: 5,
            rooms: [
                "ReactorBytes", "ReactorCore", "ReactorServer", "ReactorClient", "ReactorDaemon",
                "ReactorWire", "ReactorLoop", "ReactorThreads",
            ],
            system: ["FoundationEssentials", "Testing"],
            tests: ["ReactorTestingTests", "SimulationTests"]),
        // Programs of authors; must know nothing but what an author does.
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
        // Programs that tests start; its files stand beside the tests.
        Room("TestPrograms", floor: 0, tests: []),
        Room(
            "stubborn-daemon", floor: 6, rooms: ["ReactorCore", "ReactorDaemonCommand"],
            system: ["Glibc"], tests: []),
        Room(
            "fickle-daemon", floor: 6, rooms: ["ReactorCore", "ReactorDaemonCommand"],
            system: ["Foundation"], tests: []),
        // What the tutorial's reader writes.
        Room("GuestbookCore", floor: 6, rooms: ["ReactorCore"], tests: []),
        Room(
            "guestbook-daemon", floor: 7, rooms: ["GuestbookCore", "ReactorDaemonCommand"],
            tests: []),
        Room("sign", floor: 7, rooms: ["GuestbookCore", "ReactorClient"], tests: []),
        Room(
            "journal-writer", floor: 4, rooms: ["ReactorJournal", "ReactorThreads"],
            system: ["Glibc"], tests: []),
        Room(
            "client-writer", floor: 4, rooms: ["ReactorClient", "StockReactors"],
            system: ["Glibc"], tests: []),
    ]

    /// Test targets that belong to no single room.
    static let houseTests: Set = [
        "SimulationTests", "ArchitectureTests", "ExamplesTests", "GuideTests", "GuestbookTests",
    ]

    /// Targets that are written in a guide, and have the settings that their reader has.
    static let guests: Set = ["GuestbookCore", "guestbook-daemon", "sign", "GuestbookTests"]

    /// What may stand at the top, besides names that begin with a dot.
    static let topLevel: Set = [
        "Package.swift", "Sources", "Tests", "Config", "Benchmarks", "README.md",
    ]

    /// The most lines of a Swift file.
    static let fileLinesMax = 500
    /// The most lines of a function, from its first word to its last brace.
    static let functionLinesMax = 70

    /// The room called `name`.
    static func room(_ name: String) -> Room? { rooms.first { $0.name == name } }
}
