import Foundation
import TestPrograms
import Testing

/// Compiles the sources in `Mistakes`, in which comments state the expected errors:
///
///     var due: Date  // expect: import ReactorFoundation
///
/// A line may have several errors, whose texts are separated by `||`.
@Suite("Mistakes in an author's source")
struct MistakesTests {
    /// An error of the compiler, or the text that one has to have.
    struct Mistake: Hashable, CustomStringConvertible {
        var file: String
        var line: Int
        var text: String

        var description: String { "\(file):\(line): \(text)" }
    }

    private static let folder = Built.root + "Tests/ReactorMacrosTests/Mistakes"

    private static var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                .map { "\(folder)/\($0)" }
        }
    }

    /// The texts in the comments of a file.
    static func expected(in text: String, file: String) -> [Mistake] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
            index, line -> [Mistake] in
            guard let mark = line.firstRange(of: "// expect: ") else { return [] }
            return line[mark.upperBound...].split(separator: "||").map { text in
                Mistake(
                    file: file, line: index + 1,
                    text: text.trimmingCharacters(in: .whitespaces))
            }
        }
    }

    /// The errors in the compiler's output; those in generated code have its name as their file.
    static func errors(in output: String) -> [Mistake] {
        output.split(separator: "\n").compactMap { line in
            guard let match = line.wholeMatch(of: /([^ ].*?):(\d+):\d+: (?:fatal )?error: (.*)/)
            else {
                return line.hasPrefix("error:") || line.hasPrefix("<unknown>")
                    ? Mistake(file: "", line: 0, text: String(line)) : nil
            }
            return Mistake(
                file: String(match.1), line: Int(match.2) ?? 0, text: String(match.3))
        }
    }

    /// What was not reported, or was reported without being expected: each error matches one text.
    static func difference(_ errors: [Mistake], _ expected: [Mistake]) -> [String] {
        var unexpected = errors
        let unreported = expected.filter { mistake in
            let index = unexpected.firstIndex { error in
                (error.file, error.line) == (mistake.file, mistake.line)
                    && error.text.contains(mistake.text)
            }
            if let index { unexpected.remove(at: index) }
            return index == nil
        }
        return unreported.map { "not reported: \($0)" } + unexpected.map { "not expected: \($0)" }
    }

    private func compile(
        _ files: [String]
    ) async throws -> (ChildProcess, ChildProcess.Ending) {
        let home = TestDirectory()
        let products = URL(filePath: Built.product("")).path()
        let modules = try FileManager.default.subpathsOfDirectory(atPath: "\(Built.root)Sources")
            .filter { $0.hasSuffix("/module.modulemap") }
            .flatMap { ["-Xcc", "-fmodule-map-file=\(Built.root)Sources/\($0)"] }
        let compiler = try ChildProcess(
            "/usr/bin/env",
            [
                "swiftc", "-typecheck", "-continue-building-after-errors", "-parse-as-library",
                "-swift-version", "6",
                "-package-name", "author", "-module-name", "Author", "-diagnostic-style", "llvm",
                "-I", "\(products)Modules", "-load-plugin-executable",
                "\(products)ReactorMacros-tool#ReactorMacros",
            ] + modules + files, in: home, name: "compiler")
        let ending = await compiler.ended()
        return (compiler, ending)
    }

    @Test("each mistake is reported once, at its line, with the remedy, and none in generated code")
    func mistakes() async throws {
        let files = try Self.files
        let (compiler, ending) = try await compile(files)
        let errors = Self.errors(in: compiler.errors)
        let expected = try files.flatMap { file in
            Self.expected(in: try String(contentsOfFile: file, encoding: .utf8), file: file)
        }
        #expect(!expected.isEmpty)
        #expect(Self.difference(errors, expected) == [])
        #expect(ending == .exited(1))
    }

    @Test("an error matches one text, and a second error at its line is reported")
    func matching() {
        let one = Mistake(file: "a.swift", line: 1, text: "type 'A' is one")
        let text = Mistake(file: "a.swift", line: 1, text: "is one")
        #expect(Self.difference([one], [text]) == [])
        #expect(Self.difference([one, one], [text]) == ["not expected: \(one)"])
        #expect(Self.difference([], [text]) == ["not reported: \(text)"])
        let below = Mistake(file: "a.swift", line: 2, text: "type 'A' is one")
        #expect(Self.difference([below], [text]).count == 2)
    }

    @Test("the texts of comments and of the compiler are read")
    func reading() {
        let source = "var a: A  // expect: one || two\nvar b: B\n"
        #expect(
            Self.expected(in: source, file: "a.swift").map(\.description)
                == ["a.swift:1: one", "a.swift:1: two"])
        let output = """
            /x/a.swift:1:8: error: type 'A' is one
            /x/a.swift:1:8: note: here
            macro expansion @WireCodable:3:7: error: no member 'x'
            """
        #expect(
            Self.errors(in: output).map(\.description)
                == [
                    "/x/a.swift:1: type 'A' is one",
                    "macro expansion @WireCodable:3: no member 'x'",
                ]
        )
    }
}
