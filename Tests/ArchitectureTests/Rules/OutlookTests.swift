import Testing

/// The repository is self-contained: its top level, and its references.
struct OutlookTests {
    /// Entries at the top level that are not in the plan.
    static func topFindings(_ entries: [String]) -> [Finding] {
        entries.filter { !Plan.topLevel.contains($0) }.map { entry in
            Finding(
                path: entry, line: 1, what: "is at the top level",
                remedy: "move it into one of \(Plan.topLevel.sorted().joined(separator: ", "))")
        }
    }

    /// References in a file's text to things outside the repository: documents that it does not
    /// contain, folders of a developer's machine, ticket numbers.
    static func pointers(in text: String, path: String, holding names: Set<String>) -> [Finding] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // An expression is compiled where it is evaluated: once for all lines.
        let ticket = /\b(issue|ticket) #?[0-9]+/.ignoresCase()
        return lines.enumerated().flatMap { number, line in
            let tickets = line.matches(of: ticket).map { String(line[$0.range]) }
            return (outside(line, holding: names) + tickets).map { word in
                Finding(
                    path: path, line: number + 1, what: "\(word) is not in this tree",
                    remedy: "say it here, or point to something that a reader of the tree has")
            }
        }
    }

    private static func outside(_ line: Substring, holding names: Set<String>) -> [String] {
        let words = line.split { !($0.isLetter || $0.isNumber || "_-./:~+#".contains($0)) }
        return words.map { String($0).trimmingPoints }.filter { word in
            if machineFolders.contains(where: word.hasPrefix) { return true }
            let name = word.split { "/:".contains($0) }.last.map { String($0.drop { $0 == "-" }) }
            return word.hasSuffix(".md") && !word.contains("://") && !names.contains(name ?? "")
        }
    }

    // Folders on a developer's machine.
    private static let machineFolders = ["/home/", "/Users/", "/root/", "/wor" + "k/", "/tmp/w/"]

    @Test("the top level contains only the entries of the plan")
    func topLevel() { expectNone(Self.topFindings(Repository.current.topLevel)) }

    @Test("no file refers to anything outside the repository")
    func tree() {
        let paths = Repository.current.paths
        let names = Plan.topLevel.union(
            paths.compactMap { $0.split(separator: "/").last.map(String.init) })
        let readable = paths.filter { path in
            Self.textSuffixes.contains(where: path.hasSuffix) || !path.contains(".")
                || path.hasPrefix(".")
        }
        .filter { !$0.hasSuffix("OutlookTests.swift") }
        expectNone(
            readable.flatMap {
                Self.pointers(in: Repository.text(at: $0), path: $0, holding: names)
            })
    }

    private static let textSuffixes = [
        ".swift", ".md", ".yaml", ".json", ".py", ".sh", ".h", ".modulemap", ".service", ".txt",
    ]

    @Test("a stray folder at the top is found")
    func plantedEntry() {
        #expect(Self.topFindings(["Sources", "Scripts", "README.md"]).map(\.path) == ["Scripts"])
    }

    @Test(
        "a reference out of the repository is found",
        arguments: [
            "// see notes.md for why", "// as in /home/ada/reactord/plan", "// for issue 12",
            "// mended for Issue #7.", "see [the plan](../plan/PLAN.md)",
        ])
    func plantedPointer(line: String) {
        let found = Self.pointers(in: "a\n\(line)\n", path: "x.swift", holding: ["README.md"])
        #expect(found.map(\.line) == [2])
    }

    @Test(
        "a reference into the repository or to a public address is allowed",
        arguments: [
            "see README.md.", "/tmp/reactord-1000/reactord.sock", "an issue of trust",
            "https://example.org/guide.md", "/var/lib/reactord", "one issue, 3 causes",
        ])
    func passedPointer(line: String) {
        #expect(Self.pointers(in: line, path: "x.swift", holding: ["README.md"]).isEmpty)
    }
}

extension String {
    /// The word without the full stops at its end.
    fileprivate var trimmingPoints: String {
        var word = self
        while word.hasSuffix(".") { word.removeLast() }
        return word
    }
}
