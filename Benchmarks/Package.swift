// swift-tools-version: 5.8
import PackageDescription

// The benchmarks use declarations of reactord that are `package`. From tools version 5.9 on, the
// package manager gives the compiler this package's own name; before, it gives none, and the flag
// below gives it reactord's, which is the name of the folder above.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last ?? ""
let packageName = String(
    folder.lowercased().enumerated().map { index, letter in
        letter.isLetter || (letter.isNumber && index != 0) ? letter : "_"
    })

let strict: [SwiftSetting] = [
    .unsafeFlags(["-package-name", packageName, "-warnings-as-errors"]),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func reactord(_ product: String) -> Target.Dependency {
    .product(name: product, package: "reactord")
}

let package = Package(
    name: "reactord-benchmarks",
    platforms: [.macOS("26.0")],
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
    swiftLanguageVersions: [.version("6")]
)
