// swift-tools-version: 5.8
import PackageDescription

// The targets use declarations of reactord that are `package`. From tools version 5.9 on, the
// package manager gives the compiler this package's own name; before, it gives none, and the flag
// below gives it reactord's, which is the name of the folder two levels above.
let folder = Context.packageDirectory.split(separator: "/").dropLast(2).last ?? ""
let packageName = String(
    folder.lowercased().enumerated().map { index, letter in
        letter.isLetter || (letter.isNumber && index != 0) ? letter : "_"
    })

// A separate package, because its products are linked with a fuzzer's driver. Build it with
// `run`, which passes the necessary flags.
let package = Package(
    name: "fuzz",
    platforms: [.macOS("26.0")],
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
                .unsafeFlags(["-package-name", packageName, "-warnings-as-errors"]),
                .enableUpcomingFeature("ExistentialAny"),
            ]),
    ],
    swiftLanguageVersions: [.version("6")]
)
