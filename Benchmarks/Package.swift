// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func reactord(_ product: String) -> Target.Dependency {
    .product(name: product, package: "reactord")
}

let package = Package(
    name: "reactord-benchmarks",
    platforms: [.macOS(.v26)],
    products: [.executable(name: "reactor-bench", targets: ["ReactorBench"])],
    dependencies: [
        // The name is explicit, since the clone's folder may have any name.
        .package(name: "reactord", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // Functions that Foundation and the loop lack: raw sockets, allocation counts, bare
        // commits. Must not depend on reactors.
        .target(name: "CBench", linkerSettings: [.linkedLibrary("sqlite3")]),
        // Starts both servers, puts load on them, and reports the results. Uses products only.
        .executableTarget(
            name: "ReactorBench",
            dependencies: [
                "CBench", reactord("ReactorBytes"), reactord("ReactorClient"),
                reactord("ReactorCore"), reactord("ReactorLoop"), reactord("ReactorServer"),
                reactord("ReactorWire"), reactord("StockReactors"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
