import Testing

/// What the README shows in Swift is compiled and run somewhere.
struct ReadmeTests {
    /// The lines of a text's Swift blocks that do not stand in `code`, blanks and comments aside.
    static func uncompiled(
        in text: String, but code: String, path: String = "README.md", remedy: String = compiled
    ) -> [Finding] {
        let known = Set(code.split(separator: "\n").map { bare($0) })
        var findings: [Finding] = []
        var isSwift = false
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if line.hasPrefix("```") {
                isSwift = line == "```swift"
            } else if isSwift, !bare(line).isEmpty, !known.contains(bare(line)) {
                findings.append(
                    Finding(
                        path: path, line: number + 1, what: "\(line) is not compiled",
                        remedy: "put the same line into \(remedy)"))
            }
        }
        return findings
    }

    private static func bare(_ line: Substring) -> String {
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
        return code.split(separator: " ").joined(separator: " ")
    }

    static let compiled = "Tests/ReactorClientTests/ReadmeTests.swift"

    @Test("every line of Swift in the README is compiled by a test")
    func tree() {
        expectNone(
            Self.uncompiled(
                in: Repository.text(at: "README.md"), but: Repository.text(at: Self.compiled)))
    }

    @Test("a line that nobody compiles is found")
    func planted() {
        let text = "# A\n```swift\nlet a = 1   // one\nlet b = 2\n```\n```sh\nlet c\n```\n"
        #expect(Self.uncompiled(in: text, but: "    let a = 1\n").map(\.line) == [4])
    }
}
