import Testing

/// Every type with behaviour has tests.
///
/// A type has behaviour if its code, with its extensions and nested types, chooses at ten places or
/// more. It has tests if a file in the test folders of its target, or of the tests of the whole
/// package, is named after it or names it: in code, or in double backquotes in the comment of a
/// suite that drives it through another type. The types of a program need no tests of their own
/// where tests start the program.
struct SubjectTests {
    /// The names in the files of one test folder.
    struct Names {
        /// All identifiers, and the types that files are named after.
        var words: Set<Substring> = []
        /// The names in double backquotes, each with its place, the line counted from 0.
        var links: [(name: String, file: SourceFile, line: Int)] = []
        /// The contents of string literals of one word, such as the names of programs.
        var strings: Set<Substring> = []
    }

    /// The names in test files, by folder.
    static func names(in tests: [SourceFile]) -> [String: Names] {
        var found: [String: Names] = [:]
        let link = /``([A-Z]\w*)``/
        for file in tests {
            var names = found.removeValue(forKey: file.room) ?? Names()
            names.words.insert(file.subject.dropLast(file.subject.hasSuffix("Tests") ? 5 : 0))
            for (line, code) in file.code.enumerated() {
                names.words.formUnion(
                    code.split { !($0.isLetter || $0.isNumber || $0 == "_") })
                if code.contains("\"") {
                    names.strings.formUnion(file.lines[line].split(separator: "\""))
                }
                guard file.comments[line].contains("``") else { continue }
                for match in file.comments[line].matches(of: link) {
                    names.links.append((String(match.1), file, line))
                }
            }
            found[file.room] = names
        }
        return found
    }

    /// A figure for each type of a target that has behaviour and no tests.
    static func figures(
        in files: [ParsedFile], named names: [String: Names],
        programs: Set<String> = Self.programs
    ) -> [Figure] {
        guard let room = files.first?.file.room else { return [] }
        let folders = Plan.houseTests.union(Plan.room(room)?.tests ?? ["\(room)Tests"])
        let suites = folders.sorted().compactMap { names[$0] }
        if programs.contains(room), suites.contains(where: { $0.strings.contains(room[...]) }) {
            return []
        }
        let tested = suites.reduce(into: Set<String>()) { tested, names in
            tested.formUnion(names.words.map(String.init))
            tested.formUnion(names.links.map(\.name))
        }
        return subjects(files).filter { !tested.contains($0.name) }.map { subject in
            Figure(
                measure: .untestedTypes, room: room, subject: subject.name, value: 1,
                limit: Measure.untestedTypes.limit(fileCount: files.count),
                path: subject.file.path, line: subject.line,
                detail: "\(subject.branchCount) choices in its code")
        }
    }

    /// A type with behaviour.
    private struct Subject {
        let name: String
        let file: SourceFile
        let line: Int
        var branchCount = 0
    }

    /// The types of a target that have behaviour, by name. A nested type is a part of the
    /// outermost one.
    private static func subjects(_ files: [ParsedFile]) -> [Subject] {
        var subjects: [String: Subject] = [:]
        for parsed in files {
            for piece in parsed.pieces
            where !piece.isExtension && !piece.isPrivate && !piece.name.contains(".") {
                subjects[piece.name] = Subject(
                    name: piece.name, file: parsed.file, line: piece.line)
            }
        }
        for piece in files.flatMap(\.pieces) {
            let outermost = piece.name.prefix { $0 != "." }
            subjects[String(outermost)]?.branchCount += piece.branchCount
        }
        return subjects.values.filter { $0.branchCount >= Measure.behaviourBranchesMin }
            .sorted { $0.name < $1.name }
    }

    /// The targets that are programs.
    private static let programs = Set(
        Manifest(Repository.text(at: "Package.swift")).targets
            .filter { $0.kind == "executableTarget" }.map(\.name))

    /// Names in double backquotes in tests that are no types of any target.
    static func staleLinks(
        in names: [String: Names], types: Set<String>
    ) -> [Finding] {
        names.sorted { $0.key < $1.key }.flatMap { $0.value.links }
            .filter { !types.contains($0.name) }.map { link in
                link.file.finding(
                    at: link.line, "\(link.name) is no type",
                    remedy: "name the type that the suite drives now")
            }
    }

    private static let tests = names(in: Repository.current.files(in: "Tests"))

    @Test("every type with behaviour is named by a test of its target")
    func tree() {
        expectNone(
            Figure.findings(Survey.current.figures { Self.figures(in: $0, named: Self.tests) }))
    }

    @Test("every type that a comment of a test names in double backquotes exists")
    func links() {
        let types = Survey.current.rooms.values.joined().flatMap(\.pieces).map { piece in
            String(piece.name.split(separator: ".").last ?? "")
        }
        // Comments in tests may name the tests' own types as well.
        let local = Repository.current.files(in: "Tests").flatMap(\.declarations)
            .filter { $0.kind == .type }.map(\.name)
        let links = Self.tests.filter { $0.key != "ArchitectureTests" }
        expectNone(Self.staleLinks(in: links, types: Set(types + local)))
    }

    @Test("an untested type with behaviour and a stale name are found")
    func planted() {
        func choices(_ count: Int) -> String {
            "func run() { \(String(repeating: "if a { b() }; ", count: count)) }"
        }
        let ten = Measure.behaviourBranchesMin
        let texts = [
            "struct Tested { \(choices(ten)) }", "struct Linked { \(choices(ten)) }",
            "struct Untested { \(choices(ten - 1)) }\nextension Untested.Part { \(choices(1)) }",
            "struct Plain { \(choices(ten - 1)) }", "private struct Hidden { \(choices(ten)) }",
        ]
        let files = texts.enumerated().map { number, text in
            FileParser.parse(SourceFile(path: "Sources/ReactorWire/F\(number).swift", text: text))
        }
        let tests = [
            SourceFile(
                path: "Tests/ReactorWireTests/ATests.swift",
                text: "/// Drives ``Linked`` and ``Gone``.\nlet a = Tested()\n// Untested\n"),
            SourceFile(path: "Tests/ReactorWireTests/NamedTests.swift", text: ""),
            SourceFile(path: "Tests/ReactorCoreTests/ATests.swift", text: "let a = Untested()\n"),
        ]
        let names = Self.names(in: tests)
        let found = Figure.findings(Self.figures(in: files, named: names, programs: []))
        #expect(found.map(\.path) == ["Sources/ReactorWire/F2.swift"])
        let stale = Self.staleLinks(in: names, types: ["Linked"])
        #expect(stale.map { "\($0.line) \($0.what)" } == ["1 Gone is no type"])
        let started = SourceFile(
            path: "Tests/ReactorWireTests/BTests.swift",
            text: "try Built.product(\"ReactorWire\")\n")
        #expect(
            Self.figures(
                in: files, named: Self.names(in: [started]), programs: ["ReactorWire"]
            ).isEmpty)
        #expect(
            Self.figures(in: files, named: names, programs: ["ReactorWire"]).map(\.subject)
                == ["Untested"])
    }
}
