import Testing

/// Articles link to symbols that exist.
struct LinkTests {
    /// Symbols that a document links to and that are not among `names`.
    static func findings(
        in document: Document, declared names: Set<String>, articles: Set<String>
    ) -> [Finding] {
        document.prose.flatMap { line in
            let symbols = line.text.matches(of: /``([^`]+)``/).map { String($0.1) }
                .filter { !names.contains(base(of: $0)) }
                .map { symbol in
                    document.finding(
                        at: line.number, "\(symbol) is not declared anywhere",
                        remedy: "link to what is, or write the name in single quotes")
                }
            let articles = line.text.matches(of: /<doc:([^>#]+)/).map { String($0.1) }
                .filter { !articles.contains($0) }
                .map { article in
                    document.finding(
                        at: line.number, "there is no article \(article)",
                        remedy: "link to one that is there")
                }
            return symbols + articles
        }
    }

    /// The last name of a symbol's link: `filter` of `Middleware/filter(_:)`.
    private static func base(of symbol: String) -> String {
        let last = symbol.split(separator: "/").last ?? ""
        return String(last.prefix { $0 != "(" && $0 != "-" })
    }

    /// Every name that the sources declare, cases of enumerations and modules included.
    private static var names: Set<String> {
        let sources = Repository.current.files(in: "Sources")
        let declared = sources.flatMap { $0.declarations.map(\.name) }
        let cases = sources.flatMap(\.code).flatMap { line in
            line.matches(of: /^ *(indirect )?case (\w+)/).map { String($0.2) }
        }
        return Set(declared + cases + Plan.rooms.map(\.name))
    }

    @Test("every symbol and every article that a document links to is there")
    func tree() {
        let names = Self.names
        let documents = Document.all
        let articles = Set(
            documents.map { String(($0.path.split(separator: "/").last ?? "").dropLast(3)) })
        for document in documents where document.path.contains(".docc/") {
            expectNone(Self.findings(in: document, declared: names, articles: articles))
        }
    }

    @Test("a link to nothing is found")
    func planted() {
        let text = "``A/b(_:)`` and ``C``\n```swift\n``D``\n```\n<doc:E> <doc:F>\n"
        let document = Document(path: "a.docc/a", text: text)
        let found = Self.findings(in: document, declared: ["b"], articles: ["E"])
        #expect(found.map(\.line) == [1, 5])
    }
}
