import Testing

/// A type is in few files, so that its state can be private to them.
struct SpreadTests {
    /// For each type that the files of a target declare or extend, the number of those files.
    ///
    /// An extension of a type of another module counts too: a target extends `String` in one file.
    static func figures(in files: [ParsedFile]) -> [Figure] {
        var places: [String: [(file: SourceFile, line: Int)]] = [:]
        for parsed in files {
            // Types that only this file sees are not spread, whatever their name is elsewhere.
            let pieces = parsed.pieces.filter {
                $0.keyword != "typealias" && !$0.name.isEmpty && ($0.isExtension || !$0.isPrivate)
            }
            for (name, pieces) in Dictionary(grouping: pieces, by: \.name) {
                let first = pieces.first { !$0.isExtension } ?? pieces[0]
                // The declaration is the place that a finding names.
                let place = (parsed.file, first.line)
                if first.isExtension {
                    places[name, default: []].append(place)
                } else {
                    places[name, default: []].insert(place, at: 0)
                }
            }
        }
        return places.sorted { $0.key < $1.key }.map { name, places in
            Figure(
                measure: .filesOfType, room: places[0].file.room, subject: name,
                value: places.count, limit: Measure.filesOfType.limit(fileCount: files.count),
                path: places[0].file.path, line: places[0].line,
                detail: places.map(\.file.name).joined(separator: ", "))
        }
    }

    /// For each type that the files of a target declare, the number of extensions that only add
    /// members.
    ///
    /// An extension for a conformance does not count, since each conformance stands alone by
    /// custom, and neither does one with a condition, which cannot join another.
    static func blockFigures(in files: [ParsedFile]) -> [Figure] {
        var blocks: [String: [ParsedFile]] = [:]
        for parsed in files {
            for piece in parsed.pieces where piece.isExtension && !piece.isConditional {
                blocks[piece.name, default: []].append(parsed)
            }
        }
        return files.flatMap { parsed in
            parsed.pieces.filter { !$0.isExtension && !$0.isPrivate }.compactMap { piece in
                guard let found = blocks.removeValue(forKey: piece.name) else { return nil }
                return Figure(
                    measure: .blocksOfType, room: parsed.file.room, subject: piece.name,
                    value: found.count, limit: Measure.blocksOfType.limit(fileCount: files.count),
                    path: parsed.file.path, line: piece.line,
                    detail: found.map(\.file.name).joined(separator: ", "))
            }
        }
    }

    @Test("a type has at most six extensions that only add members")
    func blocks() {
        expectNone(Figure.findings(Survey.current.figures(Self.blockFigures)))
    }

    @Test("a seventh block is found; conformances, conditions and foreign types do not count")
    func plantedBlocks() {
        func findings(_ extra: String) -> [Finding] {
            let blocks = String(repeating: "extension Own { func a() {} }\n", count: 6)
            let text = "struct Own<A> {}\nextension Own: Sendable {}\n\(blocks)\(extra)\n"
            let file = SourceFile(path: "Sources/ReactorWire/F.swift", text: text)
            return Figure.findings(Self.blockFigures(in: [FileParser.parse(file)]))
        }
        #expect(findings("extension Own: Hashable { func b() {} }").isEmpty)
        #expect(findings("extension Own where A == Int { func b() {} }").isEmpty)
        #expect(findings(String(repeating: "extension Int { }\n", count: 7)).isEmpty)
        #expect(findings("extension Own { func b() {} }").map(\.line) == [1])
    }

    @Test("a type is declared and extended in at most three files of a target")
    func tree() {
        expectNone(Figure.findings(Survey.current.figures(Self.figures)))
    }

    @Test("a type in four files is found, its own or a foreign one, and a type in three is not")
    func planted() {
        let texts = [
            "struct Own {}\nextension Own {}", "extension Own {}", "extension Own.Part {}",
            "extension Own {}\nextension Array {}", "\n\nextension Own {}\nextension Array {}",
            "extension Array {}", "extension [Int] {}\nextension Array where Element == Int {}",
        ]
        let files = texts.enumerated().map { number, text in
            FileParser.parse(SourceFile(path: "Sources/ReactorWire/F\(number).swift", text: text))
        }
        let found = Figure.findings(Self.figures(in: files))
        #expect(
            found.map(\.description) == [
                "Sources/ReactorWire/F3.swift:2: filesOfType 4 of Array of ReactorWire is above "
                    + "the limit of 3: F3, F4, F5, F6; " + Measure.filesOfType.remedy,
                "Sources/ReactorWire/F0.swift:1: filesOfType 4 of Own of ReactorWire is above "
                    + "the limit of 3: F0, F1, F3, F4; " + Measure.filesOfType.remedy,
            ])
    }
}
