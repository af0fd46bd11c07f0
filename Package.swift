// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// Settings of all targets in this package.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let collections = Target.Dependency.product(
    name: "HashTreeCollections", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// What only a build with the trait `Cluster` fetches and compiles.
let whenCluster = TargetDependencyCondition.when(traits: ["Cluster"])
let protobuf = Target.Dependency.product(
    name: "SwiftProtobuf", package: "swift-protobuf", condition: whenCluster)

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
        .library(name: "ReactorFoundation", targets: ["ReactorFoundation"]),
        .library(name: "StockReactors", targets: ["StockReactors"]),
        .library(name: "ReactorTesting", targets: ["ReactorTesting"]),
        .executable(name: "reactord", targets: ["reactord"]),
        .executable(name: "reactorctl", targets: ["reactorctl"]),
    ],
    traits: [
        .trait(name: "Cluster", description: "Daemons on several machines with one log, in etcd.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    ],
    targets: [
        // Level 0: the C libraries and memory. Headers of libuv only.
        .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        // Headers of xxHash.
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        // Headers of LZ4.
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        // SQLite.
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // libyaml.
        .systemLibrary(
            name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        // nghttp2. Without pkgConfig, so that builds without the trait Cluster do not look for it.
        .systemLibrary(name: "CNGHTTP2", providers: [.apt(["libnghttp2-dev"])]),
        // Checked loads and stores of whole words. Must not know any target above.
        .target(name: "ReactorBytes", swiftSettings: strict),
        // The compiler plug-in for macros. Must not know the run time.
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
        // Lock, doorbell queue, executor. Must not know any target above.
        .target(name: "ReactorThreads", swiftSettings: strict),

        // Level 1. Bytes of the wire format. Must not know sockets, reactors, Foundation.
        .target(
            name: "ReactorWire", dependencies: ["ReactorBytes", "ReactorMacros"],
            swiftSettings: strict),
        // libyaml in Swift: a text as a tree. Must not know what the tree is for.
        .target(name: "ReactorYAML", dependencies: ["CLibYAML"], swiftSettings: strict),
        // libuv in Swift. Must not know frames, reactors.
        .target(
            name: "ReactorLoop", dependencies: ["CLibUV", "ReactorBytes", "ReactorThreads"],
            swiftSettings: strict),

        // Level 2. The authoring model. Must not know sockets, disks.
        .target(
            name: "ReactorCore",
            dependencies: [
                "ReactorBytes", "ReactorWire", "ReactorMacros", "ReactorThreads", collections,
                deque,
            ],
            swiftSettings: strict),

        // The log between daemons and the leadership, without I/O. Must not know reactors, SQLite,
        // clocks, threads, or the engine's client.
        .target(
            name: "ReactorCluster", dependencies: ["ReactorBytes"], swiftSettings: strict),

        // Level 3. Foundation's types on the wire. Must not know the server.
        .target(
            name: "ReactorFoundation", dependencies: ["ReactorCore", "ReactorWire"],
            swiftSettings: strict),
        // Ready-made reactors. Must not know the server.
        .target(
            name: "StockReactors", dependencies: ["ReactorCore", collections],
            swiftSettings: strict),
        // Durable batches. Must not know sockets.
        .target(
            name: "ReactorJournal",
            dependencies: ["CLZ4", "CSQLite", "CXXHash", "ReactorBytes", "ReactorThreads"],
            swiftSettings: strict),
        // The cluster's log in etcd; empty without the trait Cluster. Must not know reactors, the
        // server.
        .target(
            name: "ReactorEtcd",
            dependencies: [
                "ReactorCluster", "ReactorLoop", "ReactorThreads", protobuf,
                .target(name: "CNGHTTP2", condition: whenCluster),
            ],
            exclude: ["Protocol/etcd.proto"], swiftSettings: strict),
        // The server's state machine, without I/O. Must not know concrete reactors, clocks,
        // threads.
        .target(
            name: "ReactorServer",
            dependencies: ["ReactorBytes", "ReactorCore", "ReactorWire", deque],
            swiftSettings: strict),
        // The client's state machine and its shell. Must not know the server.
        .target(
            name: "ReactorClient",
            dependencies: [
                "ReactorBytes", "ReactorCore", "ReactorWire", "ReactorLoop", "ReactorThreads",
                deque,
            ],
            swiftSettings: strict),

        // Level 4. Joins server, loop and journal. Must not know concrete reactors.
        .target(
            name: "ReactorDaemon",
            dependencies: [
                "ReactorBytes", "ReactorServer", "ReactorLoop", "ReactorJournal", "ReactorCluster",
                "ReactorEtcd", "ReactorCore", "ReactorWire", "ReactorThreads", "ReactorYAML",
                coreMetrics, deque, logging,
            ],
            swiftSettings: strict),

        // Level 5. The command line of a daemon. Must not know the reactors it serves.
        .target(
            name: "ReactorDaemonCommand",
            dependencies: [
                "ReactorDaemon", "ReactorCore", "ReactorLoop", "ReactorThreads", "StockReactors",
                argumentParser, logging,
            ],
            swiftSettings: strict),

        // Programs. Little more than argument parsing.
        .executableTarget(
            name: "reactord", dependencies: ["ReactorDaemonCommand"], swiftSettings: strict),
        .executableTarget(
            name: "reactorctl",
            dependencies: [
                "ReactorClient", "ReactorCore", "ReactorLoop", "ReactorWire", argumentParser,
            ],
            swiftSettings: strict),

        // Tools for authors' tests.
        .target(
            name: "ReactorTesting",
            dependencies: [
                "ReactorBytes", "ReactorCore", "ReactorServer", "ReactorClient", "ReactorDaemon",
                "ReactorWire", "ReactorLoop", "ReactorThreads",
            ],
            swiftSettings: strict),

        // Example programs, written with the public libraries only.
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
        .target(
            name: "DeployExample", dependencies: ["ReactorCore", "ReactorFoundation"],
            path: "Sources/Examples/Deploy/DeployExample", swiftSettings: strict),
        .executableTarget(
            name: "deploy-daemon", dependencies: ["DeployExample", "ReactorDaemonCommand"],
            path: "Sources/Examples/Deploy/deploy-daemon", swiftSettings: strict),
        .executableTarget(
            name: "deploy",
            dependencies: ["DeployExample", "ReactorClient", "ReactorCore", argumentParser],
            path: "Sources/Examples/Deploy/deploy", swiftSettings: strict),

        // Programs that several test targets start.
        .target(name: "TestPrograms", path: "Tests/TestPrograms", swiftSettings: strict),
        // A daemon whose effects do not end, for tests of the shutdown.
        .executableTarget(
            name: "stubborn-daemon",
            dependencies: [
                "ReactorCore", "ReactorDaemonCommand",
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            path: "Tests/StubbornDaemon", swiftSettings: strict),
        // A daemon with an exchangeable `reduce`, for tests of the replay.
        .executableTarget(
            name: "fickle-daemon", dependencies: ["ReactorCore", "ReactorDaemonCommand"],
            path: "Tests/FickleDaemon", swiftSettings: strict),
        // The files that the tutorial's reader writes, with the tutorial's settings.
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
        // A cluster in memory, for simulations and for tests of the engine.
        .target(
            name: "ClusterSimulation", dependencies: ["ReactorCluster", "ReactorTesting"],
            path: "Tests/ClusterSimulation", swiftSettings: strict),
        // Appends to a journal until it is killed.
        .executableTarget(
            name: "journal-writer",
            dependencies: ["ReactorBytes", "ReactorJournal", "ReactorThreads"],
            path: "Tests/JournalWriter", swiftSettings: strict),
        // Measures the cluster's log in etcd; a message without the trait Cluster.
        .executableTarget(
            name: "etcd-bench",
            dependencies: ["ReactorCluster", "ReactorEtcd", "ReactorLoop", argumentParser],
            path: "Benchmarks/Etcd", swiftSettings: strict),
        // Writes through a client with a journal until it is killed.
        .executableTarget(
            name: "client-writer", dependencies: ["ReactorClient", "StockReactors"],
            path: "Tests/ClientWriter", swiftSettings: strict),
        // The macros' sources, through a link, and their tests. With a dependency on the plug-in, the package
        // manager would compile the libraries and programs a second time, for all tests.
        .testTarget(
            name: "ReactorMacrosTests",
            dependencies: [
                "ReactorCore", "TestPrograms",
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
            ],
            exclude: ["Macros/Plugin.swift", "Mistakes"], swiftSettings: strict),
        .testTarget(
            name: "ReactorBytesTests", dependencies: ["ReactorBytes"], swiftSettings: strict),
        .testTarget(
            name: "ReactorThreadsTests", dependencies: ["ReactorThreads"], swiftSettings: strict),
        .testTarget(
            name: "ReactorWireTests", dependencies: ["ReactorWire"],
            resources: [.copy("Golden")], swiftSettings: strict),
        .testTarget(
            name: "ReactorYAMLTests", dependencies: ["ReactorYAML"], swiftSettings: strict),
        .testTarget(
            name: "ReactorLoopTests",
            dependencies: ["ReactorBytes", "ReactorLoop", "ReactorThreads"],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorCoreTests", dependencies: ["ReactorCore", "ReactorThreads"],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorFoundationTests",
            dependencies: [
                "ReactorFoundation", "ReactorClient", "ReactorCore", "ReactorTesting",
                "ReactorWire",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StockReactorsTests", dependencies: ["StockReactors", "ReactorCore"],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorJournalTests",
            dependencies: [
                "CSQLite", "ReactorBytes", "ReactorJournal", "ReactorThreads", "TestPrograms",
                "journal-writer",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReactorClusterTests", dependencies: ["ReactorCluster"], swiftSettings: strict),
        .testTarget(
            name: "ReactorEtcdTests",
            dependencies: [
                "ReactorCluster", "ReactorEtcd", "ReactorLoop", "ReactorThreads", "TestPrograms",
                protobuf,
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
                "ReactorBytes", "ReactorDaemon", "ReactorClient", "ReactorCluster", "ReactorCore",
                "ReactorJournal", "ReactorLoop", "ReactorServer", "ReactorThreads", "ReactorWire",
                "StockReactors", "TestPrograms", "reactord", "reactorctl", "stubborn-daemon",
                "fickle-daemon", "tracker-daemon", coreMetrics,
            ],
            resources: [.copy("Golden"), .copy("Python")], swiftSettings: strict),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "DeployExample", "LoginExample", "TrackerExample", "ReactorClient", "ReactorCore",
                "ReactorTesting", "TestPrograms", "deploy", "deploy-daemon", "login-daemon",
                "login-demo", "tracker", "tracker-daemon", "reactorctl",
            ],
            resources: [.copy("Deploy/Versions/Golden")], swiftSettings: strict),
        .testTarget(
            name: "ReactorTestingTests",
            dependencies: [
                "ReactorTesting", "ReactorClient", "ReactorCore", "ReactorServer", "ReactorThreads",
                "ReactorWire", "TrackerExample",
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
                "ClusterSimulation", "ReactorTesting", "ReactorBytes", "ReactorCluster",
                "ReactorServer", "ReactorClient", "ReactorCore", "ReactorDaemon", "ReactorJournal",
                "ReactorWire", "ReactorThreads", "StockReactors",
            ],
            swiftSettings: strict),
        // The rules about the sources, measured over the compiler's own parse of them. Must not
        // know any target of the package: a broken one is to be reported, too.
        .testTarget(
            name: "ArchitectureTests",
            dependencies: [
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Config/test builds the simulations in another package.
if Context.environment["REACTORD_SIMULATIONS"] == "none" {
    let simulations: Set = ["ClusterSimulation", "SimulationTests"]
    package.targets.removeAll { simulations.contains($0.name) }
}

// Config/setup gives some builds the macros' plug-in of another one, as compiling swift-syntax again takes
// minutes.
if Context.environment["REACTORD_MACROS"] != nil {
    let compiled: Set = ["ReactorMacros", "ReactorMacrosTests", "ArchitectureTests"]
    package.targets.removeAll { compiled.contains($0.name) }
    for target in package.targets {
        target.dependencies.removeAll {
            if case .byNameItem(name: "ReactorMacros", _) = $0 { true } else { false }
        }
    }
    package.dependencies.removeAll {
        if case .sourceControl(_, let location, _) = $0.kind {
            location.hasSuffix("/swift-syntax")
        } else {
            false
        }
    }
}
