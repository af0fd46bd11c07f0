import Testing

/// What the guides of ReactorTesting show in Swift is compiled and run somewhere.
struct GuideTests {
    private static let guide = "Sources/ReactorTesting/ReactorTesting.docc/ReactorTesting.md"
    private static let compiled = "Tests/ReactorTestingTests/GuideTests.swift"

    @Test("every line of Swift in the guide to testing is compiled by a test")
    func testing() {
        expectNone(
            ReadmeTests.uncompiled(
                in: Repository.text(at: Self.guide), but: Repository.text(at: Self.compiled),
                path: Self.guide, remedy: Self.compiled))
    }
}
