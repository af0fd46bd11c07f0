import Testing

/// Limits the length of files and functions.
struct LengthTests {
    /// Returns a finding for the file if it is too long.
    static func fileFindings(in file: SourceFile) -> [Finding] {
        guard file.lines.count > Plan.fileLinesMax else { return [] }
        return [
            file.finding(
                at: Plan.fileLinesMax,
                "\(file.lines.count) lines, at most \(Plan.fileLinesMax)",
                remedy: "give a second face its own file, Type+Aspect.swift")
        ]
    }

    /// Returns a finding for each function that is too long.
    static func functionFindings(in file: SourceFile) -> [Finding] {
        file.functions.filter { $0.lines.count > Plan.functionLinesMax }.map { function in
            file.finding(
                at: function.lines.lowerBound,
                "\(function.name) takes \(function.lines.count) lines, at most "
                    + "\(Plan.functionLinesMax)",
                remedy: "name its parts and let it call them")
        }
    }

    /// The number of files that are too short to stand alone: they declare no type that other
    /// targets see, no program and no command of a program.
    static func shortFileFigures(in files: [ParsedFile]) -> [Figure] {
        let short = files.filter { parsed in
            parsed.lineCount < Measure.standingLinesMin
                && !parsed.pieces.contains {
                    ($0.isVisible && $0.keyword != "typealias") || $0.isCommand
                }
        }
        guard let first = short.first?.file else { return [] }
        return [
            Figure(
                measure: .shortFiles, room: first.room, subject: "", value: short.count,
                limit: Measure.shortFiles.limit(fileCount: files.count), path: first.path,
                line: 0, detail: short.map(\.file.name).joined(separator: ", "))
        ]
    }

    @Test("a file of less than thirty lines declares a type for other targets, or a command")
    func shortFiles() {
        expectNone(Figure.findings(Survey.current.figures(Self.shortFileFigures)))
    }

    @Test("no file is longer than the limit")
    func files() { expectNone(Repository.current.files.flatMap(Self.fileFindings)) }

    @Test("no function is longer than the limit")
    func functions() { expectNone(Repository.current.files.flatMap(Self.functionFindings)) }

    @Test("a file one line too long is found, a file at the limit is not")
    func plantedFile() {
        let whole = String(repeating: "\n", count: Plan.fileLinesMax - 1)
        #expect(Self.fileFindings(in: SourceFile(path: "a.swift", text: whole)).isEmpty)
        #expect(Self.fileFindings(in: SourceFile(path: "a.swift", text: whole + "\n")).count == 1)
    }

    @Test(
        "a short file is found, unless it declares a type for other targets, a program or a command"
    )
    func plantedShortFile() {
        let texts = [
            "struct A {}\n", "public struct B {}\npackage struct H {}\n", "@main struct C {}\n",
            "struct D: AsyncParsableCommand {}\n", "extension A {}\npublic typealias E = A\n",
            "extension A {\n\(String(repeating: "    // F\n", count: 27))}\n",
            "extension A {\n\(String(repeating: "    // G\n", count: 28))}\n",
        ]
        let files = texts.enumerated().map { number, text in
            FileParser.parse(SourceFile(path: "Sources/ReactorWire/F\(number).swift", text: text))
        }
        let found = Figure.findings(Self.shortFileFigures(in: files))
        #expect(found.count == 1)
        #expect(found.first?.what.hasSuffix(": F0, F4, F5") == true)
    }

    @Test("a function one line too long is found, whatever code is around it")
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
        // Five more lines: the function's head and its brace.
        let most = Plan.functionLinesMax - 5
        let fits = SourceFile(path: "a.swift", text: text(most))
        #expect(Self.functionFindings(in: fits).isEmpty)
        #expect(fits.functions.map(\.name) == ["outer", "after"])
        let long = Self.functionFindings(in: SourceFile(path: "a.swift", text: text(most + 1)))
        #expect(long.map(\.line) == [6])
    }
}
