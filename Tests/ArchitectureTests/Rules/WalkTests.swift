import Testing

/// The files and types in the tables of the page on the architecture.
struct WalkTests {
    /// The page.
    static let page =
        "Sources/ReactorDaemon/ReactorDaemon.docc/Architecture" + Document.suffix

    /// A cell of the page that names a file, with the cell that names its type.
    struct Step {
        let room: String
        let file: String
        let type: String
        let line: Int
    }

    /// The steps in the page's tables: `| … | ``Room/File.swift`` | ``Type`` | … |`, in single
    /// quotes. Folders inside the room are left out, so that files may move there.
    static func steps(of page: Document) -> [Step] {
        let row = #/\| `(\w+)/([\w+]+\.swift)` \| `(\w+)` \|/#
        return page.prose.compactMap { line in
            guard let found = line.text.firstMatch(of: row) else { return nil }
            return Step(
                room: String(found.1), file: String(found.2), type: String(found.3),
                line: line.number)
        }
    }

    /// Rows that name a missing file, or a type that the file neither declares nor extends.
    static func findings(in page: Document, sources: [SourceFile]) -> [Finding] {
        steps(of: page).compactMap { step in
            let files = sources.filter {
                $0.room == step.room && $0.path.hasSuffix("/" + step.file)
            }
            guard let file = files.first, files.count == 1 else {
                return page.finding(
                    at: step.line, "\(step.room) has \(files.count) files \(step.file)",
                    remedy: "name the file that does this step now")
            }
            let keywords = ["class", "struct", "enum", "protocol", "actor", "extension"]
            let holds = file.code.contains { line in
                let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
                return zip(words, words.dropFirst()).contains {
                    keywords.contains(String($0)) && $1 == step.type
                }
            }
            guard !holds else { return nil }
            return page.finding(
                at: step.line, "\(file.path) does not hold \(step.type)",
                remedy: "name the type that does this step now")
        }
    }

    @Test("every file on the page exists once, and contains the type beside it")
    func tree() {
        let page = Document(path: Self.page, text: Repository.text(at: Self.page))
        #expect(Self.steps(of: page).count > 30)
        expectNone(Self.findings(in: page, sources: Repository.current.files(in: "Sources")))
    }

    @Test("a missing file and a moved type are found")
    func planted() {
        let page = Document(
            path: "P",
            text: """
                | 1 | `ReactorWire/Frame.swift` | `Frame` | one |
                | 2 | `ReactorWire/Gone.swift` | `Frame` | two |
                | 3 | `ReactorWire/Frame.swift` | `Header` | three |
                | 4 | `ReactorCore/Frame.swift` | `Frame` | four |
                """)
        let file = SourceFile(
            path: "Sources/ReactorWire/Frames/Frame.swift",
            text: "public extension Frame {\n    // struct Header\n}\n")
        #expect(Self.findings(in: page, sources: [file]).map(\.line) == [2, 3, 4])
    }
}
