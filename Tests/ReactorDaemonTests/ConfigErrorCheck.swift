import ReactorDaemon
import Testing

/// Parses a configuration that must be refused, and returns the lines of the error.
func refusals(
    _ yaml: String, sourceLocation: SourceLocation = #_sourceLocation
) -> [String] {
    let error = #expect(throws: ConfigError.self, sourceLocation: sourceLocation) {
        try DaemonConfig(yaml: yaml, file: "r.yaml")
    }
    return error.map { $0.problems.map(\.description) } ?? []
}

/// A minimal tree for a configuration.
let oneReactor = "reactors: { visits: { kind: counter } }\n"
