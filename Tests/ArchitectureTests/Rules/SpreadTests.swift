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

    @Test("a type is declared and extended in at most three files of a target")
    func tree() {
        expectNone(
            Figure.findings(
                Survey.current.figures(Self.figures), [.filesOfType], notYet: NotYet.table))
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
        let found = Figure.findings(
            Self.figures(in: files), [.filesOfType], notYet: [])
        #expect(
            found.map(\.description) == [
                "Sources/ReactorWire/F3.swift:2: filesOfType 4 of Array of ReactorWire is above "
                    + "the limit of 3: F3, F4, F5, F6; " + Measure.filesOfType.remedy,
                "Sources/ReactorWire/F0.swift:1: filesOfType 4 of Own of ReactorWire is above "
                    + "the limit of 3: F0, F1, F3, F4; " + Measure.filesOfType.remedy,
            ])
    }
}
