import Testing

/// A function name has one meaning in a target, as far as a test can count meanings.
///
/// Two declarations of a name count as one meaning if they are members of one type, as overloads
/// are, or have the same argument labels, as forwarders and conformances have. A name whose
/// declarations form more than four groups has too many meanings. The glossary lists the verbs that
/// have one meaning in all targets.
struct MeaningTests {
    /// The number of meanings of each function name that has more than one.
    static func figures(in files: [ParsedFile]) -> [Figure] {
        var forms: [String: [Form]] = [:]
        for parsed in files {
            for piece in parsed.pieces {
                for function in piece.functions where !function.isSpecial {
                    forms[function.name, default: []].append(
                        Form(
                            type: piece.name, labels: function.labels, file: parsed.file,
                            line: function.line))
                }
            }
        }
        return forms.sorted { $0.key < $1.key }.compactMap { name, forms in
            let groups = groups(forms)
            guard groups.count > 1 else { return nil }
            let first = groups[0][0]
            let detail = groups.map { "\($0[0].type).\(name)(\($0[0].labels))" }
            return Figure(
                measure: .meanings, room: first.file.room, subject: name, value: groups.count,
                limit: Measure.meanings.limit(fileCount: files.count), path: first.file.path,
                line: first.line, detail: detail.joined(separator: ", "))
        }
    }

    /// A declaration of a function.
    private struct Form {
        let type: String
        let labels: String
        let file: SourceFile
        let line: Int
    }

    /// Forms that share a type or labels, directly or through others.
    private static func groups(_ forms: [Form]) -> [[Form]] {
        var groups: [[Form]] = []
        for form in forms {
            var joined = [form]
            groups.removeAll { group in
                guard group.contains(where: { $0.type == form.type || $0.labels == form.labels })
                else { return false }
                joined = group + joined
                return true
            }
            groups.append(joined)
        }
        return groups.sorted {
            ($0[0].file.path, $0[0].line) < ($1[0].file.path, $1[0].line)
        }
    }

    @Test("a function name has at most four meanings in a target")
    func tree() {
        expectNone(Figure.findings(Survey.current.figures(Self.figures)))
    }

    @Test("a name with five meanings is found; overloads and forwarders are one meaning")
    func planted() {
        func findings(_ members: [String]) -> [Finding] {
            let text = members.enumerated().map { number, member in
                "struct T\(number) {\n\(member)\n}\n"
            }
            let file = SourceFile(path: "Sources/ReactorWire/F.swift", text: text.joined())
            return Figure.findings(Self.figures(in: [FileParser.parse(file)]))
        }
        let four = ["a", "b", "c", "d"].map { "func note(\($0): Int) {}" }
        #expect(findings(four).isEmpty)
        #expect(findings(four + ["func note(a: Int) {}\nfunc note(e: Int) {}"]).isEmpty)
        #expect(findings(four + ["override func note() {}"]).isEmpty)
        #expect(findings(four + ["func run() { func note() {} }"]).isEmpty)
        #expect(findings(four + ["init(e: Int) {}"]).isEmpty)
        let found = findings(four + ["static func note(_ e: Int) {}"])
        #expect(found.map(\.line) == [2])
        #expect(found.first?.what.contains("T0.note(a:), T1.note(b:)") == true)
    }
}
