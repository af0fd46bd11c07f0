import Testing

/// Files and functions that a reader can hold in mind.
struct LengthTests {
    /// The file itself, if it is too long.
    static func fileFindings(in file: SourceFile) -> [Finding] {
        guard file.lines.count > Plan.fileLinesMax else { return [] }
        return [
            file.finding(
                at: Plan.fileLinesMax,
                "\(file.lines.count) lines, at most \(Plan.fileLinesMax)",
                remedy: "give a second face its own file, Type+Aspect.swift")
        ]
    }

    /// Functions of `file` that are too long.
    static func functionFindings(in file: SourceFile) -> [Finding] {
        file.functions.filter { $0.lines.count > Plan.functionLinesMax }.map { function in
            file.finding(
                at: function.lines.lowerBound,
                "\(function.name) takes \(function.lines.count) lines, at most "
                    + "\(Plan.functionLinesMax)",
                remedy: "name its parts and let it call them")
        }
    }

    @Test("no file is longer than the limit")
    func files() { expectNone(Repository.current.files.flatMap(Self.fileFindings)) }

    @Test("no function is longer than the limit")
    func functions() { expectNone(Repository.current.files.flatMap(Self.functionFindings)) }

    @Test("a file one line too long is found, at the limit it is not")
    func plantedFile() {
        let whole = String(repeating: "\n", count: Plan.fileLinesMax - 1)
        #expect(Self.fileFindings(in: SourceFile(path: "a.swift", text: whole)).isEmpty)
        #expect(Self.fileFindings(in: SourceFile(path: "a.swift", text: whole + "\n")).count == 1)
    }

    @Test("a function one line too long is found, whatever stands around it")
    func plantedFunction() {
        func text(_ bodyLines: Int) -> String {
            """
            protocol Shape {
                func area(of side: Int) -> Int
                init(side: Int)
                var name: String { get }
            }
            func outer(
                body: () -> Void = { },
                text: String = "}"
            ) -> Int where Int: Sendable {
            \(String(repeating: "    if true { _ = 1 } // }\n", count: bodyLines))}
            func after() {}
            """
        }
        // because the five lines of the head and the brace count too
        let most = Plan.functionLinesMax - 5
        let fits = SourceFile(path: "a.swift", text: text(most))
        #expect(Self.functionFindings(in: fits).isEmpty)
        #expect(fits.functions.map(\.name) == ["outer", "after"])
        let long = Self.functionFindings(in: SourceFile(path: "a.swift", text: text(most + 1)))
        #expect(long.map(\.line) == [6])
    }
}
