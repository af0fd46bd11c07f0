import Testing

/// A type with identity has few stored properties, and only the type itself sets them.
///
/// The rule is for classes, actors and noncopyable structs. A copyable struct is a value: a change
/// of one copy does not change another. A property counts as closed if it is `private`,
/// `private(set)` or the same with `fileprivate`, a constant, a callback that an owner sets, or
/// `@usableFromInline`, since an inlined function cannot use private declarations.
struct StateTests {
    /// The numbers of stored properties, and of open ones, of each such type.
    static func figures(in files: [ParsedFile]) -> [Figure] {
        files.flatMap { parsed in
            parsed.pieces.filter { piece in
                ["class", "actor"].contains(piece.keyword) || piece.isNoncopyable
            }
            .flatMap { piece -> [Figure] in
                let open = piece.stored.filter(\.isOpen)
                func figure(_ measure: Measure, _ counted: [ParsedFile.Stored]) -> Figure {
                    Figure(
                        measure: measure, room: parsed.file.room, subject: piece.name,
                        value: counted.count, limit: measure.limit(fileCount: files.count),
                        path: parsed.file.path, line: piece.line,
                        detail: counted.map(\.name).joined(separator: ", "))
                }
                let isExcused = OpenState.reasons["\(parsed.file.room)/\(piece.name)"] != nil
                return [figure(.storedProperties, piece.stored)]
                    + (isExcused ? [] : [figure(.openProperties, open)])
            }
        }
    }

    @Test("a class has at most fifteen stored properties, and only the class can set them")
    func tree() {
        expectNone(Figure.findings(Survey.current.figures(Self.figures)))
    }

    @Test("at most five types may have open properties, each listed with its reason")
    func reasons() {
        #expect(OpenState.reasons.count <= OpenState.countMax)
        let open = Set(
            Survey.current.rooms.values.joined().flatMap { parsed in
                parsed.pieces.filter { $0.stored.contains(where: \.isOpen) }
                    .map { "\(parsed.file.room)/\($0.name)" }
            })
        for (type, reason) in OpenState.reasons {
            #expect(open.contains(type), "\(type) has no open property: remove its exception")
            #expect(reason.count > 20, "\(type) needs a reason")
        }
    }

    @Test("open and too many properties are found in classes, actors and noncopyable structs")
    func planted() {
        func findings(_ text: String) -> [String] {
            let file = SourceFile(path: "Sources/ReactorWire/F.swift", text: text)
            return Figure.findings(Self.figures(in: [FileParser.parse(file)]))
                .map { "\($0.line) \($0.what)" }
        }
        let members = """
            let a = 0
            private var b = 0
            public private(set) var c = 0
            fileprivate lazy var d = { 0 }()
            @usableFromInline var e = 0
            var onEnd: (@Sendable (Int) -> Void)?
            var computed: Int { 0 }
            var accessed: Int { get { 0 } set {} }
            static var shared = 0
            """
        let places = [
            "final class A", "actor A", "struct A: ~Copyable", "extension B { class A",
        ]
        for place in places {
            #expect(findings("\(place) {\n\(members)\n}").isEmpty)
            let wide = (0..<16).map { "let x\($0) = 0" }.joined(separator: "\n")
            #expect(findings("\(place) {\n\(wide)\n}").count == 1)
        }
        #expect(
            findings("\n@Sheltered final class A {\nvar f = 0\nvar g: Int { didSet {} }\n}") == [
                "2 openProperties 2 of A of ReactorWire is above the limit of 0: f, g"
            ])
        #expect(findings("struct A { var f = 0 }\nprivate class B { var f = 0 }").isEmpty)
        #expect(findings("struct A { class B { var f = 0 } }").count == 1)
    }
}
