/// The tables of a survey, as text.
struct SurveyReport {
    private let survey: Survey
    private let manifest: Manifest
    private let rowLinesMin: Int

    /// Prepares the tables; types of fewer lines than `rowLinesMin` are left out.
    init(_ survey: Survey, _ manifest: Manifest, rowLinesMin: Int = 100) {
        self.survey = survey
        self.manifest = manifest
        self.rowLinesMin = rowLinesMin
    }

    /// The types with their stored properties, functions, files and lines, longest first.
    var types: String {
        var rows: [Row] = []
        for (room, files) in survey.rooms {
            var types: [String: Row] = [:]
            for parsed in files {
                for piece in parsed.pieces where piece.keyword != "typealias" && !piece.isPrivate {
                    types[piece.name, default: Row(room: room, name: piece.name)]
                        .add(piece, path: parsed.file.path)
                }
            }
            rows += types.values.filter { $0.isOwn && $0.lineCount >= rowLinesMin }
        }
        rows.sort { ($1.lineCount, $0.room, $0.name) < ($0.lineCount, $1.room, $1.name) }
        let head = ["room", "type", "stored", "closed", "functions", "files", "lines"]
        return Self.table("Types of \(rowLinesMin) lines or more", head, rows.map(\.cells))
    }

    /// The files and folders of each target that are in a cycle.
    var cycles: String {
        let rows = survey.rooms.sorted { $0.key < $1.key }.map { room, files -> [String] in
            let graph = MentionGraph(files)
            let folders = graph.folders
            let count = graph.cycles.map(\.count).reduce(0, +)
            let largest = graph.cycles.first?.count ?? 0
            let circles = folders.cycles.map { cycle in
                cycle.map { folders.nodes[$0] }.joined(separator: ", ")
            }
            return [
                room, "\(count)", "\(files.count)", "\(100 * count / files.count) %",
                "\(largest)", circles.isEmpty ? "none" : circles.joined(separator: "; "),
            ]
        }
        return Self.table(
            "Circles", ["room", "files in one", "files", "share", "largest", "folders"], rows)
    }

    /// The number of public declarations of each library; in brackets, the number that includes the
    /// modules that it re-exports.
    var products: String {
        let counts = survey.rooms.mapValues { $0.map(\.publicCount).reduce(0, +) }
        let programs = Set(manifest.targets.filter { $0.kind != "target" }.map(\.name))
        let rows = counts.filter { !programs.contains($0.key) }.sorted { $0.key < $1.key }
        let sum = rows.map(\.value).reduce(0, +)
        let cells = rows.map { room, count in
            let shown = survey.rooms[room, default: []].flatMap(\.reexports)
            let total = shown.compactMap { counts[$0] }.reduce(count, +)
            return [room, "\(count)", shown.isEmpty ? "" : "\(total)"]
        }
        return Self.table(
            "Public declarations", ["room", "public", "with re-exports"],
            cells + [["all", "\(sum)", ""]])
    }

    /// The figures that are within a tenth of their limits, or above them.
    var close: String {
        let rows = survey.allFigures.filter { $0.limit > 0 && 10 * $0.value > 9 * $0.limit }.map {
            [$0.measure.rawValue, $0.room, $0.subject, "\($0.value)", "\($0.limit)"]
        }
        return Self.table(
            "Figures close to their limits", ["measure", "room", "subject", "value", "limit"], rows)
    }

    /// A type's numbers.
    private struct Row {
        let room: String
        let name: String
        var isOwn = false
        var storedCount = 0
        var closedCount = 0
        var functionCount = 0
        var lineCount = 0
        var paths: Set<String> = []

        mutating func add(_ piece: ParsedFile.Piece, path: String) {
            isOwn = isOwn || !piece.isExtension
            storedCount += piece.stored.count
            closedCount += piece.stored.count { !$0.isOpen }
            functionCount += piece.functions.count
            lineCount += piece.lineCount
            paths.insert(path)
        }

        var cells: [String] {
            [
                room, name, "\(storedCount)", "\(closedCount)", "\(functionCount)",
                "\(paths.count)", "\(lineCount)",
            ]
        }
    }

    private static func table(_ title: String, _ head: [String], _ rows: [[String]]) -> String {
        let widths = head.indices.map { column in
            ([head] + rows).map { $0[column].count }.max() ?? 0
        }
        let lines = ([head] + rows).map { cells in
            zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: "  ")
        }
        return "\(title)\n\n" + lines.joined(separator: "\n") + "\n"
    }
}
