import Testing

/// Every promise of the wire format's article has a test with its number.
struct PromiseTests {
    /// The article with the promises.
    static let article = "Sources/ReactorWire/ReactorWire.docc/WireFormat" + Document.suffix

    /// A promise's number and its line, counted from 0.
    struct Place: Equatable {
        var section: Int
        var number: Int
        var line: Int

        var text: String { "[WIRE-\(section)-\(number)]" }
    }

    /// The promises' numbers in a text.
    static func places(in text: String) -> [Place] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .flatMap { line, content in
                content.matches(of: #/\[WIRE-(\d+)-(\d+)\]/#).compactMap { match in
                    guard let section = Int(match.1), let number = Int(match.2) else { return nil }
                    return Place(section: section, number: number, line: line)
                }
            }
    }

    /// Promises without a test, tests without a promise, and misnumbered promises.
    static func findings(article: Document, text: String, tests: [SourceFile]) -> [Finding] {
        var findings: [Finding] = []
        var known: Set<String> = []
        var section = -1
        var last = 0
        let promised = places(in: text)
        for (line, content) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if content.hasPrefix("## ") { (section, last) = (section + 1, 0) }
            for place in promised where place.line == line {
                if place.section != section || place.number != last + 1 {
                    findings.append(
                        article.finding(
                            at: line,
                            "\(place.text) is not promise \(last + 1) of section \(section)",
                            remedy: "number it so, and the tests that carry it"))
                }
                last = place.number
                known.insert(place.text)
            }
        }
        var held: Set<String> = []
        for file in tests {
            for place in places(in: file.comments.joined(separator: "\n")) {
                let next = file.code[place.line...].first { !$0.allSatisfy(\.isWhitespace) }
                guard next?.trimmingPrefix(while: \.isWhitespace).hasPrefix("@Test") ?? false else {
                    findings.append(
                        file.finding(
                            at: place.line, "\(place.text) is above no test",
                            remedy: "write it above the test that fails without the promise"))
                    continue
                }
                held.insert(place.text)
                if known.contains(place.text) { continue }
                findings.append(
                    file.finding(
                        at: place.line, "\(place.text) is no promise",
                        remedy: "carry the number that the article has"))
            }
        }
        for place in promised where !held.contains(place.text) {
            findings.append(
                article.finding(
                    at: place.line, "no test carries \(place.text)",
                    remedy: "write the number above the test that fails without it"))
        }
        return findings
    }

    @Test("every numbered promise has a test with its number, and every such test has a promise")
    func tree() {
        let tests = Repository.current.files(in: "Tests").filter { $0.room != "ArchitectureTests" }
        let text = Repository.text(at: Self.article)
        #expect(Self.places(in: text).count > 60)
        expectNone(
            Self.findings(
                article: Document(path: Self.article, text: text), text: text, tests: tests))
    }

    @Test("a promise without a test, a test without a promise and a gap in the numbers are found")
    func planted() {
        let text = """
            ## Overview
            ## First
            One. [WIRE-1-1] Two. [WIRE-1-2]
            ## Second
            Three. [WIRE-2-2]
            """
        let test = SourceFile(
            path: "Tests/ReactorWireTests/ATests.swift",
            text: """
                // [WIRE-1-1] [WIRE-2-2]
                @Test func a() {}
                // [WIRE-7-1]
                @Test func b() {}
                // [WIRE-1-2]
                func c() {}
                """)
        let found = Self.findings(
            article: Document(path: "A", text: text), text: text, tests: [test])
        #expect(found.map(\.line) == [5, 3, 5, 3])
    }
}
