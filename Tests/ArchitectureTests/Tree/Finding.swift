import Testing

/// A place where the tree breaks one of its rules.
struct Finding: Equatable, CustomStringConvertible {
    /// Path from the top of the repository.
    let path: String
    /// Line, counted from 1.
    let line: Int
    /// What is wrong, in a sentence.
    let what: String
    /// What to do about it.
    let remedy: String

    var description: String { "\(path):\(line): \(what); \(remedy)" }
}

/// Records one issue for each finding, at the place in the tree where it was found.
func expectNone(_ findings: [Finding]) {
    for finding in findings {
        let place = SourceLocation(
            fileID: "tree/\(finding.path)", filePath: "\(Repository.root)/\(finding.path)",
            line: finding.line, column: 1)
        Issue.record("\(finding)", sourceLocation: place)
    }
}
