import Testing

/// Names describe their types, and limits are documented.
struct NameTests {
    /// Types of `file` with the name of their module or a hollow name.
    static func typeFindings(in file: SourceFile) -> [Finding] {
        file.declarations.filter { $0.kind == .type }.compactMap { type in
            if type.name == file.room {
                return file.finding(
                    at: type.line, "the type \(type.name) hides its module",
                    remedy: "rename it, because nothing in the module can be named in full any more"
                )
            }
            guard HollowNames.suffixes.contains(where: type.name.hasSuffix) else { return nil }
            return file.finding(
                at: type.line, "\(type.name) does not say what it is",
                remedy: "name it after the noun it stands for")
        }
    }

    /// Types and functions of `file` with a metaphor for a name, or a name that is taken.
    static func foreignFindings(in file: SourceFile) -> [Finding] {
        file.declarations.compactMap { declaration in
            let words = words(of: declaration.name)
            let isForeign =
                switch declaration.kind {
                case .type:
                    ForeignNames.taken.contains(declaration.name)
                        || !ForeignNames.metaphors.isDisjoint(with: words)
                case .function: words.first.map(ForeignNames.verbs.contains) ?? false
                case .value, .module: false
                }
            guard isForeign else { return nil }
            return file.finding(
                at: declaration.line, "\(declaration.name) is a metaphor, or a taken name",
                remedy: "name it after its role, in the terms of the glossary")
        }
    }

    /// The words of a name: `Saga` and `Room` of `SagaRoom`.
    private static func words(of name: String) -> [String] {
        name.reduce(into: []) { words, letter in
            if letter.isUppercase || words.isEmpty {
                words.append(String(letter))
            } else {
                words[words.count - 1].append(letter)
            }
        }
    }

    /// Limits of `file` without a doc comment.
    static func limitFindings(in file: SourceFile) -> [Finding] {
        let functions = file.functions.map(\.lines)
        return file.declarations.compactMap { value in
            guard value.kind == .value, value.name.hasSuffix("Max"),
                !functions.contains(where: { $0.contains(value.line) }),
                !isDocumented(value.line, in: file)
            else { return nil }
            return file.finding(
                at: value.line, "the limit \(value.name) has no doc comment",
                remedy: "say what it bounds, in which unit, and what happens at it")
        }
    }

    private static func isDocumented(_ line: Int, in file: SourceFile) -> Bool {
        var above = line - 1
        while above >= 0, file.code[above].drop(while: { $0 == " " }).hasPrefix("@") { above -= 1 }
        guard above >= 0 else { return false }
        let comment = file.comments[above].drop { $0 == " " }
        return comment.hasPrefix("///") || comment.hasSuffix("*/")
    }

    @Test("no type has the name of its module or a hollow name")
    func types() { expectNone(Repository.current.files(in: "Sources").flatMap(Self.typeFindings)) }

    @Test("no name is a metaphor, or taken")
    func foreign() {
        expectNone(Repository.current.files(in: "Sources").flatMap(Self.foreignFindings))
    }

    @Test("every limit is documented")
    func limits() {
        expectNone(Repository.current.files(in: "Sources").flatMap(Self.limitFindings))
    }

    @Test("a type named like its module, a manager and a helper are found")
    func plantedTypes() {
        let file = SourceFile(
            path: "Sources/ReactorCore/Planted.swift",
            text: """
                public final class ReactorCore {}
                @frozen public struct SessionManager {}
                actor Session {}
                enum FrameHelper {
                    indirect enum Tree { case leaf }
                }
                """)
        #expect(Self.typeFindings(in: file).map(\.line) == [1, 2, 4])
    }

    @Test("a metaphor and a taken name are found; words that only look alike are not")
    func plantedForeign() {
        let file = SourceFile(
            path: "Sources/ReactorCore/Planted.swift",
            text: """
                struct SagaRoom {}
                enum Ask {}
                struct SagaContext {}
                final class Dashboard { func hasRoom() -> Bool { true } }
                struct Placement {
                    func tellPhase() {}
                    func telling() {}
                    let tally = 0
                }
                """)
        #expect(Self.foreignFindings(in: file).map(\.line) == [1, 2, 6])
    }

    @Test("an undocumented limit is found; a documented or local one is not")
    func plantedLimits() {
        let file = SourceFile(
            path: "Sources/ReactorWire/Planted.swift",
            text: """
                enum Limits {
                    /// Deepest nesting.
                    @inlinable
                    static var depthMax: Int { 64 }

                    static let frameBytesMax = 1 << 20
                    // a plain comment
                    public let sessionsMax: Int
                    func run() {
                        let countMax = 3
                    }
                }
                """)
        #expect(Self.limitFindings(in: file).map(\.line) == [6, 8])
    }
}
