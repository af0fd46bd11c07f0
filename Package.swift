// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// What holds for every target of ours: the compiler is the first reviewer.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let collections = Target.Dependency.product(
    name: "HashTreeCollections", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "reactord",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "ReactorCore", targets: ["ReactorCore"]),
        .library(name: "ReactorClient", targets: ["ReactorClient"]),
        .library(name: "ReactorDaemon", targets: ["ReactorDaemon"]),
        .library(name: "ReactorDaemonCommand", targets: ["ReactorDaemonCommand"]),
        .library(name: "ReactorWire", targets: ["ReactorWire"]),
        .library(name: "ReactorBytes", targets: ["ReactorBytes"]),
        .library(name: "ReactorServer", targets: ["ReactorServer"]),
        .library(name: "ReactorLoop", targets: ["ReactorLoop"]),
        .library(name: "StockReactors", targets: ["StockReactors"]),
        .library(name: "ReactorTesting", targets: ["ReactorTesting"]),
        .executable(name: "reactord", targets: ["reactord"]),
        .executable(name: "reactorctl", targets: ["reactorctl"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        // Without Foundation, so that programs which start others are linked without its ICU.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    ],
    targets: [
        // Ground floor. libuv's headers, and nothing that is ours.
        .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        // The checksum's header, and nothing that is ours.
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        // LZ4 blocks.
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        // Checked loads and stores of whole words. Must not know anything above.
        .target(name: "ReactorBytes", swiftSettings: strict),
        // The compiler plug-in. Must not know run time.
        .macro(
            name: "ReactorMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ],
            swiftSettings: strict),
        // Lock, doorbell queue, executor. Must not know anything above.
        .target(name: "ReactorThreads", swiftSettings: strict),

        // First floor. Bytes. Must not know sockets, reactors, Foundation.
        .target(
            name: "ReactorWire", dependencies: ["ReactorBytes", "ReactorMacros"],
            swiftSettings: strict),
        // libuv in Swift. Must not know frames, reactors.
        .target(
            name: "ReactorLoop", dependencies: ["CLibUV", "ReactorBytes", "ReactorThreads"],
            swiftSettings: strict),

        // Second floor. The authoring model. Must not know sockets, disks.
        .target(
            name: "ReactorCore",
            dependencies: [
                "ReactorBytes", "ReactorWire", "ReactorMacros", "ReactorThreads", collections,
                deque,
            ],
            swiftSettings: strict),

        // Third floor. Ready-made reactors. Must not know the server.
        .target(
            name: "StockReactors", dependencies: ["ReactorCore", collections],
            swiftSettings: strict),
        // Durable batches. Must not know sockets.
        .target(
            name: "ReactorJournal",
            dependencies: ["CLZ4", "CXXHash", "ReactorBytes", "ReactorThreads", grdb, grdbSQLite],
            swiftSettings: strict),
        // The daemon's brain, sans-I/O. Must not know concrete reactors, clocks, threads.
        .target(
            name: "ReactorServer",
            dependencies: ["ReactorBytes", "ReactorCore", "ReactorWire", deque],
            swiftSettings: strict),
        // The pure machine and its thin shell. Must not know the server.
        .target(
            name: "ReactorClient",
            dependencies: [
                "ReactorBytes", "ReactorCore", "ReactorWire", "ReactorLoop", "ReactorThreads",
                deque,
            ],
            swiftSettings: strict),

        // Fourth floor. Joins server, loop and journal. Must not know concrete reactors.
        .target(
            name: "ReactorDaemon",
            dependencies: [
                "ReactorBytes", "ReactorServer", "ReactorLoop", "ReactorJournal", "ReactorCore",
                "ReactorWire", "ReactorThreads", logging, .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict),

        // Fifth floor. A daemon as a program: its command line. Must not know what it serves.
        .target(
            name: "ReactorDaemonCommand",
            dependencies: [
                "ReactorDaemon", "ReactorCore", "ReactorLoop", "ReactorThreads", "StockReactors",
                argumentParser, logging,
            ],
            swiftSettings: strict),

        // The roof. Argument parsing and little more.
        .executableTarget(
            name: "reactord", dependencies: ["ReactorDaemonCommand"], swiftSettings: strict),
        .executableTarget(
            name: "reactorctl",
            dependencies: [
                "ReactorClient", "ReactorCore", "ReactorLoop", "ReactorWire", argumentParser,
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict),

        // Beside the house. For authors' tests.
        .target(
            name: "ReactorTesting",
            dependencies: [
                "ReactorBytes", "ReactorCore", "ReactorServer", "ReactorClient", "ReactorDaemon",
                "ReactorWire", "ReactorLoop", "ReactorThreads",
            ],
            swiftSettings: strict),

        // The garden. Programs of authors, written with what every author has.
        .target(
            name: "LoginExample", dependencies: ["ReactorCore"],
            path: "Sources/Examples/Login/LoginExample", swiftSettings: strict),
        .executableTarget(
            name: "login-daemon", dependencies: ["LoginExample", "ReactorDaemonCommand"],
            path: "Sources/Examples/Login/login-daemon", swiftSettings: strict),
        .executableTarget(
            name: "login-demo",
            dependencies: ["LoginExample", "ReactorClient", "ReactorCore", argumentParser],
            path: "Sources/Examples/Login/login-demo", swiftSettings: strict),
        .target(
            name: "TrackerExample", dependencies: ["ReactorCore"],
            path: "Sources/Examples/Tracker/TrackerExample", swiftSettings: strict),
        .executableTarget(
            name: "tracker-daemon",
            dependencies: ["TrackerExample", "ReactorCore", "ReactorDaemonCommand"],
            path: "Sources/Examples/Tracker/tracker-daemon", swiftSettings: strict),
        .executableTarget(
            name: "tracker",
            dependencies: ["TrackerExample", "ReactorClient", "ReactorCore", argumentParser],
            path: "Sources/Examples/Tracker/tracker", swiftSettings: strict),

        // Programs that tests start, for the tests of several rooms.
        .target(name: "TestPrograms", path: "Tests/TestPrograms", swiftSettings: strict),
        // A daemon whose effects do not end, for the tests of a daemon's end.
        .executableTarget(
            name: "stubborn-daemon", dependencies: ["ReactorCore", "ReactorDaemonCommand"],
            path: "Tests/StubbornDaemon", swiftSettings: strict),
        // A daemon whose `reduce` is another where it is told so, for the tests of replaying.
        .executableTarget(
            name: "fickle-daemon", dependencies: ["ReactorCore", "ReactorDaemonCommand"],
            path: "Tests/FickleDaemon", swiftSettings: strict),
        // What the tutorial has its reader write, file by file, with the settings that it has there.
        .target(
            name: "GuestbookCore", dependencies: ["ReactorCore"],
            path: "Tests/Guestbook/Sources/GuestbookCore"),
        .executableTarget(
            name: "guestbook-daemon", dependencies: ["GuestbookCore", "ReactorDaemonCommand"],
            path: "Tests/Guestbook/Sources/guestbook-daemon"),
        .executableTarget(
            name: "sign", dependencies: ["GuestbookCore", "ReactorClient"],
            path: "Tests/Guestbook/Sources/sign"),
        .testTarget(
            name: "GuestbookTests", dependencies: ["GuestbookCore", "ReactorTesting"],
            path: "Tests/Guestbook/Tests/GuestbookTests"),
        // Appends to a journal until it is killed.
        .executableTarget(
            name: "journal-writer", dependencies: ["ReactorJournal", "ReactorThreads"],
            path: "Tests/JournalWriter", swiftSettings: strict),
        // Writes through a client with a journal until it is killed.
        .executableTarget(
            name: "client-writer", dependencies: ["ReactorClient", "StockReactors"],
            path: "Tests/ClientWriter", swiftSettings: strict),
        .testTarget(
            name: "ReactorMacrosTests",
            dependencies: [
                "ReactorMacros",
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorBytesTests", dependencies: ["ReactorBytes"], swiftSettings: strict),
        .testTarget(
            name: "ReactorThreadsTests", dependencies: ["ReactorThreads"], swiftSettings: strict),
        .testTarget(
            name: "ReactorWireTests", dependencies: ["ReactorWire"],
            resources: [.copy("Golden")], swiftSettings: strict),
        .testTarget(
            name: "ReactorLoopTests",
            dependencies: ["ReactorBytes", "ReactorLoop", "ReactorThreads"],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorCoreTests", dependencies: ["ReactorCore", "ReactorThreads"],
            swiftSettings: strict),
        .testTarget(
            name: "StockReactorsTests", dependencies: ["StockReactors", "ReactorCore"],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorJournalTests",
            dependencies: [
                "ReactorBytes", "ReactorJournal", "ReactorThreads", "TestPrograms",
                "journal-writer", grdb,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorServerTests",
            dependencies: [
                "ReactorBytes", "ReactorServer", "ReactorCore", "ReactorWire", "StockReactors",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorClientTests",
            dependencies: [
                "ReactorBytes", "ReactorClient", "ReactorCore", "ReactorDaemon",
                "ReactorDaemonCommand", "ReactorJournal", "ReactorLoop", "ReactorServer",
                "ReactorThreads", "ReactorWire", "StockReactors", "TestPrograms", "client-writer",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorDaemonTests",
            dependencies: [
                "ReactorDaemon", "ReactorClient", "ReactorCore", "ReactorJournal", "ReactorServer",
                "ReactorThreads", "ReactorWire", "StockReactors", "TestPrograms", "reactord",
                "reactorctl", "stubborn-daemon", "fickle-daemon",
            ],
            resources: [.copy("Golden"), .copy("Python")], swiftSettings: strict),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "LoginExample", "TrackerExample", "ReactorClient", "ReactorCore", "TestPrograms",
                "login-daemon", "login-demo", "tracker", "tracker-daemon", "reactorctl",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorTestingTests",
            dependencies: [
                "ReactorTesting", "ReactorClient", "ReactorCore", "ReactorServer", "ReactorThreads",
                "ReactorWire",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GuideTests",
            dependencies: [
                "GuestbookCore", "ReactorClient", "ReactorCore", "ReactorTesting", "TestPrograms",
                "guestbook-daemon", "reactorctl", "sign",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "ReactorTesting", "ReactorServer", "ReactorClient", "ReactorCore", "ReactorWire",
                "ReactorThreads", "StockReactors",
            ],
            swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
