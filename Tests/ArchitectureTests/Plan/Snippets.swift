/// The files that compile the Swift code of documents.
enum Snippets {
    /// Files by document: each line of Swift in the document is in one of these files, and the
    /// lines of each block are in one of them in the same order.
    static let compiled: [String: [String]] = [
        "README.md": [
            "Sources/Examples/Tracker/tracker-daemon/TrackerDaemon.swift",
            "Tests/ReactorClientTests/ReadmeTests.swift",
        ],
        "Sources/ReactorWire/ReactorWire.docc/ReactorWire.md": [
            "Tests/ReactorWireTests/Guides/ReactorWireGuideTests.swift"
        ],
        "Sources/ReactorTesting/ReactorTesting.docc/ReactorTesting.md": [
            "Tests/ReactorTestingTests/GuideTests.swift"
        ],
        "Sources/ReactorFoundation/ReactorFoundation.docc/ReactorFoundation.md": [
            "Tests/ReactorFoundationTests/ReactorFoundationGuideTests.swift"
        ],
        "Sources/ReactorTesting/ReactorTesting.docc/TestingAnApplication.md": [
            "Tests/ReactorTestingTests/SimulatedSenderTests.swift",
            "Tests/ReactorTestingTests/TrackerSimulationTests.swift",
            "Tests/ReactorTestingTests/GuideTests.swift",
        ],
        "Sources/ReactorDaemon/ReactorDaemon.docc/Metrics.md": [
            "Tests/StubbornDaemon/StubbornDaemon.swift"
        ],
        "Sources/ReactorDaemon/ReactorDaemon.docc/Scaling.md": [clientGuide],
        article("ReactorCore"): [guide("ReactorCoreGuideTests")],
        article("Tutorial"): [
            "Tests/Guestbook/Sources/GuestbookCore/Guestbook.swift",
            "Tests/Guestbook/Sources/guestbook-daemon/GuestbookDaemon.swift",
            "Tests/Guestbook/Sources/sign/Sign.swift",
            "Tests/Guestbook/Tests/GuestbookTests/GuestbookTests.swift",
        ],
        article("Execution"): [guide("ExecutionGuideTests")],
        article("Effects"): [guide("EffectsGuideTests")],
        article("Pipeline"): [guide("PipelineGuideTests")],
        article("State"): [guide("StateGuideTests")],
        article("Composition"): [
            guide("CompositionGuide"), guide("CompositionKeysGuide"),
            guide("CompositionPlacesGuide"),
            guide("CompositionDerivedGuide"),
        ],
        article("Ownership"): [guide("OwnershipGuide")],
        article("SchemaEvolution"): [
            guide("SchemaEvolutionGuideTests"), "Tests/ReactorTestingTests/OldHistoryTests.swift",
        ],
        client("ReactorClient"): [clientGuide],
        client("Connecting"): [clientGuide],
        client("Mirrors"): [clientGuide],
        client("Collections"): [
            "Tests/ReactorClientTests/Guides/CollectionsGuideTests.swift"
        ],
        client("Outcomes"): [clientGuide],
        client("Previews"): [clientGuide],
        client("Leases"): [clientGuide],
        article("Sagas"): [
            guide("SagasGuideTests"), "Tests/GuideTests/SagasOverMirrorTests.swift",
        ],
        article("ComingFromReactorKit"): [guide("ComingFromReactorKitTests")],
        article("ComingFromReducer"): [guide("ComingFromReducerTests")],
        article("ComingFromAsyncReactor"): [guide("ComingFromAsyncReactorTests")],
        article("ComingFromSwiftState"): [
            guide("ComingFromSwiftStateTests"), guide("ComingFromSwiftStateTests+Sagas"),
        ],
        article("ComingFromSwiftReactor"): [guide("ComingFromSwiftReactorTests")],
        article("ComingFromComposableArchitecture"): [
            guide("ComingFromComposableArchitectureTests")
        ],
        article("ComingFromSpacetimeDB"): [guide("ComingFromSpacetimeDBTests")],
    ]

    /// Documents with a block whose lines come from several files, in the order of ``compiled``.
    /// The README shows `@main`, which a test cannot have.
    static let combined: Set = ["README.md"]

    private static func article(_ name: String) -> String {
        "Sources/ReactorCore/ReactorCore.docc/\(name)" + Document.suffix
    }

    private static let clientGuide = "Tests/ReactorClientTests/Guides/ClientGuideTests.swift"

    private static func client(_ name: String) -> String {
        "Sources/ReactorClient/ReactorClient.docc/\(name)" + Document.suffix
    }

    private static func guide(_ name: String) -> String {
        "Tests/ReactorCoreTests/Guides/\(name).swift"
    }
}
