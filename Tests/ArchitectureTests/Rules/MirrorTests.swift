import Testing

/// Every source file has its test file.
struct MirrorTests {
    /// Source files without a test file, given all files and the exemptions.
    static func findings(in files: [SourceFile], exempt: [String: String]) -> [Finding] {
        let tests = Set(files.filter { $0.wing == "Tests" }.map { "\($0.room)/\($0.name)" })
        var findings: [Finding] = []
        var seen: Set<String> = []
        for file in files where file.wing == "Sources" {
            let key = String(file.path.dropFirst("Sources/".count))
            seen.insert(key)
            let folders = Plan.room(file.room)?.tests ?? ["\(file.room)Tests"]
            let isTested = folders.contains { folder in
                tests.contains("\(folder)/\(file.name)Tests")
                    || tests.contains("\(folder)/\(file.subject)Tests")
            }
            if let reason = exempt[key] {
                if isTested || reason.count < 10 {
                    findings.append(
                        file.finding(
                            at: 0, "exempt from having a test for no reason",
                            remedy: "remove it from the exemptions, or say why"))
                }
            } else if !isTested, file.hasCode {
                findings.append(
                    file.finding(
                        at: 0, "no test file mirrors it",
                        remedy: "write Tests/\(folders[0])/\(file.subject)Tests.swift"))
            }
        }
        for key in exempt.keys.sorted() where !seen.contains(key) {
            findings.append(
                Finding(
                    path: "Tests/ArchitectureTests/Plan/Exemptions.swift", line: 1,
                    what: "\(key) is exempt and does not exist", remedy: "remove the entry"))
        }
        return findings
    }

    @Test("every source file has its test file, or an entry that says why not")
    func tree() {
        expectNone(Self.findings(in: Repository.current.files, exempt: Exemptions.untested))
    }

    @Test("an untested file, a stale exemption and one without need are found")
    func planted() {
        func file(_ path: String, _ text: String = "let a = 1") -> SourceFile {
            SourceFile(path: path, text: text)
        }
        let files = [
            file("Sources/ReactorWire/Frame.swift"),
            file("Sources/ReactorWire/Frame+Header.swift"),
            file("Sources/ReactorWire/Message.swift"),
            file("Sources/ReactorWire/Empty.swift", "// nothing\n"),
            file("Sources/ReactorWire/Deep/Path.swift"),
            file("Sources/ReactorWire/Limits.swift"),
            file("Tests/ReactorWireTests/FrameTests.swift"),
            file("Tests/ReactorWireTests/Deep/PathTests.swift"),
            file("Tests/ReactorCoreTests/MessageTests.swift"),
        ]
        let found = Self.findings(
            in: files,
            exempt: [
                "ReactorWire/Frame.swift": "constants, tested where used",
                "ReactorWire/Limits.swift": "constants, tested where used",
                "ReactorWire/Gone.swift": "constants, tested where used",
            ])
        #expect(
            found.map(\.path) == [
                "Sources/ReactorWire/Frame.swift", "Sources/ReactorWire/Message.swift",
                "Tests/ArchitectureTests/Plan/Exemptions.swift",
            ])
    }
}
