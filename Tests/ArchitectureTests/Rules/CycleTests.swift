import Testing

/// A target's folders have an order, and few files name each other's types.
///
/// A file leads to another if it names a type that the other declares. In a target of fewer than
/// ten files every file may be in a cycle of two.
struct CycleTests {
    /// The number of files in cycles, and the number of folders in each cycle.
    static func figures(in files: [ParsedFile]) -> [Figure] {
        guard let first = files.first?.file else { return [] }
        let graph = MentionGraph(files)
        let folders = graph.folders
        func figure(
            _ measure: Measure, _ subject: String, _ value: Int, _ detail: String
        ) -> Figure {
            Figure(
                measure: measure, room: first.room, subject: subject, value: value,
                limit: measure.limit(fileCount: files.count), path: first.path, line: 0,
                detail: detail)
        }
        return [
            figure(
                .filesInCycles, "", graph.cycles.map(\.count).reduce(0, +),
                graph.description(of: graph.cycles.first ?? []))
        ]
            + folders.cycles.map { cycle in
                figure(
                    .foldersInCycles, cycle.map { folders.nodes[$0] }.joined(separator: " "),
                    cycle.count, folders.description(of: cycle))
            }
    }

    @Test("the folders of a target have no cycle, and at most a fifth of its files are in one")
    func tree() {
        expectNone(Figure.findings(Survey.current.figures(Self.figures)))
    }

    @Test("files and folders that name each other's types are found")
    func planted() {
        let texts = [
            "Low/A.swift": "struct A { struct Part {} }",
            "Low/B.swift": "extension A { func b(c: C) {} }\nprivate struct D {}",
            "High/C.swift": "struct C { var part: A.Part }\n",
            "High/D.swift": "struct D<A> { var a: A }",
            "High/E.swift": "struct E { func run() { D<Int>.run(C.self) } }",
        ]
        let files = texts.sorted { $0.key < $1.key }.map { path, text in
            FileParser.parse(SourceFile(path: "Sources/ReactorWire/\(path)", text: text))
        }
        #expect(MentionGraph(files).cycles.isEmpty)
        let found = Self.figures(in: files).filter { $0.value > $0.limit }
        #expect(found.map(\.subject) == ["High Low"])
        #expect(found.map(\.detail) == ["High -> Low (C: A), Low -> High (B: C)"])
    }

    @Test("a cycle of three files is found in a small target, a cycle of two is not")
    func circles() {
        func value(_ texts: [String]) -> Int {
            let files = texts.enumerated().map { number, text in
                FileParser.parse(
                    SourceFile(path: "Sources/ReactorWire/F\(number).swift", text: text))
            }
            return Figure.findings(Self.figures(in: files)).count
        }
        #expect(value(["struct A { let b: B }", "class B { weak var a: A? }"]) == 0)
        #expect(
            value(["struct A { let b: B }", "struct B { var c: C }", "enum C { case a(A) }"]) == 1)
        #expect(
            value(["struct A { let b: B }", "struct B { var c: C }", "enum C { case a }"]) == 0)
    }
}
