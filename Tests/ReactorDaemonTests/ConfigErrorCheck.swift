import ReactorDaemon
import Testing

/// Reads a configuration that must be refused, and gives the lines of the error.
func refusals(
    _ yaml: String, sourceLocation: SourceLocation = #_sourceLocation
) -> [String] {
    let error = #expect(throws: ConfigError.self, sourceLocation: sourceLocation) {
        try DaemonConfig(yaml: yaml, file: "r.yaml")
    }
    return error.map { $0.problems.map(\.description) } ?? []
}

/// A tree that makes a configuration complete.
let oneReactor = "reactors: { visits: { kind: counter } }\n"
