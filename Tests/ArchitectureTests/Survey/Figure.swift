/// A measured value, with its place in the sources.
struct Figure: Sendable {
    let measure: Measure
    let room: String
    /// The type, the function, the file or the folders; empty for the target itself.
    let subject: String
    let value: Int
    let limit: Int
    /// The path of the file.
    let path: String
    /// Line, counted from 0.
    let line: Int
    /// The items that the value counts.
    let detail: String

    /// Findings for values above their limits without an entry in `table`, or with an entry of
    /// another value, and for entries that are not needed.
    static func findings(
        _ figures: [Figure], _ measures: Set<Measure>, notYet table: [NotYet]
    ) -> [Finding] {
        var entries: [String: Int] = [:]
        for entry in table where measures.contains(entry.measure) {
            entries[entry.key] = entry.value
        }
        var findings: [Finding] = []
        for figure in figures where figure.value > figure.limit {
            let ceiling = entries.removeValue(forKey: figure.key)
            guard ceiling != figure.value else { continue }
            if let ceiling, figure.value < ceiling {
                findings.append(
                    figure.finding("is below its entry of \(ceiling)", remedy: "correct \(place)"))
            } else {
                let bound = ceiling.map { "its entry of \($0)" } ?? "the limit of \(figure.limit)"
                findings.append(
                    figure.finding("is above \(bound)", remedy: figure.measure.remedy))
            }
        }
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            findings.append(
                Finding(
                    path: place, line: 1,
                    what: "\(key) keeps the limit and is listed with \(value)",
                    remedy: "remove the entry"))
        }
        return findings
    }

    /// The key of a figure, which its entry in the table has too.
    var key: String { NotYet.key(measure, room, subject) }

    private func finding(_ what: String, remedy: String) -> Finding {
        let name = subject.isEmpty ? room : "\(subject) of \(room)"
        return Finding(
            path: path, line: line + 1,
            what: "\(measure.rawValue) \(value) of \(name) \(what): \(detail)", remedy: remedy)
    }

    private static let place = "Tests/ArchitectureTests/Plan/NotYet.swift"
}
