import Testing

/// A violation of a rule, with its place.
struct Finding: Equatable, CustomStringConvertible {
    /// Path from the top of the repository.
    let path: String
    /// Line, counted from 1.
    let line: Int
    /// The violation, in a sentence.
    let what: String
    /// The remedy.
    let remedy: String

    var description: String { "\(path):\(line): \(what); \(remedy)" }
}

/// Records one issue for each finding, at its place in the repository.
func expectNone(_ findings: [Finding]) {
    for finding in findings {
        let place = SourceLocation(
            fileID: "tree/\(finding.path)", filePath: "\(Repository.root)/\(finding.path)",
            line: finding.line, column: 1)
        Issue.record("\(finding)", sourceLocation: place)
    }
}
