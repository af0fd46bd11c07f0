import Testing

/// Every public symbol is documented.
struct DocumentationTests {
    /// Public symbols in `files` without documentation, whose meaning is not documented elsewhere
    /// either: at a protocol requirement or at the overridden declaration.
    static func findings(in files: [SourceFile], witnesses: Set<String>) -> [Finding] {
        let outlines = files.map(\.outlines).reduce(into: [:]) { all, more in
            all.merge(more) { $0.joined(with: $1) }
        }
        return files.flatMap { file in
            file.publicSymbols.filter { symbol in
                !symbol.isDocumented && !symbol.isOverride && !symbol.name.hasPrefix("_")
                    && !witnesses.contains(symbol.name)
                    && !asks(symbol.owners, for: symbol.name, outlines)
            }
            .map { symbol in
                file.finding(
                    at: symbol.line, "\(symbol.name) is public and says nothing",
                    remedy: "write what it is, in a sentence that starts with three slashes")
            }
        }
    }

    /// Whether one of these types, or a type in their headers, is a protocol with a requirement
    /// of this name.
    private static func asks(
        _ types: Set<String>, for requirement: String, _ outlines: [String: TypeOutline]
    ) -> Bool {
        var seen: Set<String> = []
        var next = types
        while let type = next.popFirst() {
            guard seen.insert(type).inserted, let outline = outlines[type] else { continue }
            if outline.requirements.contains(requirement) { return true }
            next.formUnion(outline.parents)
        }
        return false
    }

    @Test("every public symbol has a documentation comment, or fulfils a documented requirement")
    func tree() {
        let found = Self.findings(
            in: Repository.current.files(in: "Sources"), witnesses: Documentation.witnesses)
        expectNone(found.filter { !Documentation.owed.contains($0.path) })
        for path in Documentation.owed.sorted() {
            #expect(found.contains { $0.path == path }, "\(path) owes no comment: strike it out")
        }
    }

    @Test("a public symbol without documentation is found, however it is declared")
    func planted() {
        let text = """
            public import Wire
            public struct A {
                public var a = 0
                @inlinable public static func b() {}
                /// Documented.
                @discardableResult
                public mutating func c() -> Int { 0 }
                public init(d: Int) {}
                var hidden = 0
                public subscript(e: Int) -> Int { 0 }
            }
            open class F {
                public override func g() {}
            }
            """
        let file = SourceFile(path: "Sources/ReactorWire/A.swift", text: text)
        let found = Self.findings(in: [file], witnesses: [])
        #expect(found.map(\.line) == [2, 3, 4, 8, 10, 12])
    }

    @Test(
        "an implementation is documented by its requirement in a protocol, also an inherited one"
    )
    func witnesses() {
        let text = """
            /// Documented.
            public protocol Base {
                /// Documented.
                var first: Int { get }
                /// Documented.
                func second(
                    a: Int
                )
            }
            /// Documented.
            public protocol Refined: Base {}
            extension Base {
                public var first: Int { 1 }
            }
            /// Documented.
            public struct A: Sendable,
                Refined
            {
                public func second(a: Int) {}
                public func third() {}
                public static func == (left: A, right: A) -> Bool { true }
            }
            """
        let file = SourceFile(path: "Sources/ReactorWire/A.swift", text: text)
        let found = Self.findings(in: [file], witnesses: ["=="])
        #expect(found.map(\.what) == ["third is public and says nothing"])
    }
}
