import Testing

/// The manifest keeps the package a good dependency.
struct SettingTests {
    /// Settings in a manifest's text that no package should ask its users to accept.
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
