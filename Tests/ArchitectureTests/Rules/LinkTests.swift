import Testing

/// Documents link only to existing symbols.
struct LinkTests {
    /// Links in a document to symbols that are not among `names`.
    static func findings(
        in document: Document, declared names: Set<String>, articles: Set<String>
    ) -> [Finding] {
        // An expression is compiled where it is evaluated: once for all lines.
        let (symbolLink, articleLink) = (/``([^`]+)``/, /<doc:([^>#]+)/)
        return document.prose.flatMap { line in
            let symbols = line.text.matches(of: symbolLink).map { String($0.1) }
                .filter { !names.contains(base(of: $0)) }
                .map { symbol in
                    document.finding(
                        at: line.number, "\(symbol) is not declared anywhere",
                        remedy: "link to what is, or write the name in single quotes")
                }
            let articles = line.text.matches(of: articleLink).map { String($0.1) }
                .filter { !articles.contains($0) }
                .map { article in
                    document.finding(
                        at: line.number, "there is no article \(article)",
                        remedy: "link to one that is there")
                }
            return symbols + articles
        }
    }

    /// Links in `document` that lead to no file or folder among `entries`, paths from the top.
    static func pathFindings(in document: Document, among entries: Set<String>) -> [Finding] {
        let link = /\]\(([^)# ]+)/
        return document.prose.flatMap { line in
            line.text.matches(of: link).map { String($0.1) }
                .filter { !$0.contains(":") && !entries.contains(resolve($0, from: document.path)) }
                .map { target in
                    document.finding(
                        at: line.number, "\(target) leads nowhere",
                        remedy: "link to a file that is there, by its path from this one")
                }
        }
    }

    /// The path from the top for a `target` in the document at `path`.
    private static func resolve(_ target: String, from path: String) -> String {
        var components = path.split(separator: "/").dropLast()
        for component in target.split(separator: "/") where component != "." {
            if component == ".." { _ = components.popLast() } else { components.append(component) }
        }
        return components.joined(separator: "/")
    }

    /// Articles of other catalogs that a document links to as if they were in its own catalog.
    static func foreignArticles(in document: Document, all paths: [String]) -> [Finding] {
        let catalog = document.path.split(separator: ".docc/").first ?? ""
        let articleLink = /<doc:([^>#]+)/
        return document.prose.flatMap { line in
            line.text.matches(of: articleLink).map { String($0.1) }
                .filter { article in
                    let homes = paths.filter { $0.hasSuffix("/" + article + Document.suffix) }
                    return !homes.isEmpty
                        && !homes.contains { $0.hasPrefix(catalog + ".docc/") }
                }
                .map { article in
                    document.finding(
                        at: line.number, "\(article) is in another module's catalog",
                        remedy: "link to its file, by the path from this one")
                }
        }
    }

    /// The last name in a link: `filter` for `Middleware/filter(_:)`.
    private static func base(of symbol: String) -> String {
        let last = symbol.split(separator: "/").last ?? ""
        return String(last.prefix { $0 != "(" && $0 != "-" })
    }

    /// Every name declared in the sources, including enumeration cases and modules.
    private static var names: Set<String> {
        let sources = Repository.current.files(in: "Sources")
        let declared = sources.flatMap { $0.declarations.map(\.name) }
        let ofCase = /^ *(indirect )?case (\w+)/
        let cases = sources.flatMap(\.code).flatMap { line in
            line.matches(of: ofCase).map { String($0.2) }
        }
        return Set(declared + cases + Plan.rooms.map(\.name))
    }

    @Test("every symbol and every article that a document links to exists")
    func tree() {
        let names = Self.names
        let documents = Document.all
        let articles = Set(
            documents.map { String(($0.path.split(separator: "/").last ?? "").dropLast(3)) })
        for document in documents where document.path.contains(".docc/") {
            expectNone(Self.findings(in: document, declared: names, articles: articles))
        }
    }

    @Test("every link of a document to a file or folder leads there")
    func paths() {
        var entries: Set<String> = []
        for path in Repository.current.paths {
            let components = path.split(separator: "/")
            for count in components.indices {
                entries.insert(components[...count].joined(separator: "/"))
            }
        }
        expectNone(Document.all.flatMap { Self.pathFindings(in: $0, among: entries) })
    }

    @Test("an article of another module is linked to by its file")
    func catalogs() {
        let documents = Document.all
        for document in documents where document.path.contains(".docc/") {
            expectNone(Self.foreignArticles(in: document, all: documents.map(\.path)))
        }
    }

    @Test("a link to a missing file, and one into another catalog, are found")
    func plantedPaths() {
        let text = "[a](../B) [b](C/D) [c](https://e.org) [d](#e)\n<doc:F> <doc:G>\n"
        let document = Document(path: "S/A.docc/a", text: text)
        let found = Self.pathFindings(in: document, among: ["S/B", "S/A.docc/C"])
        #expect(found.map(\.what) == ["C/D leads nowhere"])
        let paths = ["S/A.docc/F", "T/B.docc/G"].map { $0 + Document.suffix }
        #expect(Self.foreignArticles(in: document, all: paths).map(\.line) == [2])
    }

    @Test("a broken link is found")
    func planted() {
        let text = "``A/b(_:)`` and ``C``\n```swift\n``D``\n```\n<doc:E> <doc:F>\n"
        let document = Document(path: "a.docc/a", text: text)
        let found = Self.findings(in: document, declared: ["b"], articles: ["E"])
        #expect(found.map(\.line) == [1, 5])
    }
}
