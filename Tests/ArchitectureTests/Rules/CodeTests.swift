import Testing

/// The codes in test titles (`F35: …`) and the pages that state the promise of each code.
struct CodeTests {
    /// The pages, which together list every code once.
    static let pages = [
        "Sources/ReactorCore/ReactorCore.docc/Features" + Document.suffix,
        "Sources/ReactorDaemon/ReactorDaemon.docc/Faults" + Document.suffix,
    ]

    /// A code with its line, counted from 0.
    struct Place {
        let code: String
        let line: Int
    }

    /// A row of a page: `| F35 | promise | suites |`.
    struct Row {
        let code: String
        let promise: String
        let suites: [String]
        let line: Int
    }

    /// The codes at the beginnings of the titles of `file`.
    static func titles(in file: SourceFile) -> [Place] {
        var places: [Place] = []
        for (line, text) in file.lines.enumerated() {
            let pieces = text.split(
                separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
            guard pieces.count > 1, let colon = pieces[1].firstIndex(of: ":") else { continue }
            // The title of a long attribute is on the line below it.
            let isBelow = line > 0 && pieces[0].allSatisfy { $0 == " " }
            let opening = isBelow ? file.lines[line - 1][...] : pieces[0]
            let codes = pieces[1][..<colon].split(separator: ", ")
            guard opening.hasSuffix("@Test(") || opening.hasSuffix("@Suite("),
                codes.allSatisfy({ $0.contains(/^[A-Z]+[0-9]+$/) })
            else { continue }
            for code in codes { places.append(Place(code: String(code), line: line)) }
        }
        return places
    }

    /// The rows of a page's tables.
    static func rows(of page: Document) -> [Row] {
        page.prose.compactMap { line in
            guard line.text.hasPrefix("| ") else { return nil }
            let cells = line.text.split(separator: "|").map {
                String($0.trimmingPrefix(while: \.isWhitespace))
            }
            guard cells.count == 3, cells[0].contains(/^[A-Z]+[0-9]+ $/) else { return nil }
            return Row(
                code: String(cells[0].dropLast()), promise: cells[1],
                suites: cells[2].matches(of: /`([^`]+)`/).map { String($0.1) }, line: line.number)
        }
    }

    /// Codes without a promise, promises without a test, and suites whose titles lack their code.
    static func findings(pages: [Document], tests: [SourceFile]) -> [Finding] {
        var findings: [Finding] = []
        var carriers: [String: Set<String>] = [:]
        for file in tests {
            for place in titles(in: file) { carriers[place.code, default: []].insert(file.name) }
        }
        var listed: Set<String> = []
        for page in pages {
            for row in rows(of: page) {
                let carrying = carriers[row.code] ?? []
                let wrong = row.suites.filter { !carrying.contains($0) }
                if !listed.insert(row.code).inserted {
                    findings.append(
                        page.finding(
                            at: row.line, "\(row.code) is listed twice", remedy: "keep one row"))
                } else if carrying.isEmpty {
                    findings.append(
                        page.finding(
                            at: row.line, "no test carries \(row.code)",
                            remedy: "begin the title of the test that holds it with the code"))
                } else if row.suites.isEmpty || !wrong.isEmpty {
                    findings.append(
                        page.finding(
                            at: row.line, "\(row.code) is not held by \(wrong)",
                            remedy: "name suites among \(carrying.sorted())"))
                }
            }
        }
        for file in tests {
            for place in titles(in: file) where !listed.contains(place.code) {
                findings.append(
                    file.finding(
                        at: place.line, "\(place.code) is on no page",
                        remedy: "write its promise into \(pages.map(\.path))"))
            }
        }
        return findings
    }

    @Test("every code in a title has its promise on a page, and every promise has its tests")
    func tree() {
        let tests = Repository.current.files(in: "Tests").filter { $0.name != "CodeTests" }
        let pages = Self.pages.map { Document(path: $0, text: Repository.text(at: $0)) }
        #expect(pages.map { Self.rows(of: $0).count }.allSatisfy { $0 > 80 })
        expectNone(Self.findings(pages: pages, tests: tests))
    }

    @Test("a code without a promise, a promise without a test and a wrong suite are found")
    func planted() {
        let page = Document(
            path: "P",
            text: """
                | code | promise | suites |
                |---|---|---|
                | F1 | One. | `ATests` |
                | F2 | Two. | `BTests` |
                | F3 | Three. | `ATests` |
                | F1 | One again. | `ATests` |
                """)
        let test = SourceFile(
            path: "Tests/ReactorWireTests/ATests.swift",
            text: """
                @Test("F1, F9: a claim")
                func a() {}
                @Test(
                    "F2: another claim")
                func b() {}
                let text = "F8: no title"
                """)
        let found = Self.findings(pages: [page], tests: [test])
        #expect(found.map { "\($0.path):\($0.line)" } == ["P:4", "P:5", "P:6", "\(test.path):1"])
    }
}
