import Testing

/// The manifest's settings allow the package to be a dependency.
struct SettingTests {
    /// Settings in a manifest that a dependency must not have.
    static func findings(in text: String, path: String) -> [Finding] {
        let file = SourceFile(path: path, text: text)
        return file.code.enumerated().compactMap { line, code in
            guard needles.contains(where: { $0.isFound(in: code) }) else { return nil }
            return file.finding(
                at: line, "unsafe flags or experimental features",
                remedy: "find the stable form, because a package that has them is a poor dependency"
            )
        }
    }

    private static let needles = [Needle("unsafeFlags"), Needle("enableExperimentalFeature")]

    @Test("the manifest has no unsafe flags and no experimental features")
    func manifest() {
        let text = Repository.text(at: "Package.swift")
        #expect(text.contains("let package"))
        expectNone(Self.findings(in: text, path: "Package.swift"))
    }

    @Test("an unsafe flag and an experimental feature are found")
    func planted() {
        let text = """
            let a: [SwiftSetting] = [.unsafeFlags(["-Ounchecked"])]
            // .unsafeFlags would do
            let b: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]
            """
        #expect(Self.findings(in: text, path: "Package.swift").map(\.line) == [1, 3])
    }
}
