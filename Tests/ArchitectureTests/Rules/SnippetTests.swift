import Testing

/// Swift code in documents is compiled.
struct SnippetTests {
    /// The lines of a document's Swift blocks that are not in `code`, except blank lines and
    /// comments.
    static func uncompiled(
        in document: Document, but code: String, compiledBy files: [String],
        foreign modules: Set<String> = []
    ) -> [Finding] {
        let known = Set(lines(of: code))
        return document.swift.filter { !$0.isManifest }.flatMap { block in
            lines(of: block, foreign: modules).filter { !known.contains($0.code) }.map { line in
                document.finding(
                    at: line.number, "\(line.text) is not compiled",
                    remedy: "put the same line into \(files.joined(separator: " or "))")
            }
        }
    }

    /// A finding for each Swift block of a document whose lines are in none of `texts` in the same
    /// order. Other lines may be between them; lines that are in no text are left out.
    static func disordered(
        in document: Document, but texts: [String], compiledBy files: [String],
        foreign modules: Set<String> = []
    ) -> [Finding] {
        let codes = texts.map { lines(of: $0) }
        let known = Set(codes.joined())
        return document.swift.filter { !$0.isManifest }.compactMap { block in
            let lines = lines(of: block, foreign: modules).filter { known.contains($0.code) }
            let bare = lines.map { $0.code }
            let count = codes.map { countInOrder(bare, in: $0) }.max() ?? 0
            guard count < lines.count else { return nil }
            return document.finding(
                at: lines[count].number,
                "\(lines[count].text) does not follow the lines above it in the compiled code",
                remedy: "show the lines in the order of \(files.joined(separator: " or "))")
        }
    }

    /// The number of leading `lines` that are in `code` in the same order.
    private static func countInOrder(_ lines: [String], in code: [String]) -> Int {
        var rest = code[...]
        for (count, line) in lines.enumerated() {
            guard let index = rest.firstIndex(of: line) else { return count }
            rest = rest[(index + 1)...]
        }
        return lines.count
    }

    /// The lines of a block that must be compiled.
    private static func lines(
        of block: Document.Block, foreign modules: Set<String>
    ) -> [(number: Int, text: String, code: String)] {
        block.lines.map { (number: $0.number, text: $0.text, code: bare($0.text[...])) }
            .filter { line in
                let module = line.code.split(separator: " ").last.map(String.init) ?? ""
                let isForeign = line.code.hasPrefix("import ") && modules.contains(module)
                return !line.code.isEmpty && !isForeign
            }
    }

    /// The lines of a compiled file.
    private static func lines(of code: String) -> [String] {
        code.split(separator: "\n").map { bare($0) }
    }

    /// Products that a manifest in a document names and `manifest` lacks.
    static func unknownProducts(in document: Document, but manifest: String) -> [Finding] {
        let product = /\.product\(name: "(\w+)"/
        return document.swift.filter(\.isManifest).flatMap(\.lines).compactMap { line in
            guard let name = line.text.firstMatch(of: product)?.1,
                !manifest.contains(".library(name: \"\(name)\"")
            else { return nil }
            return document.finding(
                at: line.number, "\(name) is no product of this package",
                remedy: "name one that is, or add it to Package.swift")
        }
    }

    /// Modules that a manifest in a document defines.
    static func modules(of document: Document) -> Set<String> {
        let name = /^ +name: "(\w+)"/
        return Set(
            document.swift.filter(\.isManifest).flatMap(\.lines).compactMap { line in
                line.text.firstMatch(of: name).map { String($0.1) }
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

    @Test("the lines of each Swift block in a document are in the order of the compiled code")
    func order() {
        for document in Document.all {
            guard let files = Snippets.compiled[document.path] else { continue }
            let texts = files.map { Repository.text(at: $0) }
            let isCombined = Snippets.combined.contains(document.path)
            expectNone(
                Self.disordered(
                    in: document, but: isCombined ? [texts.joined(separator: "\n")] : texts,
                    compiledBy: files, foreign: Self.modules(of: document)))
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

    @Test("a block in another order than its file, and one with lines of two files, are found")
    func plantedOrder() {
        let text = """
            ```swift
            let a = 1
            let b = 2   // two
            ```
            ```swift
            let b = 2

            let c = 3
            let a = 1
            ```
            """
        let document = Document(path: "a", text: text)
        func lines(_ texts: String...) -> [Int] {
            Self.disordered(in: document, but: texts, compiledBy: ["b.swift"]).map(\.line)
        }
        #expect(lines("let a = 1\nlet x = 0\n    let b = 2\n") == [9])
        #expect(lines("let a = 1\nlet b = 2\n", "let b = 2\nlet a = 1\n") == [])
        #expect(lines("let a = 1\n", "let b = 2\n") == [3, 9])
        #expect(lines("let c = 3\nlet a = 1\nlet b = 2\nlet c = 3\n") == [9])
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
