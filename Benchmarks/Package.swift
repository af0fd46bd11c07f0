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
        // because the folder that holds the clone may have any name
        .package(name: "reactord", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // What Foundation and the loop do not offer: raw sockets, allocation counts, bare commits.
        // Knows nothing of reactors.
        .target(name: "CBench", linkerSettings: [.linkedLibrary("sqlite3")]),
        // Starts both sides, puts load on them, and tells how they did. Uses products only.
        .executableTarget(
            name: "ReactorBench",
            dependencies: [
                "CBench", reactord("ReactorClient"), reactord("ReactorCore"),
                reactord("ReactorLoop"), reactord("ReactorServer"), reactord("ReactorWire"),
                reactord("StockReactors"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
