// swift-tools-version: 6.2
import PackageDescription

// A separate package, because its products are linked with a fuzzer's driver. Build it with
// `run`, which passes the necessary flags.
let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "reactord", path: "../..")],
    targets: [
        // libFuzzer's entry point, declared for Swift.
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer", .product(name: "ReactorWire", package: "reactord"),
                .product(name: "ReactorCore", package: "reactord"),
                .product(name: "ReactorServer", package: "reactord"),
            ],
            path: "Sources/Fuzz",
            swiftSettings: [
                .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
