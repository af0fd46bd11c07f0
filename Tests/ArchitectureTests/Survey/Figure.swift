/// A measured value, with the place it was measured at.
struct Figure: Sendable {
    let measure: Measure
    let room: String
    /// The type, the function, the file or the folders; empty for the target itself.
    let subject: String
    let value: Int
    let limit: Int
    /// Where a reader finds it.
    let path: String
    /// Line, counted from 0.
    let line: Int
    /// What makes up the value.
    let detail: String

    /// Findings for the values above their limits that `table` does not hold, or holds with
    /// another value, and for entries of the table that are not needed.
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

    /// What an entry of the table has in common with the figure it is for.
    var key: String { NotYet.key(measure, room, subject) }

    private func finding(_ what: String, remedy: String) -> Finding {
        let name = subject.isEmpty ? room : "\(subject) of \(room)"
        return Finding(
            path: path, line: line + 1,
            what: "\(measure.rawValue) \(value) of \(name) \(what): \(detail)", remedy: remedy)
    }

    private static let place = "Tests/ArchitectureTests/Plan/NotYet.swift"
}
