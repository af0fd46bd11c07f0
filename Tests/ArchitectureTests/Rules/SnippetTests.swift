import Testing

/// Swift code in documents is compiled.
struct SnippetTests {
    /// The lines of a document's Swift blocks that are not in `code`, except blank lines and
    /// comments.
    static func uncompiled(
        in document: Document, but code: String, compiledBy files: [String],
        foreign modules: Set<String> = []
    ) -> [Finding] {
        let known = Set(code.split(separator: "\n").map { bare($0) })
        return document.swift.filter { !$0.isManifest }.flatMap { block in
            block.lines.filter { line in
                let bare = bare(line.text[...])
                let module = bare.split(separator: " ").last.map(String.init) ?? ""
                let isForeign = bare.hasPrefix("import ") && modules.contains(module)
                return !bare.isEmpty && !isForeign && !known.contains(bare)
            }
            .map { line in
                document.finding(
                    at: line.number, "\(line.text) is not compiled",
                    remedy: "put the same line into \(files.joined(separator: " or "))")
            }
        }
    }

    /// Products that a manifest in a document names and `manifest` lacks.
    static func unknownProducts(in document: Document, but manifest: String) -> [Finding] {
        document.swift.filter(\.isManifest).flatMap(\.lines).compactMap { line in
            guard let name = line.text.firstMatch(of: /\.product\(name: "(\w+)"/)?.1,
                !manifest.contains(".library(name: \"\(name)\"")
            else { return nil }
            return document.finding(
                at: line.number, "\(name) is no product of this package",
                remedy: "name one that is, or add it to Package.swift")
        }
    }

    /// Modules that a manifest in a document defines.
    static func modules(of document: Document) -> Set<String> {
        Set(
            document.swift.filter(\.isManifest).flatMap(\.lines).compactMap { line in
                line.text.firstMatch(of: /^ +name: "(\w+)"/).map { String($0.1) }
            })
    }

    private static func bare(_ line: Substring) -> String {
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
        return code.split(separator: " ").joined(separator: " ")
    }

    @Test("every line of Swift in a document is compiled by the files that the plan names")
    func tree() {
        for document in Document.all {
            guard let files = Snippets.compiled[document.path] else { continue }
            let code = files.map { Repository.text(at: $0) }.joined(separator: "\n")
            expectNone(
                Self.uncompiled(
                    in: document, but: code, compiledBy: files,
                    foreign: Self.modules(of: document)))
        }
    }

    @Test("every document with Swift is in the plan, and every file of the plan exists")
    func plan() {
        let documents = Document.all
        for document in documents where document.swift.contains(where: { !$0.lines.isEmpty }) {
            #expect(
                Snippets.compiled[document.path] != nil,
                "\(document.path) shows Swift: name the compiled file in Plan/Snippets.swift")
        }
        let paths = Set(Repository.current.paths)
        for (document, files) in Snippets.compiled {
            for path in files + [document] {
                #expect(paths.contains(path), "\(path) is in Plan/Snippets.swift and not there")
            }
        }
    }

    @Test("a manifest in a document names only products of this package")
    func products() {
        let manifest = Repository.text(at: "Package.swift")
        expectNone(
            Document.all.flatMap { Self.unknownProducts(in: $0, but: manifest) })
    }

    @Test("a line that is not compiled is found")
    func planted() {
        let text = "# A\n```swift\nlet a = 1   // one\nlet b = 2\n```\n```sh\nlet c\n```\n"
        let document = Document(path: "a", text: text)
        let found = Self.uncompiled(in: document, but: "    let a = 1\n", compiledBy: ["b.swift"])
        #expect(found.map(\.line) == [4])
    }

    @Test(
        "an import of a module from the document's own manifest need not be compiled, others must")
    func plantedImports() {
        let text = """
            ```swift
            // swift-tools-version: 6.2
                        name: "Own",
                        .product(name: "Known", package: "p"), .product(name: "Gone", package: "p")
                        .product(name: "Lost", package: "p")
            ```
            ```swift
            import Own
            import Known
            ```
            """
        let document = Document(path: "a", text: text)
        let found = Self.uncompiled(
            in: document, but: "", compiledBy: [], foreign: Self.modules(of: document))
        #expect(found.map(\.line) == [9])
        let manifest = ".library(name: \"Known\", targets: [])"
        #expect(Self.unknownProducts(in: document, but: manifest).map(\.line) == [5])
    }
}
