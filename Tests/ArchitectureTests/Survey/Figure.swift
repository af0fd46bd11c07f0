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

    /// Findings for the values above their limits.
    static func findings(_ figures: [Figure]) -> [Finding] {
        figures.filter { $0.value > $0.limit }.map(\.finding)
    }

    private var finding: Finding {
        let name = subject.isEmpty ? room : "\(subject) of \(room)"
        return Finding(
            path: path, line: line + 1,
            what: "\(measure.rawValue) \(value) of \(name) is above the limit of \(limit): "
                + detail,
            remedy: measure.remedy)
    }
}
